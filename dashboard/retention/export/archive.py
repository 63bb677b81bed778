"""A project as a stream of bytes: a zip of one file a table, all as of one moment, and a manifest at its end."""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from django.db import connection, transaction

from dashboard.retention.export.tables import TABLES
from dashboard.retention.export.writers import FORMATS, check_format
from ingest.models import Project

_LOCK = 731_054_200_000_000
"""With the project's id, the number of the advisory lock that keeps its exports one after the other."""
_PIECE = 64 * 1024


class ExportRunning(Exception):
    """Another export of the project is under way."""


class Archive:
    """The archive's bytes, made as they are asked for. Whoever stops reading calls `close`."""

    def __init__(self, project: Project, format_: str) -> None:
        """Raises before the first byte where the format cannot be written or another export is under way."""
        check_format(format_)
        self._made = _made(project, format_)
        self._first = next(self._made)

    def __iter__(self) -> Iterator[bytes]:
        yield self._first
        yield from self._made

    def close(self) -> None:
        self._made.close()  # type: ignore[attr-defined]


class _Sink:
    """What the zip is written to: it hands the bytes on."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        self._size += len(piece)
        return len(piece)

    def flush(self) -> None:
        """There is nothing behind it."""

    def taken(self, *, least: int = 0) -> Iterator[bytes]:
        if self._size > least:
            yield b"".join(self._pieces)
            self._pieces, self._size = [], 0


def _made(project: Project, format_: str) -> Iterator[bytes]:
    ending, write = FORMATS[format_]
    sink, now, rows = _Sink(), datetime.now(UTC), {}
    packing = zipfile.ZIP_DEFLATED if format_ == "json" else zipfile.ZIP_STORED
    with _one_moment(project), zipfile.ZipFile(sink, "w", packing, compresslevel=3) as archive:
        yield b""
        for table in TABLES:
            entry = zipfile.ZipInfo(f"{table.name}.{ending}", now.timetuple()[:6])
            entry.compress_type, rows[table.name] = packing, 0
            with archive.open(entry, "w", force_zip64=True) as file:
                for written in write(file, table, table.batches(project)):
                    rows[table.name] += written
                    yield from sink.taken(least=_PIECE)
        archive.writestr("manifest.json", json.dumps(_manifest(project, format_, now, rows), indent=1))
    yield from sink.taken()


def _manifest(project: Project, format_: str, now: datetime, rows: dict[str, int]) -> dict[str, object]:
    return {
        "format": 1,
        "files": format_,
        "project": {"slug": project.slug, "name": project.name, "default_branch": project.default_branch},
        "exported_at": now.isoformat(),
        "tables": {
            table.name: {
                "rows": rows[table.name],
                "columns": {name: kind.value for name, kind in table.columns.items()},
            }
            for table in TABLES
        },
    }


@contextmanager
def _one_moment(project: Project) -> Iterator[None]:
    """A transaction that sees one moment and holds nobody up; one a project at a time."""
    outermost = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if outermost:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK + project.pk])
        if not cursor.fetchone()[0]:
            raise ExportRunning
        yield
