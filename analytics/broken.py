"""Since when tests fail on the default branch: its reports read backwards until each test has passed."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Q

from analytics.kernel.executions import Ints
from analytics.report_vectors import Renames, Vectors, report_vectors
from ingest.models import Project, Report
from ingest.verdict import Verdict

_AT_ONCE = 16
_AT_MOST = 192
"""Reports that are read back: a test that broke earlier has been broken long enough."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The first of a test's failures in a row on the default branch, and how many reports they are."""

    run: int
    commit: str
    started_at: datetime
    reports: int
    at_least: bool = False
    """No pass was found as far back as was read."""


def broken_since(
    project: Project, numbers: Ints, *, until: datetime, renames: Renames, besides: Container[int] = frozenset()
) -> dict[int, Broken]:
    """By test: since when it fails, seen from `until`. Reports `besides`, such as incidents, say nothing."""
    if not len(numbers):
        return {}
    streaks = _Streaks(np.unique(numbers))
    for row, vectors in _backwards(project, until, renames):
        if row["pk"] not in besides:
            streaks.add(row, vectors)
        if not streaks.open.any():
            break
    return streaks.found()


def _backwards(project: Project, until: datetime, renames: Renames) -> Iterator[tuple[dict[str, Any], Vectors]]:
    """Reports of the default branch, newest first."""
    main = Q(run__branch__in=("", project.default_branch), run__pull_request="")
    reports = Report.counted.filter(main, project=project, started_at__lte=until, partial=False)
    fields = ("pk", "run_id", "run__commit", "started_at")
    rows = list(reports.order_by("-started_at", "-pk").values(*fields)[:_AT_MOST])
    for first in range(0, len(rows), _AT_ONCE):
        some = rows[first : first + _AT_ONCE]
        vectors = report_vectors([row["pk"] for row in some], renames, durations=False)
        yield from ((row, vectors[row["pk"]]) for row in some if row["pk"] in vectors)


class _Streaks:
    """Failures in a row so far, by test."""

    def __init__(self, numbers: Ints) -> None:
        self._numbers = numbers
        self.open = np.ones(len(numbers), dtype=bool)
        self._length = np.zeros(len(numbers), dtype=np.int64)
        self._first: list[dict[str, Any] | None] = [None] * len(numbers)

    def add(self, row: dict[str, Any], vectors: Vectors) -> None:
        """One report further back; a test that it does not have, or skipped, is neither passed nor failed."""
        at = np.flatnonzero(np.isin(vectors.numbers, self._numbers))
        place, verdicts = np.searchsorted(self._numbers, vectors.numbers[at]), vectors.verdicts[at]
        for test in place[self.open[place] & np.isin(verdicts, (Verdict.FAIL, Verdict.ERROR))].tolist():
            self._first[test], self._length[test] = row, self._length[test] + 1
        self.open[place[verdicts == Verdict.PASS]] = False

    def found(self) -> dict[int, Broken]:
        rows = zip(self._numbers.tolist(), self._first, self._length.tolist(), self.open.tolist(), strict=True)
        return {
            number: Broken(row["run_id"], row["run__commit"], row["started_at"], length, still)
            for number, row, length, still in rows
            if row is not None
        }
