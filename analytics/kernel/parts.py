"""Executions, a few tests at a time. Each test is judged by its own rows: so memory does not grow with all of them, and
what is looked at stays in the processor's cache."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Floats

Result = TypeVar("Result")
ROWS = 2**17
"""Of a part, unless a single test has more."""


@dataclass(frozen=True, slots=True)
class ChosenTests:
    """Executions of some tests, taken out only as they are looked at: a copy of them all may be large."""

    every: Executions
    chosen: Flags
    """By test."""

    @property
    def tests(self) -> int:
        return self.every.tests

    def whole(self) -> Executions:
        return self.every.where(self.chosen[self.every.test])


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of neighbouring tests, which are numbered from 0 in it."""

    first: int
    """The number of its first test among all."""
    rows: slice
    """Its rows among all; of chosen tests, among those of every test."""
    executions: Executions

    @property
    def tests(self) -> slice:
        return slice(self.first, self.first + self.executions.tests)


def parts(executions: Executions | ChosenTests) -> Iterator[Part]:
    """Every test is in one of them, by number."""
    every, chosen = (executions, None) if isinstance(executions, Executions) else (executions.every, executions.chosen)
    for first, last, start, stop in _bounds(every):
        inside = Executions(
            last - first,
            every.test[start:stop] - every.test.dtype.type(first) if first else every.test[start:stop],
            every.report[start:stop],
            every.verdict[start:stop],
            every.ordinal[start:stop],
            every.duration[start:stop],
        )
        if chosen is not None and not chosen[first:last].all():
            inside = inside.where(chosen[first:last][inside.test])
        yield Part(first, slice(start, stop), inside)


def _bounds(every: Executions) -> Iterator[tuple[int, int, int, int]]:
    """Tests from the first up to the last, and their rows."""
    first, start, rows = 0, 0, len(every.test)
    while rows - start > ROWS:
        last = int(every.test[start + ROWS])
        stop = _begin(every.test, last)
        if stop <= start:  # one test alone has more
            last += 1
            stop = _begin(every.test, last)
        yield first, last, start, stop
        first, start = last, stop
    if first < every.tests or not first:
        yield first, every.tests, start, rows


def _begin(test: npt.NDArray[np.integer], number: int) -> int:
    """Where the rows of a test begin. A number of another type would have all of them converted."""
    return int(np.searchsorted(test, test.dtype.type(number)))


def by_part(executions: Executions | ChosenTests, judge: Callable[[Part], Result]) -> Result:
    """What is said of each part, joined: a dataclass of arrays by test or by row."""
    return joined([judge(part) for part in parts(executions)])


def joined(results: Sequence[Result]) -> Result:
    """Dataclasses of arrays, or arrays, as one, in their order."""
    if len(results) == 1:
        return results[0]
    if isinstance(results[0], np.ndarray):
        return cast("Result", np.concatenate(cast("Any", results)))
    names = [field.name for field in fields(cast("Any", results[0]))]
    return type(results[0])(**{name: joined([getattr(result, name) for result in results]) for name in names})


def add_weights(sums: Floats, where: npt.NDArray[np.integer], weights: Floats) -> Floats:
    """Sums with more added, one after the other, as if all had been added at once: parts change no digit."""
    place = np.concatenate([np.arange(len(sums)), where])
    return np.bincount(place, weights=np.concatenate([sums, weights]), minlength=len(sums)).astype(np.float64)


def rows_where(executions: Executions | ChosenTests, choose: Callable[[Executions], Flags]) -> Executions:
    """The rows that are chosen from each part, under the numbers that their tests have among all."""
    chosen = [(part.first, part.executions.where(choose(part.executions))) for part in parts(executions)]
    if len(chosen) == 1:
        return chosen[0][1]
    test = np.concatenate([rows.test + rows.test.dtype.type(first) for first, rows in chosen])
    others = ("report", "verdict", "ordinal", "duration")
    columns = (np.concatenate([getattr(rows, name) for _, rows in chosen]) for name in others)
    return Executions(executions.tests, test, *columns)
