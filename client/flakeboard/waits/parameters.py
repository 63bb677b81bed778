"""What the command is asked to do, and its thresholds."""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE = 50
"""Runs with the value as it is now."""
BATCH = 10
"""Runs of a value between two looks at it."""
BESIDE = 2
"""Runs with the reference in each later batch: a machine that gets busy harms it as well."""
SURELY_BAD = 0.99
LIKELY_BAD = 0.5
SURELY_GOOD = 0.1
"""By the second hundred runs of the smallest good value: it was chosen for having failed so rarely."""
SIGNIFICANT = 0.05
CLOSE = 1.25
"""A search ends when the smallest good value is at most so many times the largest bad one."""
VALUES = 8
"""Values that one search tries besides the present one and the lowest."""
LOWEST_TIMEOUT = 64.0
"""A timeout is lowered to this part of itself at most: what a wait of no time does is another question."""
RAISES = (2.0, 4.0, 8.0)
LONGEST = 30.0
"""Seconds; no value is raised beyond."""
SITES = 4
"""Values that are searched in one call of the command."""
POLLS = 30
"""Runs that watch when the condition after a sleep begins to hold."""
EVERY = 0.002
"""Seconds between two looks at it."""
UNKNOWN_FACTOR = 2.0
"""How much slower CI is taken to be where the server does not know."""
DEADLINE = 10.0
"""A deadline is so many times what was needed at most: it costs nothing while the test passes."""
OBSERVED = 3
"""Runs that find the values which the waits of a test are given."""


@dataclass(frozen=True)
class Parameters:
    test: str
    command: tuple[str, ...]
    value: str = ""
    """The site whose value is asked about, as file:line; empty for those that matter most."""
    runs: int = 100
    """Of each value, at most."""
    budget: float = 900.0
    """Seconds."""
    margin: float = 0.03
    """A value may fail by so much more than the present one."""
    polls: bool = True
    code: bool = False
    """List values of the functions in its reach, too."""
