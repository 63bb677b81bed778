"""Static files, hashed and compressed into the home folder: again only when they have changed."""

import hashlib
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder, get_finders
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command


class PlotlyFinder(BaseFinder):
    """plotly/plotly.min.js, out of the plotly wheel: the one file of it that pages need."""

    _FILE = "plotly.min.js"

    def __init__(self) -> None:
        package = Path(str(find_spec("plotly").origin)).parent  # type: ignore[union-attr]
        self._storage = FileSystemStorage(location=package / "package_data")
        self._storage.prefix = "plotly"  # type: ignore[attr-defined]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        yield self._FILE, self._storage

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        found = [self._storage.path(self._FILE)] if path == f"plotly/{self._FILE}" else []
        return found if find_all else next(iter(found), [])


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: found[0]):
            facts = Path(storage.path(path)).stat()
            digest.update(f"{path} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def collect() -> None:
    """Compressing takes seconds and a start should not: skipped where nothing is new."""
    marker, now = Path(settings.STATIC_ROOT) / ".fingerprint", _fingerprint()
    if not marker.exists() or marker.read_text() != now:
        call_command("collectstatic", verbosity=0, interactive=False, clear=True)
        marker.write_text(now)
