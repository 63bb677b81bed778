"""Alerts ask for uploads that went wrong lately: the index for that, built beside the work."""

from django.db import migrations, models

_INDEX = models.Index(fields=["finished_at"], name="upload_error", condition=models.Q(state__in=("rejected", "failed")))
_DROP = 'DROP INDEX CONCURRENTLY IF EXISTS "upload_error"'
_CREATE = (
    'CREATE INDEX CONCURRENTLY "upload_error" ON "ingest_upload" ("finished_at") '
    """WHERE "state" IN ('rejected', 'failed')"""
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0026_builds")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL([_DROP, _CREATE], [_DROP])],
            state_operations=[migrations.AddIndex(model_name="upload", index=_INDEX)],
        )
    ]
