"""What trends are drawn from: how runs ended day by day, and since when to when tests were flaky."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0009_touched_failure"),
        ("ingest", "0026_builds"),
    ]

    operations = [
        migrations.CreateModel(
            name="FlakySpell",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("since", models.DateTimeField()),
                ("last", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
                ("again", models.BooleanField(db_default=False, default=False)),
                ("seen", models.BooleanField(db_default=True, default=True)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number", "since"), name="flaky_spell_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="TrendDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("environment", models.TextField()),
                ("branch", models.TextField()),
                ("runs", models.IntegerField()),
                ("failed", models.IntegerField()),
                ("flaky", models.IntegerField()),
                ("seconds", models.FloatField()),
                ("rerun_seconds", models.FloatField()),
                ("failures", models.JSONField(default=list)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "day", "environment", "branch"), name="trend_day_once")
                ],
            },
        ),
    ]
