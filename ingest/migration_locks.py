"""Locks of a migration that touches several tables in use, taken so that nobody can deadlock with it."""

from django.db import migrations


def lock_tables(first: str, *others: str) -> migrations.RunSQL:
    """Lock all of them, as a foreign key to each would: wait for the first while nothing is held, and for no other.

    The last operation of a migration: Django adds foreign keys after it, and nothing slow is done under the locks.
    An upload writes to `ingest_upload` before anything else: who has that one finds the others free. Where one is not,
    `manage.py upgrade` begins again."""
    mode = "IN SHARE ROW EXCLUSIVE MODE"
    names = ", ".join(f'"{table}"' for table in others)
    return migrations.RunSQL(
        [f'LOCK TABLE "{first}" {mode}', f"LOCK TABLE {names} {mode} NOWAIT"], migrations.RunSQL.noop
    )
