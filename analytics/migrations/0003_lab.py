"""Findings of experiments, and dependencies between tests."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0002_analysis_form"),
        ("ingest", "0018_experiment_orders"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Dependency",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                (
                    "role",
                    models.CharField(choices=[("polluter", "Polluter"), ("state-setter", "Setter")], max_length=12),
                ),
                (
                    "before",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), default=list, size=None
                    ),
                ),
                (
                    "cleaners",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), default=list, size=None
                    ),
                ),
                (
                    "ground",
                    models.CharField(
                        choices=[("shown", "Shown"), ("stated", "Stated"), ("inferred", "Inferred")], max_length=8
                    ),
                ),
                ("counts", models.JSONField(default=dict)),
                ("details", models.JSONField(default=dict)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("first_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("first_commit", models.CharField(blank=True, max_length=64)),
                ("last_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_commit", models.CharField(blank=True, max_length=64)),
                ("retired_at", models.DateTimeField(null=True)),
                ("retired_why", models.CharField(blank=True, max_length=500)),
                (
                    "first_experiment",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="ingest.experiment",
                    ),
                ),
                (
                    "last_experiment",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="ingest.experiment",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
                (
                    "stated_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "number"], name="dependency_test"),
                    models.Index(condition=models.Q(("retired_at", None)), fields=["project"], name="dependency_live"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExperimentFinding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("OD", "Od"),
                            ("NOD", "Nod"),
                            ("ID", "Id"),
                            ("infrastructure", "Infrastructure"),
                            ("unknown", "Unknown"),
                        ],
                        max_length=14,
                    ),
                ),
                (
                    "role",
                    models.CharField(blank=True, choices=[("victim", "Victim"), ("brittle", "Brittle")], max_length=7),
                ),
                ("data", models.JSONField(default=dict)),
                (
                    "experiment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="ingest.experiment",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "number"], name="experiment_finding_test")],
                "constraints": [
                    models.UniqueConstraint(fields=("experiment", "number"), name="experiment_finding_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="JoinedOrderFinding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("data", models.JSONField()),
                (
                    "analysis",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="order_findings",
                        to="analytics.analysis",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("analysis", "number"), name="joined_order_finding_once")
                ],
            },
        ),
        lock_tables("analytics_analysis", "ingest_project"),  # foreign keys are added after all of these
    ]
