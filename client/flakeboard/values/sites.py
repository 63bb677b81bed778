"""Sites of a test, each with the worst value of one run, and how a report writes them."""

from __future__ import annotations

import math
from typing import NamedTuple
from urllib.parse import quote

UPPER, LOWER, SHARE = "upper", "lower", "share"
"""Kinds: a value below a bound, one above a bound, and the used share of a tolerance, whose bound is 1."""
MOST_SITES = 50
"""Of one test."""
MOST_COMPARISONS = 10_000
"""Of one run of one test; what comes after them is not looked at."""
_FORM = 1


class Site(NamedTuple):
    """One assertion: where it is, and which comparison of that line."""

    file: str
    line: int
    ordinal: int


class Value(NamedTuple):
    kind: str
    op: str
    bound: float
    value: float

    @property
    def margin(self) -> float:
        """How far it is beyond its bound; a value that is no number is farthest."""
        if math.isnan(self.value) or math.isnan(self.bound):
            return math.inf
        if math.isinf(self.value) and self.value == self.bound:
            return 0.0
        beyond = self.value - self.bound
        return -beyond if self.kind == LOWER else beyond


class RunValues:
    """The worst value of each site, of one run of one test."""

    def __init__(self) -> None:
        self.sites: dict[Site, Value] = {}
        self.comparisons = 0
        self.left_out = 0
        """Sites beyond the limit."""

    @property
    def is_full(self) -> bool:
        return self.comparisons >= MOST_COMPARISONS

    def add(self, site: Site, value: Value) -> None:
        self.comparisons += 1
        known = self.sites.get(site)
        if known is None and len(self.sites) >= MOST_SITES:
            self.left_out += 1
        elif known is None or value.margin > known.margin:
            self.sites[site] = value


def property_of(site: Site, value: Value) -> str:
    """As in `1 tests/t.py:206:0 upper < 0.1 0.0837`."""
    where = f"{quote(site.file, safe='/.-_')}:{site.line}:{site.ordinal}"
    return f"{_FORM} {where} {value.kind} {value.op} {value.bound!r} {value.value!r}"
