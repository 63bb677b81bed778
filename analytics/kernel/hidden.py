"""How many flaky tests have not failed yet. See docs/concepts.md#hidden-flaky-tests."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Ints


@dataclass(frozen=True, slots=True)
class Hidden:
    """Flaky tests by how often they were seen to fail, and a lower bound on all that there are."""

    found: int
    once: int
    twice: int

    @property
    def at_least(self) -> float:
        """Chao's lower bound in its bias-corrected form: many tests seen once mean that more were not seen at all."""
        return self.found + self.once * (self.once - 1) / (2 * (self.twice + 1))

    def within(self, tests: int) -> int:
        """The bound, of so many tests. It takes them to fail independently: where many failed once in the same run,
        it can be above all that there are. Then it says nothing, and what was found stands."""
        return int(self.at_least) if self.at_least <= tests else self.found


def hidden(failed: Ints) -> Hidden:
    """From the number of runs that each flaky test failed."""
    return Hidden(int(np.count_nonzero(failed > 0)), int(np.sum(failed == 1)), int(np.sum(failed == 2)))
