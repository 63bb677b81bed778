"""Chances by relabelling, as in `flakeboard.differences.chances`, all features of a kind at once."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from flakeboard.differences.chances import Chances, relabellings, wanted_relabellings
from flakeboard.differences.parameters import FEW, PRESENCE
from flakeboard.differences.patterns import Category, Labels, Number, Pattern, YesNo

from analytics.kernel.differences.matrices import (
    Flags,
    Ints,
    Matrix,
    Numbers,
    Side,
    Small,
    Statements,
    bits,
    far_apart,
)

_ROWS = 2_000
"""Features in memory at once."""
_NEAR = 8
"""Places at either end of the order that are looked at first."""


class FastChances(Chances):
    """The same chances as the client's, number for number, by arrays."""

    def __init__(
        self,
        patterns: Iterable[Pattern],
        failing: int,
        kinds: Sequence[str],
        statements: Statements | None = None,
        numbers: Numbers | None = None,
        features: int = 0,
    ) -> None:
        """Of patterns, and of so many `features` that are rows already."""
        runs, every = len(kinds), list(patterns)
        masks = list(relabellings(failing, kinds, wanted_relabellings(features + len(every))))
        statements, numbers = statements or Statements(runs), numbers or Numbers(runs)
        few = failing.bit_count() < FEW
        statements.add_patterns([each for each in every if isinstance(each, YesNo)])
        numbers.add_patterns([each for each in every if isinstance(each, Number)], few)
        largest = np.zeros(len(masks))
        if masks:
            sides = _Sides(bits(masks, runs))
            names = [each for each in set(every) if isinstance(each, Category)]
            for place, mask in enumerate(masks if names else ()):
                own = Labels(mask, runs)
                largest[place] = max(pattern.separation(own) for pattern in names)
            sides.raise_by_statements(statements, largest)
            if few:
                sides.raise_by_durations(numbers, largest)
            else:
                sides.raise_by_ranks(numbers, largest)
        self._largest = sorted(largest.tolist())


class _Sides:
    """Which executions count as failing, by relabelling."""

    def __init__(self, failing: Flags) -> None:
        self.failing = failing
        """Relabellings x executions."""
        self.columns = failing.T.astype(np.float32)
        self.runs = failing.shape[1]
        self.failed = int(failing[0].sum())
        self.passed = self.runs - self.failed

    def sums(self, values: Small) -> Matrix:
        """Features x relabellings: the sum over failing executions; whole numbers, so that float32 is exact."""
        return (values.astype(np.float32) @ self.columns).astype(np.float64)

    def present(self, present: Flags) -> tuple[Matrix, Matrix, Flags]:
        """How many failing and passing executions have a value, and whether that is enough."""
        failed = self.sums(present)
        passed = present.sum(axis=1, dtype=np.float64)[:, None] - failed
        enough = (failed >= PRESENCE * self.failed) & (passed >= PRESENCE * self.passed)
        return failed, passed, enough & (failed > 0) & (passed > 0)

    def raise_by_statements(self, statements: Statements, largest: Matrix) -> None:
        """By relabelling: the largest difference of shares."""
        every = zip(_joined(statements.yes), _joined(statements.present), strict=True)
        for packed_yes, packed_present in every:
            yes, present = statements.unpacked(packed_yes), statements.unpacked(packed_present)
            whole = present.all(axis=1)
            in_failing = self.sums(yes[whole])
            in_passing = yes[whole].sum(axis=1, dtype=np.float64)[:, None] - in_failing
            _raise(largest, np.abs(in_failing / self.failed - in_passing / self.passed))
            yes, present = yes[~whole], present[~whole]
            failed, passed, enough = self.present(present)
            in_failing = self.sums(yes)
            in_passing = yes.sum(axis=1, dtype=np.float64)[:, None] - in_failing
            apart = np.abs(in_failing / np.maximum(failed, 1) - in_passing / np.maximum(passed, 1))
            _raise(largest, np.where(enough, apart, 0.0))

    def raise_by_ranks(self, numbers: Numbers, largest: Matrix) -> None:
        for ranks, orders in zip(_joined(numbers.ranks), _joined(numbers.orders), strict=True):
            present = _present(ranks, orders)
            failed, passed, enough = self.present(present)
            wins = self.sums(ranks) / 2 - failed * (failed - 1) / 2
            by_rank = np.abs(2 * wins / np.maximum(failed * passed, 1) - 1)
            _raise(largest, np.where(enough, by_rank, 0.0))
            ends = _Ends(ranks, orders, present)
            for place in range(len(largest)):
                own = (self.failing[place], passed[:, place], enough[:, place])
                largest[place] = ends.largest_interval(*own, float(largest[place]))

    def raise_by_durations(self, numbers: Numbers, largest: Matrix) -> None:
        for values in _joined(numbers.durations):
            for place, failing in enumerate(self.failing):
                if largest[place] < 1:
                    largest[place] = max(largest[place], float(far_apart(values, Side(failing)).max(initial=0.0)))


def _joined(parts: Sequence[Small]) -> Iterator[Small]:
    """Rows in batches of one size."""
    rows = np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.uint8)
    for start in range(0, len(rows), _ROWS):
        yield rows[start : start + _ROWS]


def _raise(largest: Matrix, separations: Matrix) -> None:
    if len(separations):
        np.maximum(largest, separations.max(axis=0), out=largest)


def _present(ranks: Small, orders: Small) -> Flags:
    """A rank of 0 is that of the least value alone, or of none: the least value comes first in the order."""
    present = ranks > 0
    np.put_along_axis(present, orders[:, :1].astype(np.int64), True, axis=1)
    return np.asarray(present)


class _Ends:
    """Executions by value, feature by feature, to tell how many passing ones lie inside of the failing range."""

    def __init__(self, ranks: Small, orders: Small, present: Flags) -> None:
        self._ranks, self._present = ranks, present
        counts = present.sum(axis=1)
        self._runs = ranks.shape[1]
        place = np.arange(self._runs)[None, :]
        self._ascending = np.where(place < counts[:, None], orders, self._runs).astype(np.int64)
        last_first = np.maximum(counts[:, None] - 1 - place, 0)
        descending = np.take_along_axis(orders, last_first, axis=1)
        self._descending = np.where(place < counts[:, None], descending, self._runs).astype(np.int64)
        self._near = [np.ascontiguousarray(each[:, :_NEAR]) for each in (self._ascending, self._descending)]

    def largest_interval(self, failing: Flags, passed: Ints | Matrix, enough: Flags, least: float) -> float:
        """The largest share of passing executions outside of the failing range, if it is more than `least`.

        That needs more than half of so many passing ones at one end, which few features have."""
        here = np.append(failing, False)
        width = max(1, min(int(least * float(passed.max(initial=0.0)) / 2), self._runs))
        rows = np.zeros(len(enough), dtype=bool)
        for near, whole in zip(self._near, (self._ascending, self._descending), strict=True):
            clear = np.flatnonzero(~here[near[:, :width]].any(axis=1) & enough)
            rows[clear[~here[whole[clear, :width]].any(axis=1)]] = True
        for row in np.flatnonzero(rows).tolist():
            having = np.flatnonzero(self._present[row]).tolist()
            number = Number(dict(zip(having, self._ranks[row, having].tolist(), strict=True)))
            mask = int.from_bytes(np.packbits(failing, bitorder="little").tobytes(), "little")
            least = max(least, number.interval(mask))
        return least
