"""PostgreSQL's COPY: writes rows ten times faster than INSERT, and reads columns as arrays."""

import io
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
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


_HEADER = 19
"""Signature, flags and the length of an unused extension."""
_TRAILER = 2
_STORED = {"i": ">i8", "f": ">f8"}
_NATIVE = {"i": np.int64, "f": np.float64}


def copied(query: str, values: dict[str, Any], kinds: str) -> tuple[Any, ...]:
    """The columns of a query as arrays: `i` for a bigint, `f` for a float8. No value may be null."""
    fields: list[tuple[str, str]] = [("count", ">i2")]
    for place, kind in enumerate(kinds):
        fields += [(f"length{place}", ">i4"), (f"value{place}", _STORED[kind])]
    rows = np.frombuffer(_copy(query, values)[_HEADER:-_TRAILER], dtype=np.dtype(fields))
    return tuple(rows[f"value{place}"].astype(_NATIVE[kind]) for place, kind in enumerate(kinds))


def copied_rows(query: str, values: dict[str, Any], kinds: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query: `i` for an integer, `b` for a bytea, returned as a view of the received data."""
    content, at = _copy(query, values), _HEADER
    while struct.unpack_from(">h", content, at)[0] >= 0:
        at += 2
        row: list[Any] = []
        for kind in kinds:
            (length,) = struct.unpack_from(">i", content, at)
            value = content[at + 4 : at + 4 + length]
            at += 4 + length
            row.append(int.from_bytes(value, "big", signed=True) if kind == "i" else value)
        yield tuple(row)


def _copy(query: str, values: dict[str, Any]) -> memoryview:
    received = io.BytesIO()
    with connection.cursor() as cursor, connection.wrap_database_errors:
        statement = cursor.mogrify(query, values).decode()
        cursor.copy_expert(f"COPY ({statement}) TO STDOUT WITH (FORMAT binary)", received)
    return received.getbuffer()
