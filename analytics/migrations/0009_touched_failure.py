"""Failing tests of runs whose change is known, with whether they touch it."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from ingest.migration_locks import lock_tables


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0008_likeness"),
        ("ingest", "0024_reach"),
    ]

    operations = [
        migrations.CreateModel(
            name="TouchedFailure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("touches", models.CharField(choices=[("yes", "Yes"), ("no", "No")], max_length=3)),
                ("passed_at_base", models.BooleanField(default=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "project",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.project"),
                ),
                (
                    "run",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="ingest.run"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "number", "-at"], name="touched_failure_test")],
                "constraints": [models.UniqueConstraint(fields=("run", "number"), name="touched_failure_once")],
            },
        ),
        lock_tables("ingest_run", "ingest_project"),  # foreign keys are added after all of these
    ]
