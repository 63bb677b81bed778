"""The chance of a separation: how often runs that are relabelled at random separate as well by any feature."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from itertools import combinations, product
from typing import Iterable, Iterator, Sequence

from flakeboard.differences.parameters import FEWER_RELABELLINGS, MANY_FEATURES, RELABELLINGS, SAME
from flakeboard.differences.patterns import Labels, Pattern

_SEED = 20190715


class Chances:
    """The largest separations of relabelled runs, of which each chance is a share."""

    def __init__(self, patterns: Iterable[Pattern], failing: int, kinds: Sequence[str]) -> None:
        runs, every = len(kinds), list(patterns)
        own = Labels(failing, runs)
        distinct = sorted(((pattern.most(own), pattern) for pattern in set(every)), key=lambda pair: -pair[0])
        labels = [Labels(mask, runs) for mask in relabellings(failing, kinds, wanted_relabellings(len(every)))]
        self._largest = sorted(_largest(distinct, each) for each in labels)

    @property
    def relabellings(self) -> int:
        return len(self._largest)

    def least(self, chance: float) -> float:
        """The smallest separation that has at most this chance; more than 1 if none has."""
        most = math.floor(chance * (1 + len(self._largest)) + SAME) - 1
        if most < 0:
            return 2.0
        return self._largest[-most - 1] + SAME if most < len(self._largest) else 0.0

    def of(self, separation: float) -> float:
        """(1 + relabellings that separate as well) / (1 + relabellings)."""
        as_well = len(self._largest) - bisect_left(self._largest, separation - SAME)
        return (1 + as_well) / (1 + len(self._largest))


def _largest(patterns: Sequence[tuple[float, Pattern]], labels: Labels) -> float:
    largest = 0.0
    for most, pattern in patterns:
        if most <= largest:
            break
        largest = max(largest, pattern.separation(labels))
        if largest >= 1 - SAME:
            break
    return largest


def wanted_relabellings(features: int) -> int:
    return RELABELLINGS if features <= MANY_FEATURES else FEWER_RELABELLINGS


def relabellings(failing: int, kinds: Sequence[str], wanted: int) -> Iterator[int]:
    """Other choices of the failing runs; labels are exchanged only among runs of one kind. All where they are few."""
    groups: dict[str, list[int]] = {}
    for run, kind in enumerate(kinds):
        groups.setdefault(kind, []).append(run)
    strata = [(runs, sum(failing >> run & 1 for run in runs)) for runs in groups.values()]
    if math.prod(math.comb(len(runs), count) for runs, count in strata) <= wanted:
        for chosen in product(*(combinations(runs, count) for runs, count in strata)):
            mask = sum(1 << run for part in chosen for run in part)
            if mask != failing:
                yield mask
        return
    draw = random.Random(_SEED)  # noqa: S311 - the same runs must give the same chance
    for _ in range(wanted):
        yield sum(1 << run for runs, count in strata for run in draw.sample(runs, count))
