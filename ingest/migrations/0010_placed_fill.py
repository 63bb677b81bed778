"""Fills in where what is stored stands by our clock, some rows at a time, each time in a transaction of its own.

What no token sent was imported (or is the demo): its own date goes on placing it. Run again from the start it writes
the same values."""

import time

from django.db import OperationalError, connection, migrations, transaction

_ROWS = 2_000
_TRIES = 60
_PLACED = """
    CASE WHEN came.imported THEN least({table}.started_at, came.received_at)
         WHEN {table}.started_at BETWEEN came.received_at - interval '24 hours' AND came.received_at
         THEN {table}.started_at
         ELSE came.received_at END
"""
_RUNS = f"""
    WITH held AS MATERIALIZED (
        SELECT id, started_at FROM ingest_run WHERE id BETWEEN %(first)s AND %(last)s ORDER BY id FOR NO KEY UPDATE
    ), came AS (
        SELECT held.id, coalesce(min(upload.received_at), least(held.started_at, now())) AS received_at,
               coalesce(bool_and(upload.token_id IS NULL), true) AS imported
        FROM held LEFT JOIN ingest_upload AS upload ON upload.run_id = held.id GROUP BY held.id, held.started_at
    )
    UPDATE ingest_run AS run SET received_at = came.received_at, placed_at = {_PLACED.format(table="run")}
    FROM came WHERE came.id = run.id
"""  # noqa: S608 - our own words
_REPORTS = f"""
    WITH held AS MATERIALIZED (
        SELECT id, upload_id, started_at FROM ingest_report WHERE id BETWEEN %(first)s AND %(last)s
        ORDER BY id FOR NO KEY UPDATE
    ), came AS (
        SELECT held.id, coalesce(upload.received_at, least(held.started_at, now())) AS received_at,
               upload.token_id IS NULL AS imported
        FROM held LEFT JOIN ingest_upload AS upload ON upload.id = held.upload_id
    )
    UPDATE ingest_report AS report SET kept_from = came.received_at, placed_at = {_PLACED.format(table="report")}
    FROM came WHERE came.id = report.id
"""  # noqa: S608 - our own words
_UPLOADS = """
    WITH held AS MATERIALIZED (
        SELECT id FROM ingest_upload WHERE id BETWEEN %(first)s AND %(last)s AND token_id IS NULL
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE ingest_upload AS upload SET stated_at = run.started_at FROM held, ingest_run AS run
    WHERE upload.id = held.id AND run.id = upload.run_id AND run.started_at < upload.received_at - interval '24 hours'
"""


def _fill(apps, schema_editor):  # type: ignore[no-untyped-def]
    for table, statement in (("ingest_run", _RUNS), ("ingest_report", _REPORTS), ("ingest_upload", _UPLOADS)):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM {table}")  # noqa: S608 - our own
            first, last = cursor.fetchone()
        for start in range(first, last + 1, _ROWS):
            _batch(statement, {"first": start, "last": min(start + _ROWS - 1, last)})


def _batch(statement: str, between: dict[str, int]) -> None:
    """A row that an upload holds for longer than a lock may be waited for is tried again."""
    for left in reversed(range(_TRIES)):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement, between)
                return
        except OperationalError as error:
            if not left or not any(word in str(error) for word in ("lock timeout", "deadlock")):
                raise
            time.sleep(1)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0009_placed")]
    operations = [migrations.RunPython(_fill, migrations.RunPython.noop)]
