from django.apps import AppConfig


class KeepingConfig(AppConfig):
    name = "dashboard.keeping"
    label = "keeping"
