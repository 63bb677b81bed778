"""What tests used, and what runs changed."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [
        ("ingest", "0023_value_series"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReachSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=16)),
                ("size", models.IntegerField()),
                ("members", models.BinaryField()),
                ("seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Reach",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("commit", models.CharField(blank=True, max_length=64)),
                ("tests", models.IntegerField()),
                ("data", models.BinaryField()),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="ingest.run")),
                (
                    "upload",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to="ingest.upload"),
                ),
                (
                    "outside",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="ingest.reachset",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RunChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("base", models.CharField(blank=True, max_length=64)),
                ("head", models.CharField(blank=True, max_length=64)),
                ("unknown", models.CharField(blank=True, max_length=512)),
                ("files", models.IntegerField(default=0)),
                ("data", models.BinaryField()),
                ("received_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="change", to="ingest.run"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReachName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=16)),
                ("file", models.TextField()),
                ("name", models.TextField(blank=True)),
                ("seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "digest"), name="reach_name_once")],
            },
        ),
        migrations.AddConstraint(
            model_name="reachset",
            constraint=models.UniqueConstraint(fields=("project", "digest"), name="reach_set_once"),
        ),
        migrations.AddIndex(
            model_name="reach",
            index=models.Index(fields=["project", "-received_at", "-id"], name="reach_newest"),
        ),
        migrations.AddIndex(
            model_name="reach",
            index=models.Index(fields=["project", "commit"], name="reach_commit"),
        ),
        migrations.AddIndex(
            model_name="runchange",
            index=models.Index(fields=["project", "received_at"], name="run_change_age"),
        ),
        lock_tables("ingest_upload", "ingest_run", "ingest_project"),  # foreign keys are added after all of these
    ]
