"""Alerts: more kinds of notification."""

from django.db import migrations, models

_KINDS = (
    *("proposed", "quarantined", "released", "reopened", "expires_soon", "expired", "cap_reached", "order_dependent"),
    *("new_flaky", "main_broken", "main_mended", "incident", "flaky_rate", "upload_error", "no_uploads"),
)


class Migration(migrations.Migration):
    dependencies = [("quarantine", "0006_labels")]
    operations = [
        migrations.AlterField(
            "notification",
            "kind",
            models.CharField(choices=[(kind, kind.replace("_", " ").title()) for kind in _KINDS], max_length=20),
        )
    ]
