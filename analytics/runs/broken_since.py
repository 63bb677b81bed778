"""Since when tests fail on the default branch: its reports read backwards until each test has passed."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from analytics.kernel.executions import Ints
from analytics.runs.failing_tests import Broken
from analytics.runs.report_vectors import Renames, Vectors, report_vectors
from ingest.default_branch import default_runs
from ingest.models import Project, Report
from ingest.verdict import Verdict

_AT_ONCE = 16
_AT_MOST = 192
"""Reports that are read back: a test that broke earlier has been broken long enough."""


@dataclass(frozen=True, slots=True)
class Since:
    """What is asked: of which tests, and seen from when."""

    numbers: Ints
    until: datetime


def broken_since(
    project: Project, spans: Sequence[Since], *, renames: Renames, besides: Container[int] = frozenset()
) -> list[dict[int, Broken]]:
    """For each that is asked, by test: since when it fails. Reports `besides`, such as incidents, say nothing.

    Reports are read once, however much is asked."""
    streaks = [(since.until, _Streaks(np.unique(since.numbers))) for since in spans]
    newest = max((since.until for since in spans if len(since.numbers)), default=None)
    for row, vectors in _backwards(project, newest, renames) if newest is not None else ():
        for until, streak in streaks:
            if row["placed_at"] <= until and row["pk"] not in besides:
                streak.add(row, vectors)
        if not any(streak.open.any() for _, streak in streaks):
            break
    return [streak.found() for _, streak in streaks]


def _backwards(project: Project, until: datetime, renames: Renames) -> Iterator[tuple[dict[str, Any], Vectors]]:
    """Reports of the default branch, newest first."""
    merged = Report.counted.filter(project=project, placed_at__lte=until, partial=False, run__pull_request="")
    main = merged.filter(default_runs(project, "run__"))
    reports = main if main.exists() else merged  # as the analysis: where nothing ran on the default branch, any is
    fields = ("pk", "run_id", "run__commit", "run__branch", "placed_at")
    rows = list(reports.order_by("-placed_at", "-pk").values(*fields)[:_AT_MOST])
    for first in range(0, len(rows), _AT_ONCE):
        batch = rows[first : first + _AT_ONCE]
        vectors = report_vectors([row["pk"] for row in batch], renames, durations=False)
        yield from ((row, vectors[row["pk"]]) for row in batch if row["pk"] in vectors)


class _Streaks:
    """Failures in a row so far, by test."""

    def __init__(self, numbers: Ints) -> None:
        self._numbers = numbers
        self.open = np.ones(len(numbers), dtype=bool)
        self._length = np.zeros(len(numbers), dtype=np.int64)
        self._first: list[dict[str, Any] | None] = [None] * len(numbers)

    def add(self, row: dict[str, Any], vectors: Vectors) -> None:
        """One report further back; a test that it does not have, or skipped, is neither passed nor failed."""
        if not self.open.any():
            return
        at = np.flatnonzero(np.isin(vectors.numbers, self._numbers))
        place, verdicts = np.searchsorted(self._numbers, vectors.numbers[at]), vectors.verdicts[at]
        for test in place[self.open[place] & np.isin(verdicts, (Verdict.FAIL, Verdict.ERROR))].tolist():
            self._first[test], self._length[test] = row, self._length[test] + 1
        self.open[place[verdicts == Verdict.PASS]] = False

    def found(self) -> dict[int, Broken]:
        rows = zip(self._numbers.tolist(), self._first, self._length.tolist(), self.open.tolist(), strict=True)
        return {
            number: Broken(
                run=row["run_id"],
                commit=row["run__commit"],
                placed_at=row["placed_at"],
                reports=length,
                at_least=still,
                branch=row["run__branch"],
            )
            for number, row, length, still in rows
            if row is not None
        }
