"""Orders by the names that options take."""

from __future__ import annotations

ORDERS = ("failures", "statements", "more-statements", "functions", "more-functions")
"""What `order` and `select` can go by; the last four need coverage."""
NEXT, SEED = "next", "seed:"
