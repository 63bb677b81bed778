"""People put labels and notes on tests, and keep queries as views."""

import django.utils.timezone
from django.db import migrations, models

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [("ingest", "0025_fork_values"), ("quarantine", "0005_fix_places")]
    operations = [
        migrations.CreateModel(
            "TestLabel",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(max_length=64)),
                (
                    "test",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.deletion.CASCADE,
                        related_name="labels",
                        to="ingest.test",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("test", "label"), name="test_label_once")],
            },
        ),
        migrations.CreateModel(
            "TestNote",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(max_length=4000)),
                ("by", models.CharField(max_length=255)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "test",
                    models.ForeignKey(on_delete=models.deletion.CASCADE, related_name="notes", to="ingest.test"),
                ),
            ],
        ),
        migrations.CreateModel(
            "SavedView",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("query", models.CharField(max_length=500)),
                ("created_by", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.deletion.CASCADE,
                        related_name="saved_views",
                        to="ingest.project",
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="saved_view_once")],
            },
        ),
        lock_tables("ingest_test", "ingest_project"),  # foreign keys are added after all of these
    ]
