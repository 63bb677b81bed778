"""The tests most like a test, by the cosine of their sketches.

After FLAST (Bertolino et al. 2020, Verdecchia et al. 2021)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Flags, Floats, Ints

Sketches = npt.NDArray[np.int8]
"""A row a test, 256 signed numbers; all zero where there is no sketch."""

NEAREST = 7
"""What FLAST takes; 3 changes its average precision by less than 0.02."""
LEAST_DISTANCE = 0.001
"""A copy counts a thousand times as much as a test that shares nothing, and not infinitely more."""
_CELLS = 4_000_000
"""Distances that are held at once."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """By question: its nearest examples, the nearest first; -1 and NaN where there are fewer."""

    example: Ints
    distance: Floats

    def like(self, flaky: Flags) -> Floats:
        """The share of flaky examples among the nearest, each weighed by how near it is; NaN without any."""
        if not self.example.size:
            return np.full(len(self.example), np.nan)
        there = self.example >= 0
        weight = np.where(there, 1 / np.maximum(np.where(there, self.distance, 1.0), LEAST_DISTANCE), 0.0)
        total = weight.sum(axis=1)
        shared = np.where(flaky[self.example], weight, 0.0).sum(axis=1)
        return np.asarray(np.divide(shared, total, out=np.full(len(total), np.nan), where=total > 0))


def known(sketches: Sketches) -> Flags:
    """Which rows are sketches at all."""
    return np.asarray(sketches.any(axis=1))


def nearest(questions: Sketches, examples: Sketches, number: Ints, most: int = NEAREST) -> Neighbours:
    """The nearest examples of each question by cosine distance; ties go to the lower number."""
    count = min(most, len(examples))
    example = np.full((len(questions), count), -1, dtype=np.int64)
    distance = np.full((len(questions), count), np.nan)
    if count:
        for row, far in _distances(questions, examples):
            rim = np.partition(far, count - 1)[count - 1]
            near = np.flatnonzero(far <= rim)
            chosen = near[np.lexsort((number[near], far[near]))][:count]
            example[row], distance[row] = chosen, far[chosen]
    return Neighbours(example, distance)


def _distances(questions: Sketches, examples: Sketches) -> Iterator[tuple[int, Floats]]:
    """For each question that has a sketch: its distance from every example.

    Products of two sketches are whole numbers below 2**24, so that they are exact as 32-bit floats and equal sketches
    have equal distances, whatever the order of the sums."""
    theirs, length = examples.astype(np.float32), lengths(examples)
    with_sketch = np.flatnonzero(known(questions))
    step = max(1, _CELLS // max(len(examples), 1))
    for start in range(0, len(with_sketch), step):
        rows = with_sketch[start : start + step]
        products = questions[rows].astype(np.float32) @ theirs.T
        yield from zip(rows.tolist(), distances_of(products, lengths(questions[rows])[:, None], length), strict=True)


def distances_of(products: npt.NDArray[np.float32], length: Floats, other: Floats) -> Floats:
    """One less the cosine; rounding makes no distance negative."""
    return np.asarray(np.maximum(1 - products.astype(np.float64) / (length * other), 0.0))


def lengths(sketches: Sketches) -> Floats:
    squares = (sketches.astype(np.int64) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squares, 1)), dtype=np.float64)
