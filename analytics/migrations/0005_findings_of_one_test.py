"""Findings of experiments on one test. Choices are Python's alone: the table stays as it is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analytics", "0004_split")]
    operations = [
        migrations.AlterField(
            model_name="experimentfinding",
            name="kind",
            field=models.CharField(
                choices=[
                    ("OD", "Od"),
                    ("NOD", "Nod"),
                    ("ID", "Id"),
                    ("infrastructure", "Infrastructure"),
                    ("unknown", "Unknown"),
                    ("why", "Why"),
                    ("waits", "Waits"),
                    ("verify", "Verify"),
                    ("bounds", "Bounds"),
                ],
                max_length=14,
            ),
        ),
    ]
