"""The orders in which tests run, and the order-dependent tests that fail in them."""

from collections.abc import Sequence

import numpy as np

from analytics.kernel.executions import Flags, Ints
from analytics.simulation.names import Names
from analytics.simulation.truth import Flake, Kind

USUAL = -1
"""The order of files, which is that of suites, classes and test numbers."""


class Sequences:
    """Every order that occurs, each kept once. Shuffling keeps suites and classes together."""

    def __init__(self, names: Names, flakes: Sequence[Flake], rng: np.random.Generator) -> None:
        self._names, self._flakes, self._rng = names, flakes, rng
        self._known: dict[bytes, int] = {}
        self._failing: list[Flags] = []
        self._keys: dict[int, tuple[Ints, ...]] = {}
        self.orders: list[Ints] = []

    def of(self, shuffle: int, present: Ints) -> int:
        """The number of the order of the present tests in that shuffle."""
        order = present[np.lexsort(tuple(key[present] for key in self._sort_keys(shuffle)))]
        number = self._known.setdefault(order.tobytes(), len(self.orders))
        if number == len(self.orders):
            self.orders.append(order)
            self._failing.append(self._fails_in(order))
        return number

    def failing(self, number: int) -> Flags:
        """By flaky test: whether the order makes it fail; False if it does not depend on order."""
        return self._failing[number]

    def _sort_keys(self, shuffle: int) -> tuple[Ints, ...]:
        names = self._names
        if shuffle == USUAL:
            return np.arange(len(names.tests)), names.group
        if shuffle not in self._keys:
            suites, classes = self._rng.permutation(names.suite.max() + 1), self._rng.permutation(names.group.max() + 1)
            tests = self._rng.permutation(len(names.tests))
            self._keys[shuffle] = (tests, classes[names.group], suites[names.suite])
        return self._keys[shuffle]

    def _fails_in(self, order: Ints) -> Flags:
        step = np.full(len(self._names.tests), -1, dtype=np.int64)
        step[order] = np.arange(len(order))
        return np.array([_fails(flake, step) for flake in self._flakes], dtype=bool)


def _fails(flake: Flake, step: Ints) -> bool:
    """Whether a victim runs after its polluter, or a brittle test without its state-setter."""
    if flake.kind not in (Kind.VICTIM, Kind.BRITTLE):
        return False
    position = step[flake.number]
    before = [test for test in flake.partners if 0 <= step[test] < position]
    if flake.kind is Kind.BRITTLE:
        return not before
    polluted = max((step[test] for test in before), default=-1)
    cleaned = max((step[test] for test in flake.cleaners if 0 <= step[test] < position), default=-1)
    return bool(polluted > cleaned)
