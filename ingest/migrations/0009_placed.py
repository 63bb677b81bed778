"""Where runs and reports stand by our clock, and from when uploads are kept.

CURRENT_TIMESTAMP is computed once and kept beside the table: no row is written. It is also right for what the release
before goes on inserting meanwhile: that has come just now."""

from django.db import migrations, models
from django.db.models.functions import Now

_NOW = "timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL"
_NULL = "timestamp with time zone NULL"


def _moment(model: str, name: str, kind: str) -> migrations.SeparateDatabaseAndState:
    """A column that may be there: whoever missed a lock tries again, and what came before it stays applied."""
    table = f'"ingest_{model}"'
    field = models.DateTimeField(db_default=Now()) if kind is _NOW else models.DateTimeField(null=True)
    add = f'ALTER TABLE {table} ADD COLUMN IF NOT EXISTS "{name}" {kind}'
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(add, f'ALTER TABLE {table} DROP COLUMN "{name}"')],
        [migrations.AddField(model_name=model, name=name, field=field)],
    )


class Migration(migrations.Migration):
    """One table after the other: with several locked at once an upload that has some of them would wait for ever."""

    atomic = False
    dependencies = [("ingest", "0008_upload_turn")]
    operations = [
        _moment("run", "placed_at", _NOW),
        _moment("run", "received_at", _NOW),
        _moment("report", "placed_at", _NOW),
        _moment("report", "kept_from", _NOW),
        _moment("upload", "stated_at", _NULL),
        _moment("upload", "kept_from", _NULL),
        _moment("upload", "removed_at", _NULL),
    ]
