from django.apps import AppConfig


class TrustConfig(AppConfig):
    name = "dashboard.ci_trust"
    label = "trust"

    def ready(self) -> None:
        """A file of keys that cannot be read stops the start."""
        from dashboard.ci_trust.keys import static_keys

        static_keys()
