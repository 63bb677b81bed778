"""Vectors are stored out of line and uncompressed, so that PostgreSQL can fetch one byte without reading the rest."""

from django.db import migrations

_EXTERNAL = (
    ("ingest_report", "verdicts"),
    ("ingest_report", "durations"),
    ("ingest_report", "order"),
    ("ingest_roster", "members"),
    ("ingest_roster", "usual_order"),
    ("ingest_uploadchunk", "content"),
)


class Migration(migrations.Migration):
    dependencies = (("ingest", "0001_initial"),)
    operations = tuple(
        migrations.RunSQL(
            f'ALTER TABLE {table} ALTER COLUMN "{column}" SET STORAGE EXTERNAL',
            f'ALTER TABLE {table} ALTER COLUMN "{column}" SET STORAGE EXTENDED',
        )
        for table, column in _EXTERNAL
    )
