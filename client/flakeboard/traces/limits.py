"""How much a trace may hold. The server's settings replace the numbers of `Limits`; the others belong to the format."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_CALLS, LAST_CALLS = 45, 5
"""Calls of one site in one role that are kept, from the front and from the end; those between are counted."""


@dataclass(frozen=True)
class Limits:
    events: int = 20_000
    """Events of an execution; past it the middle is cut."""
    bytes: int = 262_144
    """Of an execution, compressed."""
    traces: int = 2_000
    """Of an upload."""
    sites: int = 20_000
    functions: int = 20_000
    tokens: int = 100_000
    roles: int = 1_000
    facts: int = 100
    files: int = 1_000
    depth: int = 8
    line: int = 4 * 1024 * 1024
    """Bytes."""
    text: int = 512
    """Characters."""


LIMITS = Limits()
