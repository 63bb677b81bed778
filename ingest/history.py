"""A history of reports on disk: a folder or an archive, with dates from an index or the files."""

import csv
import os
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from ingest.identity import digest_of
from ingest.junit.times import read_timestamp
from ingest.metadata import RunMetadata
from ingest.models import Run

REPORTS = (".xml", ".junit", ".junitxml", ".xml.gz")
_DATES = ("started_at", "date", "timestamp", "commit_date", "author_date")
_COLUMNS = {field.name for field in fields(RunMetadata)} - {"started_at", "attempt", "environment", "fork"}


_LENGTHS = {column: getattr(Run._meta.get_field(column), "max_length", None) for column in _COLUMNS - {"order"}}
_LENGTHS["order"] = 16


def _build_id(name: str) -> str:
    """A file's own build: its path, or the end of it with a digest of all of it where it is too long."""
    build = f"import:{name}"
    return build if len(build) <= _LENGTHS["build_id"] else f"import:{digest_of(name).hex()}:{name[-150:]}"


@dataclass(frozen=True, slots=True)
class Item:
    """One report file of a history, and what is known of its run."""

    path: Path
    name: str
    metadata: RunMetadata


@contextmanager
def unpacked(source: Path) -> Iterator[Path]:
    """The folder itself, or a temporary one that the archive is unpacked into (regular files only, none outside)."""
    if source.is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="flakeboard-import-") as folder:
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                _extract_zip(archive, folder)
        else:
            with tarfile.open(source) as archive:
                archive.extractall(folder, filter="data")
        yield Path(folder)


def _extract_zip(archive: zipfile.ZipFile, folder: str) -> None:
    """Unpack with the files' dates, which extractall() does not keep."""
    for info in archive.infolist():
        path = archive.extract(info, folder)  # zipfile itself drops drive letters and ".."
        moment = datetime(*info.date_time, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))


def items(folder: Path, common: RunMetadata) -> list[Item]:
    """The reports below a folder, oldest first. An index.csv beside them says more of each."""
    index = {path: row for found in sorted(folder.rglob("index.csv")) for path, row in _index(found)}
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name.endswith(REPORTS)]
    made = [_item(folder, path, index.get(path, {}), common) for path in found]
    return sorted(made, key=lambda item: (item.metadata.started_at or datetime.min.replace(tzinfo=UTC), item.name))


def _index(path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for row in csv.DictReader(file):
            if name := row.get("file") or row.get("path"):
                yield path.parent / name, row


def _item(folder: Path, path: Path, row: dict[str, str], common: RunMetadata) -> Item:
    name = path.relative_to(folder).as_posix()
    known = {field.name: getattr(common, field.name) for field in fields(RunMetadata)}
    known |= {column: row[column].replace("\0", "")[: _LENGTHS[column]] for column in _COLUMNS if row.get(column)}
    dates = (read_timestamp(row.get(column) or "", zoneless_is_utc=True) for column in _DATES)
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    known["started_at"] = next((date for date in dates if date), None) or written
    known["build_id"] = known["build_id"] or _build_id(name)
    return Item(path, name, RunMetadata(**known))
