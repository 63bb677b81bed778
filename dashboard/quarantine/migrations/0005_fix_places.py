"""Where fixes are is kept, since what runs changed is not kept for ever."""

import django.utils.timezone
from django.db import migrations, models

_PLACES = [("code only", "Code"), ("tests only", "Tests"), ("both", "Both"), ("other", "Other")]


class Migration(migrations.Migration):
    dependencies = [("quarantine", "0004_groups_and_tickets")]
    operations = [
        migrations.CreateModel(
            "FixPlace",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.CharField(choices=_PLACES, max_length=10)),
                ("before", models.CharField(max_length=64)),
                ("after", models.CharField(max_length=64)),
                ("files", models.IntegerField()),
                ("found_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "event",
                    models.OneToOneField(
                        on_delete=models.deletion.CASCADE, related_name="fix_place", to="quarantine.quarantineevent"
                    ),
                ),
            ],
        ),
    ]
