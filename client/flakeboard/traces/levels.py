"""How closely an execution is recorded."""

from __future__ import annotations

LEVELS = ("sources", "functions", "calls")
SOURCES, FUNCTIONS, CALLS = LEVELS
