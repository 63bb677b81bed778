from django.db import migrations, models


def _untrusted(name: str) -> migrations.SeparateDatabaseAndState:
    """A column that may be there: whoever missed a lock tries again, and what came before it stays applied."""
    table = f'"ingest_{name}"'
    add = f'ALTER TABLE {table} ADD COLUMN IF NOT EXISTS "untrusted" boolean DEFAULT false NOT NULL'
    field = models.BooleanField(db_default=False, default=False)
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(add, f'ALTER TABLE {table} DROP COLUMN "untrusted"')],
        [migrations.AddField(model_name=name, name="untrusted", field=field)],
    )


class Migration(migrations.Migration):
    """One table after the other: with several locked at once an upload that has some of them would wait for ever."""

    atomic = False
    dependencies = [("ingest", "0006_keeping")]
    operations = [_untrusted(name) for name in ("run", "upload", "report")]
