"""Executions as arrays, sorted by test and then by time: the input of all formulas."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ingest.verdict import Verdict

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_FAIL, _ERROR, _SKIP = int(Verdict.FAIL), int(Verdict.ERROR), int(Verdict.SKIP)
_KEPT = 2**18
"""Rows whose flags are kept."""


@dataclass(frozen=True, slots=True)
class Executions:
    """Row i: attempt `ordinal` of `test` in `report` ended with `verdict` after `duration` seconds.

    Rows are sorted by test, then report, then ordinal; reports are numbered by time."""

    tests: int
    """How many tests there are: they are numbered from 0."""
    test: npt.NDArray[np.integer]
    report: npt.NDArray[np.integer]
    verdict: npt.NDArray[np.integer]
    ordinal: npt.NDArray[np.integer]
    duration: npt.NDArray[np.floating]
    _failing: Flags | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        sizes = {len(column) for column in (self.test, self.report, self.verdict, self.ordinal, self.duration)}
        if len(sizes) > 1:
            raise ValueError(f"columns of different lengths: {sorted(sizes)}")

    @property
    def failing(self) -> Flags:
        """Of a part it is kept, since many formulas ask; of all executions it would take room."""
        if self._failing is not None:
            return self._failing
        failing = np.asarray((self.verdict == _FAIL) | (self.verdict == _ERROR))
        if len(failing) <= _KEPT:
            failing.flags.writeable = False
            object.__setattr__(self, "_failing", failing)
        return failing

    @property
    def executed(self) -> Flags:
        return np.asarray(self.verdict != _SKIP)

    def where(self, chosen: Flags) -> "Executions":
        if chosen.all():
            return self
        return Executions(
            self.tests,
            self.test[chosen],
            self.report[chosen],
            self.verdict[chosen],
            self.ordinal[chosen],
            self.duration[chosen],
        )

    def count(self, chosen: Flags) -> Ints:
        """Chosen rows per test."""
        return np.bincount(self.test[chosen], minlength=self.tests).astype(np.int64)

    @property
    def rank(self) -> Ints:
        """How many rows of the same test precede each."""
        count = np.bincount(self.test, minlength=self.tests)
        return np.arange(len(self.test)) - np.repeat(np.cumsum(count) - count, count)

    @property
    def bounds(self) -> Ints:
        """Where the rows of each test begin, and where the last one's end."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.test, minlength=self.tests))]).astype(np.int64)

    @property
    def last_attempt(self) -> Flags:
        """Whether a row is the last of its test in its report: the test's final result there."""
        last = np.ones(len(self.test), dtype=bool)
        last[:-1] = (self.test[1:] != self.test[:-1]) | (self.report[1:] != self.report[:-1])
        return last

    def any_attempt(self, flags: Flags) -> Flags:
        """For each test and report, in order of `last_attempt`: whether any attempt has the flag."""
        last = self.last_attempt
        if last.all():
            return flags
        starts = np.flatnonzero(np.concatenate([[True], last[:-1]]))
        return np.asarray(np.logical_or.reduceat(flags, starts))


def distinct(values: npt.NDArray[np.integer]) -> Ints:
    """The distinct values, ascending. Flags are far faster than sorting where values lie close together, and sorting
    is far faster than numpy's own hashing for many values."""
    if len(values) and values.min() >= 0 and (top := int(values.max())) < _CLOSE * len(values):
        seen = np.zeros(top + 1, dtype=bool)
        seen[values] = True
        return np.flatnonzero(seen)
    ordered = np.sort(values).astype(np.int64, copy=False)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


_CLOSE = 8
"""Flags take a byte for each possible value: so many times fewer than the values themselves take."""


def places_among(known: Ints, values: Ints) -> Ints:
    """Where each value is among the known ones, which ascend from 0; -1 where it is not."""
    top = int(known[-1]) + 1 if len(known) else 0
    if top < _CLOSE * len(values):
        table = np.full(top + 1, -1, dtype=np.int64)
        table[known] = np.arange(len(known))
        return np.asarray(table[np.minimum(values, top)])
    at = np.searchsorted(known, values)
    return np.where(np.append(known, -1)[at] == values, at, -1)


def counted(values: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """The distinct values, none below zero, ascending, and how often each occurs."""
    if len(values) and int(values.max()) < _CLOSE * len(values):
        count = np.bincount(values)
        known = np.flatnonzero(count)
        return known, count[known]
    known, count = np.unique(values, return_counts=True)
    return known.astype(np.int64), count


def distinct_per(owner: npt.NDArray[np.integer], value: npt.NDArray[np.integer], owners: int = 0) -> Ints:
    """How many distinct values, none below -1, each of `owners` owners has (both by row)."""
    size = int(value.max(initial=-1)) + 2
    cells = distinct(owner.astype(np.int64) * size + value + 1)
    return np.bincount(cells // size, minlength=owners).astype(np.int64)
