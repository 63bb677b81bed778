"""The indexes by our clock, built beside the work. One that was given up half way, because a lock was not to be had,
is made anew."""

from django.db import migrations, models

_INDEXES = (
    ("run", models.Index(fields=["project", "-placed_at", "-id"], name="run_placed"), '"placed_at" DESC, "id" DESC'),
    (
        "run",
        models.Index(fields=["project", "-received_at", "-id"], name="run_received"),
        '"received_at" DESC, "id" DESC',
    ),
    (
        "report",
        models.Index(fields=["project", "-placed_at", "-id"], name="report_placed"),
        '"placed_at" DESC, "id" DESC',
    ),
    ("report", models.Index(fields=["project", "kept_from"], name="report_kept"), '"kept_from"'),
)


def _index(model: str, index: models.Index, columns: str) -> migrations.SeparateDatabaseAndState:
    drop = f'DROP INDEX CONCURRENTLY IF EXISTS "{index.name}"'
    create = f'CREATE INDEX CONCURRENTLY "{index.name}" ON "ingest_{model}" ("project_id", {columns})'
    return migrations.SeparateDatabaseAndState(
        database_operations=[migrations.RunSQL([drop, create], [drop])],
        state_operations=[migrations.AddIndex(model_name=model, index=index)],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0010_placed_fill")]
    operations = [_index(*one) for one in _INDEXES]
