"""Query results straight into arrays: PostgreSQL's binary COPY, read by numpy instead of row by row."""

import io
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from django.db import connection

_HEADER = 19
"""Signature, flags and the length of an extension that nobody uses."""
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
    """The rows of a query: `i` for an integer, `b` for a bytea, which is a view of what was received."""
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
