"""Tests of a simulated project that have no role yet."""

import numpy as np

from analytics.kernel.executions import Ints
from analytics.simulation.names import Names


class Vacancies:
    """Tests without a role, in random order."""

    def __init__(self, names: Names, tests: int, renamed: Ints, rng: np.random.Generator) -> None:
        self._names = names
        self._numbers = [int(number) for number in rng.permutation(np.setdiff1d(np.arange(tests), renamed))]

    def take(self, count: int) -> list[int]:
        if count > len(self._numbers):
            raise ValueError(f"{count} more parts than tests that are free: ask for more tests")
        return [self._numbers.pop() for _ in range(count)]

    def take_of_one_class(self, count: int) -> list[int]:
        """Tests of one class in the order in which they usually run."""
        by_class: dict[int, list[int]] = {}
        for number in reversed(self._numbers):
            mates = by_class.setdefault(int(self._names.group[number]), [])
            mates.append(number)
            if len(mates) == count:
                self._numbers = [free for free in self._numbers if free not in mates]
                return sorted(mates)
        raise ValueError(f"no class has {count} tests that are free: ask for more tests or fewer suites")
