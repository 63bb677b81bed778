"""The gate asks for every upload of a build: the index for that, built beside the work."""

from django.db import migrations, models
from django.db.models.fields.json import KT

_INDEX = models.Index(
    "project",
    KT("metadata__build_id"),
    name="upload_build",
    condition=models.Q(metadata__has_key="build_id"),
)
_DROP = 'DROP INDEX CONCURRENTLY IF EXISTS "upload_build"'
_CREATE = (
    'CREATE INDEX CONCURRENTLY "upload_build" ON "ingest_upload" '
    """("project_id", (("metadata" ->> 'build_id'))) WHERE "metadata" ? 'build_id'"""
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("ingest", "0013_rename_certain")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL([_DROP, _CREATE], [_DROP])],
            state_operations=[migrations.AddIndex(model_name="upload", index=_INDEX)],
        )
    ]
