"""Which orders are run, round after round: configurations in turn, and the reverse of a random order that was clean."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Sequence

from flakeboard.orders.configurations import CONFIGURATIONS, ONCE, ORIGINAL, RANDOM_METHOD, order_of
from flakeboard.orders.suite import Suite

ISOLATION, ONE_BY_ONE, PAIRS, TWICE = "isolation", "one-by-one", "pairs", "twice"
PARTIAL = (ISOLATION, ONE_BY_ONE, PAIRS, TWICE)
"""Configurations that run parts of the suite, not orders of the whole."""
HOW = (*CONFIGURATIONS, *PARTIAL)
DEFAULT = ("reverse-class-method", "random-class-method")


class Round(NamedTuple):
    number: int
    how: str
    seed: str
    order: tuple[int, ...]

    @property
    def is_random(self) -> bool:
        return self.how.startswith("random")

    @property
    def is_usual(self) -> bool:
        return self.how != RANDOM_METHOD


class Rounds:
    """Draws the orders of an experiment; the caller says after each whether it brought something new."""

    def __init__(self, suite: Suite, how: Sequence[str], seed: str, count: int, reverses: bool = True) -> None:
        self._suite = suite
        self._how = [name for name in how if name not in PARTIAL]
        self._seed = seed
        self._count = count
        self._reverses = reverses
        self._seen: set[tuple[int, ...]] = set()
        self.was_clean = False
        """Whether the latest round brought no test that was not known before."""

    def __iter__(self) -> Iterator[Round]:
        turns = self._turns()
        previous: Round | None = None
        for number in range(1, self._count + 1):
            current = self._reversed(previous, number)
            if current is None:
                how = next(turns, None)
                if how is None:
                    return
                seed = "" if how in ONCE or how == ORIGINAL else self._seed
                current = Round(number, how, seed, tuple(order_of(self._suite, how, self._seed, number)))
            self._seen.add(current.order)
            yield current
            previous = current

    def _turns(self) -> Iterator[str]:
        """Each configuration in turn; those without a draw once."""
        yield from self._how
        repeated = [name for name in self._how if name not in ONCE]
        while repeated:
            yield from repeated

    def _reversed(self, previous: Round | None, number: int) -> Round | None:
        """The reverse of a clean random order, if that was not run yet (Wei 2021)."""
        if not (self._reverses and previous and previous.is_random and self.was_clean):
            return None
        order = previous.order[::-1]
        if order in self._seen:
            return None
        return Round(number, f"reverse-of-{previous.number}", previous.seed, order)
