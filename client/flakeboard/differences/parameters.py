"""Every threshold of the comparison."""

from __future__ import annotations

LEAST_FAILING, LEAST_PASSING = 1, 3
"""Fewer runs are not compared."""
PRESENCE = 0.8
"""Share of failing and of passing runs that must have a value."""
FEW = 5
"""Below so many failing runs numbers are not compared, except durations far outside of the passing range."""
BEYOND, BEYOND_US = 1.5, 1_000
"""How far outside: times, and microseconds."""
TOKENS = 8
"""A site with more different results in all runs has no features "result is v"."""
PAIRS = 400
"""Pairs of calls whose order is compared."""
PAIR_PRESENCE = 0.9
PAIR_CALLS = 200
"""Calls that are paired: those that are nearest to a call of another role."""
RELABELLINGS, FEWER_RELABELLINGS = 1_000, 200
MANY_FEATURES = 20_000
"""Past so many there are fewer relabellings."""
SIGNIFICANT = 0.05
SHOWN = 5
"""Differences that are told."""
SAME = 1e-9
"""Separations that differ less are equal."""
