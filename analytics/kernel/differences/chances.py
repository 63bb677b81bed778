"""Chances by relabelling, as in `flakeboard.differences.chances`, all features of a kind at once."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
from flakeboard.differences.chances import Chances, relabellings
from flakeboard.differences.parameters import (
    BEYOND,
    BEYOND_US,
    FEW,
    FEWER_RELABELLINGS,
    MANY_FEATURES,
    PRESENCE,
    RELABELLINGS,
)
from flakeboard.differences.patterns import Category, Labels, Number, Pattern, YesNo

Matrix = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_ROWS = 4_000
"""Features in memory at once."""


class FastChances(Chances):
    """The same chances as the client's, number for number, by arrays."""

    def __init__(self, patterns: Iterable[Pattern], failing: int, kinds: Sequence[str]) -> None:
        runs = len(kinds)
        distinct = set(patterns)
        wanted = RELABELLINGS if len(distinct) <= MANY_FEATURES else FEWER_RELABELLINGS
        masks = list(relabellings(failing, kinds, wanted))
        largest = np.zeros(len(masks))
        if masks:
            labels = _bits(masks, runs)
            sides = _Sides(labels)
            for rows in _batches([pattern for pattern in distinct if isinstance(pattern, YesNo)]):
                np.maximum(largest, _of_statements(rows, sides), out=largest)
            for numbers in _batches([pattern for pattern in distinct if isinstance(pattern, Number)]):
                np.maximum(largest, _of_numbers(numbers, sides, largest), out=largest)
            names = [pattern for pattern in distinct if isinstance(pattern, Category)]
            for place, mask in enumerate(masks if names else ()):
                each = Labels(mask, runs)
                largest[place] = max(largest[place], *(pattern.separation(each) for pattern in names))
        self._largest = sorted(largest.tolist())


class _Sides:
    """Which runs count as failing, by relabelling."""

    def __init__(self, failing: Flags) -> None:
        self.failing = failing
        """Relabellings x runs."""
        self.columns = failing.T.astype(np.float32)
        self.runs = failing.shape[1]
        self.failed = int(failing[0].sum())
        self.passed = self.runs - self.failed

    def sums(self, values: npt.NDArray[np.float32]) -> Matrix:
        """Features x relabellings: the sum over failing runs; whole numbers, so that float32 is exact."""
        return (values @ self.columns).astype(np.float64)

    def present(self, present: Flags) -> tuple[Matrix, Matrix, Flags]:
        """How many failing and passing runs have a value, and whether that is enough."""
        failed = self.sums(present.astype(np.float32))
        passed = present.sum(axis=1, dtype=np.float64)[:, None] - failed
        enough = (failed >= PRESENCE * self.failed) & (passed >= PRESENCE * self.passed)
        return failed, passed, enough & (failed > 0) & (passed > 0)


def _batches(patterns: Sequence[Pattern]) -> Iterator[Sequence[Pattern]]:
    for start in range(0, len(patterns), _ROWS):
        yield patterns[start : start + _ROWS]


def _bits(masks: Sequence[int], runs: int) -> Flags:
    """Masks x runs."""
    size = (runs + 7) // 8
    joined = np.frombuffer(b"".join(mask.to_bytes(size, "little") for mask in masks), dtype=np.uint8)
    return np.unpackbits(joined.reshape(len(masks), size), axis=1, bitorder="little")[:, :runs].astype(bool)


def _shares(counts: Matrix, of: Matrix) -> Matrix:
    return np.divide(counts, of, out=np.zeros_like(counts), where=of > 0)


def _of_statements(patterns: Sequence[Pattern], sides: _Sides) -> Matrix:
    """By relabelling: the largest difference of shares."""
    yes = _bits([pattern.yes for pattern in patterns], sides.runs)  # type: ignore[union-attr]
    present = _bits([pattern.present for pattern in patterns], sides.runs)
    failed, passed, enough = sides.present(present)
    in_failing = sides.sums(yes.astype(np.float32))
    in_passing = yes.sum(axis=1, dtype=np.float64)[:, None] - in_failing
    apart = np.abs(_shares(in_failing, failed) - _shares(in_passing, passed))
    return np.asarray(np.where(enough, apart, 0.0).max(axis=0))


