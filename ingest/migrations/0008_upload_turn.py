"""The index by which a worker finds whose turn it is, built beside the work. One that was given up half way, because
a lock was not to be had, is made anew."""

from django.db import migrations, models

_INDEX = models.Index(
    condition=models.Q(("state", "received")), fields=["project", "received_at", "id"], name="upload_turn"
)
_DROP = 'DROP INDEX CONCURRENTLY IF EXISTS "upload_turn"'
_CREATE = """
CREATE INDEX CONCURRENTLY "upload_turn" ON "ingest_upload" ("project_id", "received_at", "id")
WHERE "state" = 'received'
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ingest", "0007_untrusted")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL([_DROP, _CREATE], [_DROP])],
            state_operations=[migrations.AddIndex(model_name="upload", index=_INDEX)],
        ),
    ]
