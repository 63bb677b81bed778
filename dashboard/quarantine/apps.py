from django.apps import AppConfig


class QuarantineConfig(AppConfig):
    name = "dashboard.quarantine"
    label = "quarantine"

    def ready(self) -> None:
        from analytics.masks import keep_masks
        from dashboard.quarantine.masks import quarantine_masks

        keep_masks(quarantine_masks)
