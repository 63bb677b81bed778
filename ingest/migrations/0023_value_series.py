"""Values of approximate assertions."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [("ingest", "0022_likeness")]
    operations = [
        migrations.CreateModel(
            name="ValueSeries",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=16)),
                ("origin", models.CharField(choices=[("ci", "Ci"), ("bounds", "Bounds")], max_length=6)),
                ("environment", models.TextField(blank=True)),
                ("file", models.TextField()),
                ("line", models.IntegerField()),
                ("ordinal", models.IntegerField()),
                ("kind", models.CharField(max_length=10)),
                ("op", models.CharField(max_length=2)),
                ("commit", models.CharField(blank=True, max_length=64)),
                ("seeds", models.CharField(blank=True, max_length=8)),
                ("runs", models.IntegerField(default=0)),
                ("failed", models.IntegerField(default=0)),
                ("values", models.BinaryField()),
                ("bounds", models.BinaryField()),
                ("reports", models.BinaryField()),
                ("answer", models.JSONField(default=dict)),
                ("is_stale", models.BooleanField(default=True)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
                (
                    "test",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.test"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "-updated_at"], name="value_series_newest")],
                "constraints": [models.UniqueConstraint(fields=("test", "digest"), name="value_series_once")],
            },
        ),
        lock_tables("ingest_test", "ingest_project"),  # foreign keys are added after all of these
    ]
