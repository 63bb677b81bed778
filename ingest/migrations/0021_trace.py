"""Traces of tests."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0020_experiments_on_one_test"),
    ]

    operations = [
        migrations.CreateModel(
            name="Trace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("attempt", models.IntegerField(default=1)),
                (
                    "outcome",
                    models.CharField(
                        choices=[("passed", "Passed"), ("failed", "Failed"), ("skipped", "Skipped")], max_length=7
                    ),
                ),
                ("raised", models.CharField(blank=True, max_length=512)),
                ("level", models.CharField(max_length=9)),
                ("python", models.CharField(blank=True, max_length=512)),
                ("worker", models.CharField(blank=True, max_length=512)),
                ("events", models.IntegerField()),
                ("cut", models.IntegerField(default=0)),
                ("digest", models.BinaryField(max_length=16)),
                ("content", models.BinaryField()),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
                (
                    "run",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.run"),
                ),
                (
                    "test",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.test"),
                ),
                (
                    "upload",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to="ingest.upload"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["test", "outcome", "-id"], name="trace_newest"),
                    models.Index(fields=["project", "received_at"], name="trace_age"),
                ],
                "constraints": [models.UniqueConstraint(fields=("run", "test", "digest"), name="trace_once")],
            },
        ),
        lock_tables(
            "ingest_upload", "ingest_run", "ingest_test", "ingest_project"
        ),  # foreign keys are added after all of these
    ]
