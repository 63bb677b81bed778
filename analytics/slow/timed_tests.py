"""Tests by the time that they take."""

from dataclasses import dataclass

import numpy as np

from analytics.columns.codec import Columns
from analytics.kernel.executions import Floats, Ints

SORTS = ("total", "seconds", "executed")


@dataclass(frozen=True, slots=True)
class SlowTest:
    number: int
    seconds: float
    """The mean of its passing executions."""
    executed: int
    """All attempts."""
    total: float
    """Seconds of the window, at that mean."""
    share: float
    """Of the time of all tests."""


@dataclass(frozen=True, slots=True)
class TimedTests:
    """Tests whose duration is known, in the order that was asked for."""

    number: Ints
    seconds: Floats
    executed: Ints
    whole: float
    """Seconds of all tests of the window."""

    def __len__(self) -> int:
        return len(self.number)

    @property
    def total(self) -> Floats:
        return np.asarray(self.seconds * self.executed, dtype=np.float64)

    def rows(self, part: slice) -> list[SlowTest]:
        columns = (column[part].tolist() for column in (self.number, self.seconds, self.executed, self.total))
        return [
            SlowTest(number, seconds, executed, total, total / self.whole if self.whole else 0.0)
            for number, seconds, executed, total in zip(*columns, strict=True)
        ]

    def most_of(self, share: float) -> tuple[int, float]:
        """How few tests take at least this share of the time, and the share that they take."""
        reached = np.cumsum(np.sort(self.total)[::-1])
        if not self.whole or not len(reached):
            return 0, 0.0
        few = min(int(np.searchsorted(reached, share * self.whole)), len(reached) - 1)
        return few + 1, float(reached[few]) / self.whole


def timed_tests(columns: Columns, sort: str = "-total", numbers: Ints | None = None) -> TimedTests:
    """Sorted by one of `SORTS`, with a minus downwards; `numbers` leaves only those tests, not their whole."""
    if not len(columns):
        none = np.zeros(0, dtype=np.int64)
        return TimedTests(none, np.zeros(0), none, 0.0)
    seconds = columns["seconds"].astype(np.float64)
    executed = columns["attempts_executed"].astype(np.int64)
    kept = np.isfinite(seconds) & (executed > 0)
    whole = float((seconds[kept] * executed[kept]).sum())
    if numbers is not None:
        kept &= np.isin(columns["number"], numbers)
    found = TimedTests(columns["number"][kept].astype(np.int64), seconds[kept], executed[kept], whole)
    key = getattr(found, sort.removeprefix("-"))
    order = np.argsort(-key if sort.startswith("-") else key, kind="stable")
    return TimedTests(found.number[order], found.seconds[order], found.executed[order], whole)
