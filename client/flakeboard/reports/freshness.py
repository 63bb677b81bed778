"""Which report files were written during a run: an old one would report tests that did not run."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Iterable, Tuple

from flakeboard.reports import files

SLACK = 2.0
"""Seconds by which a file's time may lag behind the clock: some file systems count in steps of two."""

Mark = Tuple[int, int, str]
"""A file's modification time, size and digest."""


@dataclass(frozen=True)
class ReportFiles:
    """What the patterns match after a run."""

    fresh: list[str]
    stale: list[str]
    missing: list[str]
    """Patterns that match no fresh file."""


class Snapshot:
    """What the patterns matched when the run began."""

    def __init__(self, patterns: Iterable[str], started: float) -> None:
        self._patterns = list(patterns)
        self._started = started
        self._marks: dict[str, Mark] = {path: _mark(path) for path in files.find(self._patterns)}

    def after(self) -> ReportFiles:
        """Sort the files that match after the run into fresh and stale."""
        found = files.find(self._patterns)
        fresh = [path for path in found if self._is_fresh(path)]
        known = {os.path.realpath(path) for path in fresh}
        missing = [
            pattern
            for pattern in self._patterns
            if not any(os.path.realpath(path) in known for path in files.matching(pattern))
        ]
        return ReportFiles(fresh, [path for path in found if path not in set(fresh)], missing)

    def _is_fresh(self, path: str) -> bool:
        before = self._marks.get(path)
        if before is not None:
            return _mark(path) != before
        try:
            return os.stat(path).st_mtime >= self._started - SLACK
        except OSError:
            return False


def _mark(path: str) -> Mark:
    try:
        stat = os.stat(path)
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            for chunk in iter(lambda: file.read(1 << 18), b""):
                digest.update(chunk)
    except OSError:
        return 0, 0, ""
    return stat.st_mtime_ns, stat.st_size, digest.hexdigest()
