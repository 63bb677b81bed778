"""Where a project's repository is, and the runs of a build or pull request: their indexes are built beside the work."""

from django.db import migrations, models

_INDEXES = {
    "run_build": ("build_id", models.Q(build_id="")),
    "run_pull_request": ("pull_request", models.Q(pull_request="")),
}


def _drop(name: str) -> str:
    return f'DROP INDEX CONCURRENTLY IF EXISTS "{name}"'


def _create(name: str, column: str) -> str:
    return (
        f'CREATE INDEX CONCURRENTLY "{name}" ON "ingest_run" ("project_id", "{column}") WHERE NOT ("{column}" = \'\')'
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0025_fork_values")]
    operations = [
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    'ALTER TABLE "ingest_project" ADD COLUMN IF NOT EXISTS '
                    "\"repository_url\" varchar(500) DEFAULT '' NOT NULL",
                    'ALTER TABLE "ingest_project" DROP COLUMN "repository_url"',
                )
            ],
            [
                migrations.AddField(
                    "project",
                    "repository_url",
                    models.CharField(blank=True, db_default="", default="", max_length=500),
                )
            ],
        ),
        *(
            migrations.SeparateDatabaseAndState(
                [migrations.RunSQL([_drop(name), _create(name, column)], [_drop(name)])],
                [migrations.AddIndex("run", models.Index(fields=["project", column], name=name, condition=~empty))],
            )
            for name, (column, empty) in _INDEXES.items()
        ),
    ]
