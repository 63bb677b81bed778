"""What the predictor would have said of each test when it was written, by those that were there before it."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analytics.kernel.executions import Flags
from analytics.kernel.likeness.levels import Cases
from analytics.kernel.likeness.score import Units, score

BLOCKS, FIRST = 20, 4
"""Twentieths: the backtest begins when a fifth is known, and learns anew with each twentieth."""


def backtest(units: Units, flaky: Flags) -> Cases:
    """Scores of units by those before them alone: `units` in the order in which they were written."""
    scores = [
        score(units.take(slice(start, end)), units.take(slice(0, start)), flaky[:start]).score
        for start, end in blocks(len(units))
    ]
    judged = np.concatenate(scores) if scores else np.zeros(0)
    return Cases(judged, flaky[len(flaky) - len(judged) :])


def blocks(count: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each block that is asked about; there is something before each."""
    edges = [count * step // BLOCKS for step in range(FIRST, BLOCKS + 1)]
    for start, end in pairwise(edges):
        if 0 < start < end:
            yield start, end
