"""Which report files were written during a run: an old one would speak for tests that did not run."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Iterable, Tuple

from flakeboard import files

_SLACK = 2.0
"""Seconds by which a file's time may be older than the clock: some file systems count in twos."""

Mark = Tuple[int, int, str]
"""When a file was changed, its size, and a digest of what is in it."""


@dataclass(frozen=True)
class Reports:
    """What the patterns match after a run."""

    fresh: list[str]
    stale: list[str]
    missing: list[str]
    """Patterns without a fresh file."""


class Before:
    """What the patterns matched when the run began."""

    def __init__(self, patterns: Iterable[str], started: float) -> None:
        self._patterns = list(patterns)
        self._started = started
        self._marks: dict[str, Mark] = {path: _mark(path) for path in files.find(self._patterns)}

    def after(self) -> Reports:
        """Told apart now, after the run."""
        found = files.find(self._patterns)
        fresh = [path for path in found if self._is_fresh(path)]
        known = {os.path.realpath(path) for path in fresh}
        missing = [
            pattern
            for pattern in self._patterns
            if not any(os.path.realpath(path) in known for path in files.matching(pattern))
        ]
        return Reports(fresh, [path for path in found if path not in set(fresh)], missing)

    def _is_fresh(self, path: str) -> bool:
        before = self._marks.get(path)
        if before is not None:
            return _mark(path) != before
        try:
            return os.stat(path).st_mtime >= self._started - _SLACK
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
