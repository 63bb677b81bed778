"""Whole orders and probes of experiments."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [("ingest", "0017_experiment_columns")]
    operations = [
        migrations.CreateModel(
            name="ExperimentOrder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("iteration", models.IntegerField(default=0)),
                ("round", models.IntegerField()),
                ("how", models.CharField(blank=True, max_length=80)),
                ("seed", models.CharField(blank=True, max_length=255)),
                ("kind", models.CharField(choices=[("same", "Same"), ("random", "Random")], max_length=6)),
                (
                    "experiment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="orders",
                        to="ingest.experiment",
                    ),
                ),
                (
                    "report",
                    models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, to="ingest.report"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("experiment", "iteration", "round"), name="experiment_order_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ProbeBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("iteration", models.IntegerField(default=0)),
                ("count", models.IntegerField()),
                ("left_out", models.IntegerField(default=0)),
                ("tests", models.JSONField()),
                ("content", models.BinaryField()),
                ("received_at", models.DateTimeField(db_default=Now())),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="probe_batches",
                        to="ingest.experiment",
                    ),
                ),
                ("upload", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="ingest.upload")),
            ],
        ),
        lock_tables("ingest_upload", "ingest_report"),  # foreign keys are added after all of these
    ]
