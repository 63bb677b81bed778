"""All that is stored, as text to look for something in."""

from django.db import connection


def whole_database() -> str:
    """Every row of every table of ours, as text; bytes as hexadecimal digits."""
    with connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name != "django_session"]
        told = []
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" AS t')
            told += [row[0] for row in cursor.fetchall()]
    return "\n".join(told)
