"""A history of reports on disk: a folder or an archive, with dates from an index, the reports or the files."""

import csv
import gzip
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path, PurePosixPath

from ingest.identity import digest_of
from ingest.junit.times import read_timestamp
from ingest.metadata import RunMetadata
from ingest.models import Run

REPORTS = (".xml", ".junit", ".junitxml", ".xml.gz")
_DATES = ("started_at", "date", "timestamp", "commit_date", "author_date")
_COLUMNS = {field.name for field in fields(RunMetadata)} - {
    "started_at",
    "attempt",
    "environment",
    "default_branch",
    "fork",
    "truncated",
    "unsent",
    "experiment",
}


_LENGTHS = {column: getattr(Run._meta.get_field(column), "max_length", None) for column in _COLUMNS - {"order"}}
_LENGTHS["order"] = 16


def _build_id(name: str) -> str:
    """A build id for a file: its path, or a digest and the path's end if that is too long."""
    build = f"import:{name}"
    return build if len(build) <= _LENGTHS["build_id"] else f"import:{digest_of(name).hex()}:{name[-150:]}"


class DateSource(Enum):
    """The source of a report's date, best first; shown to the person who imports."""

    INDEX = "by index.csv"
    REPORT = "by the timestamp in the report"
    FILE = "by the date of the file"
    NONE = "undated, so placed now, in the order of their names"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report file of a history with its run's metadata."""

    path: Path
    name: str
    metadata: RunMetadata
    dating: DateSource

    @property
    def stated_at(self) -> datetime | None:
        return self.metadata.started_at


@contextmanager
def unpacked(source: Path) -> Iterator[Path]:
    """The folder itself, or a temporary one with the archive's regular files (none outside it)."""
    if source.is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="flakeboard-import-") as folder:
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                _extract_zip(archive, folder)
        else:
            with tarfile.open(source) as archive:
                _extract_tar(archive, Path(folder))
        yield Path(folder)


def _extract_tar(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack regular files that stay inside the folder: the filter of extractall() is too new for Python 3.11.2."""
    for member in archive:
        name, content = PurePosixPath(member.name), archive.extractfile(member) if member.isfile() else None
        if content is None or name.is_absolute() or ".." in name.parts:
            continue
        path = folder.joinpath(*name.parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
        os.utime(path, (member.mtime, member.mtime))


def _extract_zip(archive: zipfile.ZipFile, folder: str) -> None:
    """Unpack with the files' dates, which extractall() drops."""
    for info in archive.infolist():
        path = archive.extract(info, folder)  # zipfile itself drops drive letters and ".."
        moment = datetime(*info.date_time, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))


def items(folder: Path, common: RunMetadata) -> list[ReportFile]:
    """The reports below a folder, oldest first. An index.csv beside them adds metadata."""
    index = {path: row for found in sorted(folder.rglob("index.csv")) for path, row in _index(found)}
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name.endswith(REPORTS)]
    made = [_item(folder, path, index.get(path, {}), common) for path in found]
    return sorted(made, key=lambda item: (item.metadata.started_at or datetime.min.replace(tzinfo=UTC), item.name))


def _index(path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for row in csv.DictReader(file):
            if name := row.get("file") or row.get("path"):
                yield path.parent / name, row


def _item(folder: Path, path: Path, row: dict[str, str], common: RunMetadata) -> ReportFile:
    name = path.relative_to(folder).as_posix()
    known = {field.name: getattr(common, field.name) for field in fields(RunMetadata)}
    known |= {column: row[column].replace("\0", "")[: _LENGTHS[column]] for column in _COLUMNS if row.get(column)}
    known["started_at"], dating = _dated(path, row)
    known["build_id"] = known["build_id"] or _build_id(name)
    return ReportFile(path, name, RunMetadata(**known), dating)


# -- dates -------------------------------------------------------------------------------------------------------

_HEAD = 64 * 1024
"""Bytes within which the first suite begins."""
_SUITE = re.compile(rb"<testsuites?\s([^<>]{0,8192})>")
_STAMP = re.compile(rb"""\stimestamp\s{0,9}=\s{0,9}["']([^"'<>]{1,63})["']""")
_OLDEST = datetime(2000, 1, 1, tzinfo=UTC)
"""A file from an earlier year has lost its date: archives often use 1970, and zip begins in 1980."""


def _dated(path: Path, row: dict[str, str]) -> tuple[datetime | None, DateSource]:
    """The best known date of the run. A time without a zone is taken as UTC: only the day matters here."""
    dates = (read_timestamp(row.get(column) or "", zoneless_is_utc=True) for column in _DATES)
    if date := next((date for date in dates if date), None):
        return date, DateSource.INDEX
    if date := _stamp(path):
        return date, DateSource.REPORT
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return (written, DateSource.FILE) if written >= _OLDEST else (None, DateSource.NONE)


def _stamp(path: Path) -> datetime | None:
    """The timestamp of the first suite with one, from the head of the file."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            head = file.read(_HEAD)
    except (OSError, EOFError, zlib.error):
        return None  # the reader will report the problem
    for suite in _SUITE.finditer(head):
        if found := _STAMP.search(b" " + suite[1]):
            return read_timestamp(found[1].decode("ascii", "replace"), zoneless_is_utc=True)
    return None
