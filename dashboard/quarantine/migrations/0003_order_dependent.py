"""A kind of notification more: a test that an experiment was the first to show to depend on the order."""

from django.db import migrations, models

_KINDS = (
    *("proposed", "quarantined", "released", "reopened", "expires_soon", "expired", "cap_reached"),
    "order_dependent",
)


class Migration(migrations.Migration):
    dependencies = [("quarantine", "0002_gate_run")]
    operations = [
        migrations.AlterField(
            "notification",
            "kind",
            models.CharField(choices=[(kind, kind.replace("_", " ").title()) for kind in _KINDS], max_length=20),
        )
    ]
