from django.apps import AppConfig


class NotifyConfig(AppConfig):
    name = "dashboard.notify"
    label = "notify"
