"""FaTB's rule for the next value of a wait, as published (Lam 2021, ch. 8), and the sequences that it printed."""

import math
from collections.abc import Callable
from typing import NamedTuple


class PublishedTest(NamedTuple):
    number: int
    pre: int
    """Milliseconds before the developer's fix."""
    values: tuple[int, ...]
    """Tried in turn; the first is that of the fix."""
    failing: tuple[float, ...]
    """Share of 100 runs at each."""


PUBLISHED = (
    PublishedTest(1, 300, (600, 450, 225, 413, 206), (0, 0, 0.73, 0, 0.82)),
    PublishedTest(2, 600, (1000, 800, 400, 200, 100), (0,) * 5),
    PublishedTest(3, 0, (600, 300, 150, 75, 37), (0,) * 5),
    PublishedTest(4, 0, (100, 50, 25, 12, 6), (0,) * 5),
    PublishedTest(5, 15, (150, 83, 41, 20, 10), (0,) * 5),
)
_VALUES = 5


def published_values(now: int, pre: int, failing: Callable[[int], float], values: int = _VALUES) -> list[int]:
    """The values that the rule tries: the midpoint with what was before, half of what never failed, and the midpoint
    with the present value of what did. Halves are rounded down, midpoints half up."""
    tried, value = [now], _middle(now, pre)
    while len(tried) < values:
        tried.append(value)
        value = _middle(value, now) if failing(value) else value // 2
    return tried


def _middle(value: int, other: int) -> int:
    return math.floor((value + other) / 2 + 0.5)
