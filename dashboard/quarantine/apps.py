from django.apps import AppConfig


class QuarantineConfig(AppConfig):
    name = "dashboard.quarantine"
    label = "quarantine"
