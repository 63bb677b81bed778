"""How much a file of reach, and a file of changes, may hold. The server's settings replace these numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReachLimits:
    tests: int = 100_000
    """Lines of tests in one file."""
    functions: int = 100_000
    files: int = 50_000
    """Opened files, listed folders and modules, all tests together."""
    opened: int = 1_000
    """Files that one test opened; of a test that opens more, what it used is not known."""
    line: int = 4 * 1024 * 1024
    """Bytes."""
    text: int = 512
    """Characters of a path or a name."""
    depth: int = 6
    changed_files: int = 5_000
    changed_ranges: int = 50_000
    changed_bytes: int = 16 * 1024 * 1024


LIMITS = ReachLimits()
