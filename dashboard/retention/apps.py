from django.apps import AppConfig


class KeepingConfig(AppConfig):
    name = "dashboard.retention"
    label = "keeping"
