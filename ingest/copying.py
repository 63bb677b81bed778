"""COPY: rows into a table ten times faster than INSERT, from plain Python values."""

import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

_BUFFER = 4 * 1024 * 1024
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\x00": ""})


def _field(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    if isinstance(value, str):
        return value.translate(_ESCAPES)
    return str(value)


def copy_rows(model: type[Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Append rows to the model's table, inside the current transaction."""
    table = connection.ops.quote_name(model._meta.db_table)
    names = ", ".join(connection.ops.quote_name(column) for column in columns)
    statement = f"COPY {table} ({names}) FROM STDIN"
    buffer = io.StringIO()
    with connection.cursor() as cursor:
        for row in rows:
            buffer.write("\t".join(map(_field, row)))
            buffer.write("\n")
            if buffer.tell() > _BUFFER:
                _send(cursor, statement, buffer)
        if buffer.tell():
            _send(cursor, statement, buffer)


def _send(cursor: Any, statement: str, buffer: io.StringIO) -> None:
    buffer.seek(0)
    with connection.wrap_database_errors:
        cursor.copy_expert(statement, buffer)
    buffer.seek(0)
    buffer.truncate()
