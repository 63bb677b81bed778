"""Experiments, and when a project wants the next one."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ingest", "0015_prices")]
    operations = [
        migrations.AddField("project", "experiment_commits", models.IntegerField(db_default=150, default=150)),
        migrations.AddField("project", "experiment_days", models.IntegerField(db_default=30, default=30)),
        migrations.CreateModel(
            name="Experiment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64)),
                (
                    "protocol",
                    models.CharField(
                        choices=[("orders", "Orders"), ("reruns", "Reruns"), ("changed", "Changed")], max_length=12
                    ),
                ),
                ("parameters", models.JSONField(default=dict)),
                ("seed", models.CharField(blank=True, max_length=255)),
                ("commit", models.CharField(blank=True, max_length=64)),
                ("tree", models.CharField(blank=True, max_length=64)),
                ("branch", models.CharField(blank=True, max_length=255)),
                ("environment", models.JSONField(default=dict)),
                ("hosts", models.JSONField(default=list)),
                ("whole", models.BooleanField(default=True)),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(null=True)),
                ("how", models.CharField(blank=True, max_length=12)),
                ("results", models.JSONField(default=dict)),
                ("counts", models.JSONField(default=dict)),
                ("concluded", models.BooleanField(default=True)),
                ("probes", models.IntegerField(default=0)),
                ("probes_left_out", models.IntegerField(default=0)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "key"), name="experiment_once")],
                "indexes": [models.Index(fields=["project", "-began_at", "-id"], name="experiment_newest")],
            },
        ),
    ]
