"""The tests most like each test among those written before it, whatever they are examples of.

Labels change with every analysis, sketches seldom: what is slow is done once, and the backtest chooses from it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.likeness.neighbours import NEAREST, Neighbours, Sketches, distances_of, known, lengths

KEPT = 32
"""Neighbours of a test that are kept: more than are needed, since some of them will not be examples."""
_CELLS = 1_000_000
"""Products that are held at once."""
_MARGIN = 1e-5
"""Which neighbours are kept is decided with 32-bit floats: so near to the last of them others may be left out."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """Units in the order in which they were written."""

    number: Ints
    sketch: Sketches
    near: Neighbours
    """Places in this order."""


def earlier(number: Ints, sketch: Sketches, before: Earlier | None = None) -> Earlier:
    """Nearest earlier units; of a beginning that is the same as `before` nothing is computed again."""
    first = 0 if before is None else _same(number, sketch, before)
    near = _nothing(len(number))
    if before is not None:
        near.example[:first], near.distance[:first] = before.near.example[:first], before.near.distance[:first]
    sketched = np.flatnonzero(known(sketch))
    _fill_all(near, number, sketch, sketched, int(np.searchsorted(sketched, first)))
    return Earlier(number, sketch, near)


def _nothing(count: int) -> Neighbours:
    return Neighbours(np.full((count, KEPT), -1, dtype=np.int64), np.full((count, KEPT), np.nan, dtype=np.float64))


def _fill_all(near: Neighbours, number: Ints, sketch: Sketches, sketched: Ints, first: int) -> None:
    """From the `first` of those with a sketch on: only they have neighbours, and are some."""
    numbers, sketches, found = number[sketched], sketch[sketched].astype(np.float32), _nothing(len(sketched))
    length = lengths(sketch[sketched])
    step = max(1, _CELLS // max(len(sketched), 1))
    for start in range(first, len(sketched), step):
        _fill(found, numbers, sketches, length, start, min(start + step, len(sketched)))
    rows, example = sketched[first:], found.example[first:]
    if len(rows):
        near.example[rows] = np.where(example >= 0, sketched[example], -1)
        near.distance[rows] = found.distance[first:]


def _same(number: Ints, sketch: Sketches, before: Earlier) -> int:
    """How many units at the beginning are the same."""
    size = min(len(number), len(before.number))
    differ = (number[:size] != before.number[:size]) | (sketch[:size] != before.sketch[:size]).any(axis=1)
    return int(np.argmax(differ)) if differ.any() else size


def _fill(
    near: Neighbours, number: Ints, sketch: npt.NDArray[np.float32], length: Floats, start: int, end: int
) -> None:
    products = sketch[start:end] @ sketch[:end].T
    rank = products / -length[:end].astype(np.float32)
    rank[:, start:][np.arange(end - start) >= np.arange(end - start)[:, None]] = np.inf
    count = min(KEPT, end)
    chosen = np.argpartition(rank, count - 1, axis=1)[:, :count]
    usable = np.isfinite(np.take_along_axis(rank, chosen, 1))
    far = distances_of(np.take_along_axis(products, chosen, 1), length[start:end, None], length[chosen])
    far = np.where(usable, far, np.nan)
    order = np.lexsort((number[chosen], far), axis=1)
    near.example[start:end, :count] = np.take_along_axis(np.where(usable, chosen, -1), order, 1)
    near.distance[start:end, :count] = np.take_along_axis(far, order, 1)


@dataclass(frozen=True, slots=True)
class Past:
    """Labelled units among all that were written."""

    all_: Earlier
    place: Ints
    """By labelled unit: its row there, ascending."""

    def like(self, start: int, end: int, flaky: Flags) -> tuple[Floats, Flags]:
        """How much the labelled units from `start` to `end` are like flaky ones before `start`, and where that is not
        sure, because too few of the neighbours that are kept are examples."""
        position = np.full(len(self.all_.number), -1, dtype=np.int64)
        position[self.place] = np.arange(len(self.place))
        rows = self.place[start:end]
        near, far = self.all_.near.example[rows], self.all_.near.distance[rows]
        example = np.where(near >= 0, position[near], -1)
        usable = (example >= 0) & (example < start)
        chosen = usable & (np.cumsum(usable, axis=1) <= NEAREST)
        found = Neighbours(np.where(chosen, example, -1), far).like(flaky[:start])
        with_sketch = known(self.all_.sketch[self.place[:start]])
        farthest = np.where(chosen, far, -np.inf).max(axis=1)
        is_short = (chosen.sum(axis=1) < min(NEAREST, int(with_sketch.sum()))) | (farthest >= far[:, -1] - _MARGIN)
        return found, is_short & (near[:, -1] >= 0)
