"""Differences between failing and passing executions of tests."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0006_selection"),
        ("ingest", "0021_trace"),
    ]

    operations = [
        migrations.CreateModel(
            name="DifferenceFinding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("verdict", models.CharField(max_length=30)),
                ("category", models.CharField(blank=True, max_length=40)),
                ("sentence", models.TextField()),
                ("data", models.JSONField(default=dict)),
                ("newest_failing", models.BigIntegerField(default=0)),
                ("failing", models.IntegerField(default=0)),
                ("passing", models.IntegerField(default=0)),
                ("compared_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "number"), name="difference_finding_once")],
            },
        ),
    ]
