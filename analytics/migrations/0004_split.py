"""Splits of a suite into shards, and the collections that they are of."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analytics", "0003_lab"), ("ingest", "0019_coverage")]
    operations = [
        migrations.CreateModel(
            name="Collection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=16)),
                ("size", models.IntegerField()),
                ("names", models.BinaryField()),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "digest"), name="collection_once")],
            },
        ),
        migrations.CreateModel(
            name="Split",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("build", models.CharField(max_length=255)),
                ("job", models.CharField(blank=True, max_length=255)),
                ("total", models.IntegerField()),
                ("by", models.CharField(max_length=16)),
                ("parts", models.BinaryField()),
                ("details", models.JSONField(default=dict)),
                ("extras", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "collection",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="analytics.collection"),
                ),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "created_at"], name="split_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "build", "job", "total"), name="split_once")
                ],
            },
        ),
    ]
