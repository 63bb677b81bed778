"""From what was measured to a value that one can write down."""

from __future__ import annotations

import math

from flakeboard.waits import parameters as limits
from flakeboard.waits.search import NO_EFFECT, RAISE, SLEEP, SMALLER, Search


def rounded_up(seconds: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    if seconds <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(seconds) + 1e-12)
    for step in (1, 2, 5, 10):
        if seconds <= step * power * (1 + 1e-9):
            return round(step * power, 9)
    raise AssertionError(seconds)


def proposal_of(search: Search, factor: float, longest_success: float) -> float | None:
    """The value to write; None if the present one stays. A sleep that makes no difference is removed: 0."""
    good = search.good
    if search.kind == SLEEP:
        if search.verdict == NO_EFFECT:
            return None if good is None else 0.0
        if good is None or search.verdict not in (SMALLER, RAISE):
            return None
        wanted = rounded_up(good * factor)
        return wanted if search.verdict == RAISE or wanted < search.now else None
    wanted = limits.DEADLINE * longest_success * factor
    if search.verdict == RAISE and good is not None:
        wanted = max(wanted, good * factor)
    return rounded_up(wanted) if wanted > search.now else None
