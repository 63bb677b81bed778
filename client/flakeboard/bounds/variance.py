"""Whether values of one process differ less than those of different ones: an analysis of variance by permutation.

And the interval of a share by Clopper and Pearson, for those who send nothing. No scipy is needed for either."""

from __future__ import annotations

import math
import random
from typing import Sequence

_PERMUTATIONS = 999


def p_value_of_groups(values: Sequence[float], groups: Sequence[int]) -> float:
    """The chance of groups whose means differ so much, if it makes no difference which group a value is of."""
    if len(set(groups)) < 2 or not all(math.isfinite(value) for value in values) or len(set(values)) < 2:
        return 1.0
    ranks = _ranks(values)  # values of any size, without one that outweighs all others
    own = _between(ranks, groups)
    draw = random.Random(len(values))  # noqa: S311 - the same values get the same answer
    shuffled = list(ranks)
    more = 0
    for _ in range(_PERMUTATIONS):
        draw.shuffle(shuffled)
        more += _between(shuffled, groups) >= own
    return (more + 1) / (_PERMUTATIONS + 1)


def _ranks(values: Sequence[float]) -> list[float]:
    place = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return [float(place[value]) for value in values]


def _between(values: Sequence[float], groups: Sequence[int]) -> float:
    """The part of the squares that the means of the groups explain."""
    sums: dict[int, list[float]] = {}
    for value, group in zip(values, groups):
        held = sums.setdefault(group, [0.0, 0.0])
        held[0] += value
        held[1] += 1
    return sum(total * total / count for total, count in sums.values())


def clopper_pearson(failed: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    tail = (1 - confidence) / 2
    low = 0.0 if failed == 0 else _root(lambda p: 1 - _below(failed - 1, runs, p) - tail)
    high = 1.0 if failed == runs else _root(lambda p: tail - _below(failed, runs, p))
    return low, high


def _below(most: int, runs: int, p: float) -> float:
    """The chance of at most so many failures."""
    if p <= 0:
        return 1.0
    if p >= 1:
        return float(most >= runs)
    logs = (
        math.lgamma(runs + 1)
        - math.lgamma(k + 1)
        - math.lgamma(runs - k + 1)
        + k * math.log(p)
        + (runs - k) * math.log1p(-p)
        for k in range(most + 1)
    )
    return min(1.0, math.fsum(math.exp(value) for value in logs))


def _root(rising: object) -> float:
    """Where a rising function of a share crosses 0."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < 0:  # type: ignore[operator]
            low = middle
        else:
            high = middle
    return (low + high) / 2