def _of_numbers(patterns: Sequence[Pattern], sides: _Sides, known: Matrix) -> Matrix:
    numbers = [pattern for pattern in patterns if isinstance(pattern, Number)]
    if sides.failed < FEW:
        numbers = [pattern for pattern in numbers if pattern.is_duration]
        return _far_apart(numbers, sides) if numbers else known
    ranks = np.array([pattern.ranks[: sides.runs] for pattern in numbers], dtype=np.float32)
    present = _bits([pattern.present for pattern in numbers], sides.runs)
    failed, passed, enough = sides.present(present)
    wins = sides.sums(ranks) / 2 - failed * (failed - 1) / 2
    pairs = failed * passed
    by_rank = np.abs(np.divide(2 * wins, pairs, out=np.ones_like(wins), where=pairs > 0) - 1)
    by_rank = np.where(enough, by_rank, 0.0)
    largest = np.maximum(by_rank.max(axis=0), known)
    orders = _Orders(numbers, sides.runs)
    for place in range(len(largest)):
        largest[place] = orders.largest_interval(
            sides.failing[place], passed[:, place], enough[:, place], largest[place]
        )
    return np.asarray(largest)


class _Orders:
    """Runs by value, feature by feature, to tell how many passing runs lie inside of the failing range."""

    def __init__(self, numbers: Sequence[Number], runs: int) -> None:
        self._numbers = numbers
        ascending = np.full((len(numbers), runs), runs, dtype=np.int32)
        descending = ascending.copy()
        for row, pattern in enumerate(numbers):
            ascending[row, : len(pattern.order)] = pattern.order
            descending[row, : len(pattern.order)] = pattern.order[::-1]
        self._ascending, self._descending = ascending, descending

    def largest_interval(self, failing: Flags, passed: Matrix, enough: Flags, least: float) -> float:
        """The largest share of passing runs outside of the failing range, if it is more than `least`.

        That needs more than half of so many passing runs at one end, which few features have."""
        here = np.append(failing, False)
        width = int(least * passed.max(initial=0.0) / 2)
        width = max(1, min(width, failing.shape[0]))
        low = ~here[self._ascending[:, :width]].any(axis=1)
        high = ~here[self._descending[:, :width]].any(axis=1)
        mask = None
        for row in np.flatnonzero((low | high) & enough).tolist():
            if mask is None:
                mask = int.from_bytes(np.packbits(failing, bitorder="little").tobytes(), "little")
            least = max(least, self._numbers[row].interval(mask))
        return least


def _far_apart(numbers: Sequence[Number], sides: _Sides) -> Matrix:
    """With few failing runs a duration counts only if all of them lie far outside of the passing range."""
    values = np.full((len(numbers), sides.runs), np.nan)
    for row, pattern in enumerate(numbers):
        values[row, list(pattern.order)] = pattern.values
    present = ~np.isnan(values)
    _, _, enough = sides.present(present)
    rows = np.arange(len(numbers))
    ends = []
    for fill, sign in ((np.inf, 1), (-np.inf, -1)):
        order = np.argsort(sign * np.where(present, values, fill), axis=1, kind="stable")[:, : FEW + 1]
        ends.append((order, ~np.take_along_axis(present, order, axis=1)))
    found = np.zeros(len(sides.failing))
    for place, failing in enumerate(sides.failing):
        (least, most), chosen = (_passing_end(values, rows, failing, *end) for end in ends), np.flatnonzero(failing)
        low, high = np.fmin.reduce(values[:, chosen], axis=1), np.fmax.reduce(values[:, chosen], axis=1)
        slow = (low >= BEYOND * most) & (low >= most + BEYOND_US)
        fast = (high * BEYOND <= least) & (high + BEYOND_US <= least)
        found[place] = float(((slow | fast) & enough[:, place]).any())
    return found


def _passing_end(
    values: Matrix, rows: npt.NDArray[np.int64], failing: Flags, order: npt.NDArray[np.int64], gone: Flags
) -> Matrix:
    """The outermost value of passing runs."""
    first = np.argmin(failing[order] | gone, axis=1)
    return np.asarray(values[rows, order[rows, first]])
