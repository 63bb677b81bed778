"""What the command is asked to do, and its thresholds."""

from __future__ import annotations

from dataclasses import dataclass

FAILING, PASSING = 5, 20
"""Runs that are enough to compare."""
EACH_WAY = 10
"""Runs in which a difference is held, and as many in which it is forced."""
TRIED = 3
"""Differences that are tried."""
SIGNIFICANT = 0.01
HELD_FAILURES = 1
"""So many runs may fail though the difference is held."""
PER_KIND = 10
"""Runs of one kind of stirring until it is given up."""
SLOWER = 10.0
"""A run may take so many times as long as the first."""
LEAST_LIMIT = 30.0
"""Seconds."""
FACTOR = 20.0
"""By which the time limit of a wait is raised, or lowered."""


@dataclass(frozen=True)
class Parameters:
    test: str
    command: tuple[str, ...]
    runs: int = 100
    budget: float = 600.0
    """Seconds."""
    level: str = "calls"
    stir: tuple[str, ...] | None = None
    """Kinds of stirring; None for those that what was recorded suggests."""
    tries: bool = True
    in_suite: bool = False
