"""The worked example of Wei 2021, without its tests that change nothing: a victim in Hadoop, two polluters that share
11 cleaners, and 20 more cleaners of the second."""

from __future__ import annotations

from flakeboard.orders.outcomes import Polluter, Victim
from flakeboard.orders.suite import Case, Suite

SUITE = Suite(
    [
        Case("v", ("victim",)),
        *(Case(f"p{n}", ("polluters",)) for n in range(2)),
        *(Case(f"c{n}", ("polluters",)) for n in range(11)),
        Case("d", ("victim",)),
        *(Case(f"d{n}", (f"other{n % 6}",)) for n in range(19)),
    ]
)
VICTIM = Victim(0, (Polluter((1,), tuple(range(3, 14))), Polluter((2,), tuple(range(3, 34)))))

COMPATIBLE = 115 / 2496
ANY_ORDER = 0.1041
REVERSE = 0.0483
"""Exact, where the publication sampled 4.5, 10.5 and 4.9 %."""
