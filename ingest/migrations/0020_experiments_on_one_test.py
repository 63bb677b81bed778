"""Experiments on one test: why, waits, verify, bounds. Choices are Python's alone: the table stays as it is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0019_coverage")]
    operations = [
        migrations.AlterField(
            model_name="experiment",
            name="protocol",
            field=models.CharField(
                choices=[
                    ("orders", "Orders"),
                    ("reruns", "Reruns"),
                    ("changed", "Changed"),
                    ("why", "Why"),
                    ("waits", "Waits"),
                    ("verify", "Verify"),
                    ("bounds", "Bounds"),
                ],
                max_length=12,
            ),
        ),
    ]
