"""What the predictor would have said of each test when it was written, by those that were there before it."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analytics.kernel.executions import Flags, Floats
from analytics.kernel.likeness.earlier import Past
from analytics.kernel.likeness.levels import Cases
from analytics.kernel.likeness.score import Units, beside, mean_of, score

BLOCKS, FIRST = 20, 4
"""Twentieths: the backtest begins when a fifth is known, and learns anew with each twentieth."""


def backtest(units: Units, flaky: Flags, past: Past | None = None) -> Cases:
    """Scores of units by those before them alone: `units` in the order in which they were written.

    `past` makes it quick and changes nothing."""
    scores = [_scores(units, flaky, start, end, past) for start, end in blocks(len(units))]
    judged = np.concatenate(scores) if scores else np.zeros(0)
    return Cases(judged, flaky[len(flaky) - len(judged) :])


def _scores(units: Units, flaky: Flags, start: int, end: int, past: Past | None) -> Floats:
    questions, examples, learnt = units.take(slice(start, end)), units.take(slice(0, start)), flaky[:start]
    if past is None:
        return score(questions, examples, learnt).score
    like, is_open = past.like(start, end, flaky)
    if is_open.any():
        like[is_open] = score(questions.take(is_open), examples, learnt).like
    return mean_of(like, beside(questions, examples, learnt))


def blocks(count: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each block that is asked about; there is something before each."""
    edges = [count * step // BLOCKS for step in range(FIRST, BLOCKS + 1)]
    for start, end in pairwise(edges):
        if 0 < start < end:
            yield start, end
