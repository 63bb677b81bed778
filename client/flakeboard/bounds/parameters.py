"""What the command is asked to do, and its thresholds."""

from __future__ import annotations

from dataclasses import dataclass

FIRST, MORE = 100, 50
"""Runs to begin with, and so many more at a time."""
PER_PROCESS = 25
LEAST_RUNS, MOST_RUNS = 100, 3_000
BROKEN_SHARE = 0.5
"""A test of whose first runs so many fail is broken."""
SCAN_RUNS = 30
"""Runs of every test in a scan, before those that vary are run more often."""
SIGNIFICANT = 0.01
SLOWEST = 600.0
"""Seconds that one process may take, unless the budget ends before."""


@dataclass(frozen=True)
class Parameters:
    test: str
    command: tuple[str, ...]
    runs: int = 200
    budget: float = 600.0
    """Seconds."""
    tolerated: float = 0.001
    site: str = ""
    """file:line, or all."""
    keep_seeds: bool = False
    fresh: bool = False
