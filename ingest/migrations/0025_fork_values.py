"""Values of forks, apart until they are admitted."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0024_reach"),
    ]

    operations = [
        migrations.CreateModel(
            name="ForkValues",
            fields=[
                (
                    "report",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="ingest.report",
                    ),
                ),
                ("texts", models.JSONField()),
            ],
        ),
    ]
