"""Clusters by signature are quarantined as one, active quarantines want tickets, and fixes are confirmed."""

from django.db import migrations, models

_ACTIONS = (
    *("propose", "quarantine", "approve", "reject", "change", "extend", "release", "fix", "confirm", "expire"),
    "reopen",
)


class Migration(migrations.Migration):
    dependencies = [("quarantine", "0003_order_dependent")]
    operations = [
        migrations.AddField(
            "quarantine",
            "cluster_view",
            models.CharField(max_length=10, default="together", db_default="together"),
        ),
        migrations.AddField("quarantine", "wants_ticket", models.BooleanField(default=False, db_default=False)),
        migrations.AlterField(
            "quarantineevent",
            "action",
            models.CharField(choices=[(action, action) for action in _ACTIONS], max_length=10),
        ),
    ]
