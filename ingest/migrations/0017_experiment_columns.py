"""Runs, reports and uploads of experiments, and tests that only experiments have named.

Null means CI, so no row is written, and the release before inserts what it should. One table after the other, and each
statement can be run again: whoever missed a lock goes on where it stopped."""

import django.db.models.deletion
from django.db import migrations, models


def _column(model: str) -> migrations.SeparateDatabaseAndState:
    """The column, its foreign key without reading the table under a lock, and an index of the few rows that have it."""
    table, key, index = f'"ingest_{model}"', f'"{model}_experiment_key"', f'"{model}_experiment"'
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {index}"
    add = [
        f'ALTER TABLE {table} ADD COLUMN IF NOT EXISTS "experiment_id" bigint NULL',
        f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {key}",
        f'ALTER TABLE {table} ADD CONSTRAINT {key} FOREIGN KEY ("experiment_id") '
        'REFERENCES "ingest_experiment" ("id") DEFERRABLE INITIALLY DEFERRED NOT VALID',
        f"ALTER TABLE {table} VALIDATE CONSTRAINT {key}",
        drop,
        f'CREATE INDEX CONCURRENTLY {index} ON {table} ("experiment_id") WHERE "experiment_id" IS NOT NULL',
    ]
    field = models.ForeignKey("ingest.Experiment", django.db.models.deletion.CASCADE, null=True, db_index=False)
    only_theirs = models.Q(experiment__isnull=False)
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(add, [drop, f'ALTER TABLE {table} DROP COLUMN "experiment_id"'])],
        [
            migrations.AddField(model, "experiment", field),
            migrations.AddIndex(
                model, models.Index(fields=["experiment"], name=f"{model}_experiment", condition=only_theirs)
            ),
        ],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0016_experiment")]
    operations = [
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    'ALTER TABLE "ingest_test" ADD COLUMN IF NOT EXISTS "seen_in_ci" boolean DEFAULT true NOT NULL',
                    'ALTER TABLE "ingest_test" DROP COLUMN "seen_in_ci"',
                )
            ],
            [migrations.AddField("test", "seen_in_ci", models.BooleanField(db_default=True, default=True))],
        ),
        _column("upload"),
        _column("run"),
        _column("report"),
    ]
