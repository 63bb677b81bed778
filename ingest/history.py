"""A history of reports on disk: a folder or an archive, with dates from an index, the reports or the files."""

import csv
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from ingest.junit.times import read_timestamp
from ingest.metadata import RunMetadata

REPORTS = (".xml", ".junit", ".junitxml", ".xml.gz")
_DATES = ("started_at", "date", "timestamp", "commit_date", "author_date")
_COLUMNS = {field.name for field in fields(RunMetadata)} - {"started_at", "attempt", "environment"}


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
                archive.extractall(folder)  # noqa: S202 - zipfile itself drops drive letters and ".."
        else:
            with tarfile.open(source) as archive:
                archive.extractall(folder, filter="data")
        yield Path(folder)


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
    known |= {column: row[column] for column in _COLUMNS if row.get(column)}
    dates = (read_timestamp(row.get(column) or "", zoneless_is_utc=True) for column in _DATES)
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    known["started_at"] = next((date for date in dates if date), None) or written
    known["build_id"] = known["build_id"] or f"import:{name}"
    return Item(path, name, RunMetadata(**known))
