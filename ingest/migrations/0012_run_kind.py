"""What kind of run a run is, so that the gate finds runs like it. Runs that are there are told theirs in chunks."""

import time
from typing import Any

from django.db import OperationalError, migrations, models

from ingest.run_kind import kind_of

_CHUNK = 2_000
_TRIES = 60
_FIELDS = ("job", "shard", "environment", "branch", "commit")
_DROP = 'DROP INDEX CONCURRENTLY IF EXISTS "run_kind"'
_CREATE = 'CREATE INDEX CONCURRENTLY "run_kind" ON "ingest_run" ("project_id", "kind", "id" DESC)'


def _tell_kinds(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("ingest", "Run").objects
    last = 0
    while rows := list(runs.filter(pk__gt=last).order_by("pk").only(*_FIELDS)[:_CHUNK]):
        for run in rows:
            run.kind = kind_of(**{name: getattr(run, name) for name in _FIELDS})
        _write(runs, rows)
        last = rows[-1].pk


def _write(runs: Any, rows: list[Any]) -> None:
    """A row that an upload holds for longer than a lock may be waited for is tried again."""
    for left in reversed(range(_TRIES)):
        try:
            runs.bulk_update(rows, ["kind"])
            return
        except OperationalError as error:
            if not left or not any(word in str(error) for word in ("lock timeout", "deadlock")):
                raise
            time.sleep(1)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0011_placed_indexes")]
    operations = [
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    'ALTER TABLE "ingest_run" ADD COLUMN IF NOT EXISTS "kind" bytea', migrations.RunSQL.noop
                )
            ],
            [migrations.AddField("run", "kind", models.BinaryField(max_length=16, null=True))],
        ),
        migrations.RunPython(_tell_kinds, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL([_DROP, _CREATE], [_DROP])],
            [migrations.AddIndex("run", models.Index(fields=["project", "kind", "-id"], name="run_kind"))],
        ),
    ]
