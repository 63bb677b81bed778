"""The calls of executions as columns, so that millions of them fit into memory and are compared at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flakeboard.differences.runs import ANY, Key, Occurrence, Run
from flakeboard.traces.limits import FIRST_CALLS
from flakeboard.traces.sources import TIME, category_of
from flakeboard.traces.trace import CODE, Site, Token, Value

Column = npt.NDArray[Any]
PLACE_BITS, SITE_SHIFT = 6, 32
"""A call is a number: its site, its role, and its place, from the end as the remainder by 64."""
ROLE_BITS = SITE_SHIFT - PLACE_BITS
PLACES, ROLES = 1 << PLACE_BITS, (1 << ROLE_BITS) - 1
_NO_SITES = np.zeros(0, dtype=np.int64)
NONE, FALSE_OR_TRUE, INTEGER, REAL, TOKEN = range(5)
VALID, LATE, RAISED, FAILURE, HAS_GAP, COMPARABLE, SAME, EARLIER = (1 << bit for bit in range(8))
"""Of a call: it was made, after the failure; it raised, and what made the test fail; another call of its role came
before; the call before can be compared with it, returned the same, or any earlier call did."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers by name; names ascend."""

    names: Column
    numbers: Column

    def items_of(self, wanted: Column) -> list[tuple[int, int]]:
        """Of those names that are among them."""
        places = np.flatnonzero(np.isin(self.names, wanted))
        return list(zip(self.names[places].tolist(), self.numbers[places].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class TracedCalls:
    """One execution; the columns belong to the calls in `codes`, which are ascending."""

    failed_at: int | None
    raised: str
    kind: str
    facts: Mapping[str, Any]
    is_cut: bool
    codes: Column
    start: Column
    took: Column
    gap: Column
    values: Column
    """By their kinds: the number itself, the bits of a float, or the place in the table of tokens."""
    kinds: Column
    flags: Column
    order: Column
    exceptions: Mapping[int, Token]
    """Call -> what it raised."""
    counts: "Tally"
    """Site and role -> how many calls."""
    results: "Tally"
    """Site -> how many different results."""
    firsts: "Tally"
    """Site -> when it was called first."""
    readings: Mapping[Key, Occurrence]
    """The first readings of clocks."""

    def calls_by_site(self) -> list[tuple[int, int]]:
        sites, places = np.unique(self.counts.names >> ROLE_BITS, return_inverse=True)
        totals = np.zeros(len(sites), dtype=np.int64)
        np.add.at(totals, places, self.counts.numbers)
        return list(zip(sites.tolist(), totals.tolist(), strict=True))


class CallTable:
    """Names that executions share, and their values."""

    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.roles: list[str] = [ANY]
        self.tokens: list[Token] = []
        self._sites: dict[Any, int] = {}
        self._roles: dict[str, int] = {ANY: 0}
        self._tokens: dict[Token, int] = {}
        self._blanks = bytearray()

    def site(self, site: Site) -> int:
        place = self._sites.setdefault(site.key, len(self.sites))
        if place == len(self.sites):
            self.sites.append(site)
        return place

    def role(self, role: str) -> int:
        place = self._roles.setdefault(role, len(self.roles))
        if place == len(self.roles):
            self.roles.append(role)
        return place

    def token(self, token: Token) -> int:
        place = self._tokens.setdefault(token, len(self.tokens))
        if place == len(self.tokens):
            self.tokens.append(token)
            self._blanks.append(not (token.digest or token.plain))
        return place

    def are_blank(self, places: Column) -> Column:
        """Tokens without a digest stand for values that nobody looked at."""
        return np.array(self._blanks or [0], dtype=bool)[places]

    def is_source(self, site: int) -> bool:
        return not self.sites[site].callee.startswith(CODE)

    def is_clock(self, site: int) -> bool:
        return category_of(self.sites[site].callee) == TIME

    def key_of(self, code: int) -> Key:
        place = code % PLACES
        role = code >> PLACE_BITS & ROLES
        return self.sites[code >> SITE_SHIFT], self.roles[role], place if place < FIRST_CALLS else place - PLACES

    def code_of(self, key: Key) -> int:
        site, role, place = key
        return self._sites[site.key] << SITE_SHIFT | self._roles[role] << PLACE_BITS | place % PLACES

    def value_of(self, kind: int, bits: int) -> Value:
        if kind == NONE:
            return None
        if kind == FALSE_OR_TRUE:
            return bool(bits)
        if kind == INTEGER:
            return int(bits)
        return float(np.int64(bits).view(np.float64)) if kind == REAL else self.tokens[bits]

    def run_of(self, calls: TracedCalls, failed: bool, wanted: Column, sites: Column = _NO_SITES) -> Run:
        """The execution as the client compares it, with some calls, and what is known of some sites as a whole."""
        places = np.flatnonzero(np.isin(calls.codes, wanted))
        found = {self.key_of(code): self._occurrence(calls, place, code)
                 for place, code in zip(places.tolist(), calls.codes[places].tolist(), strict=True)}  # fmt: skip
        pairs = calls.counts.names[np.isin(calls.counts.names >> ROLE_BITS, sites)]
        counts = {self.key_of(pair << PLACE_BITS)[:2]: count for pair, count in calls.counts.items_of(pairs)}
        return Run(
            failed, calls.kind, calls.failed_at, calls.raised, found, counts, calls.facts, calls.is_cut,
            {self.sites[site]: count for site, count in calls.results.items_of(sites)},
            {self.sites[site]: start for site, start in calls.firsts.items_of(sites)},
        )  # fmt: skip

    def _occurrence(self, calls: TracedCalls, place: int, code: int) -> Occurrence:
        flags = int(calls.flags[place])
        return Occurrence(
            self.value_of(int(calls.kinds[place]), int(calls.values[place])),
            int(calls.start[place]),
            int(calls.took[place]),
            int(calls.gap[place]) if flags & HAS_GAP else None,
            calls.exceptions.get(code),
            bool(flags & FAILURE),
            bool(flags & LATE),
            int(calls.order[place]),
            bool(flags & SAME) if flags & COMPARABLE and not flags & RAISED else None,
            bool(flags & EARLIER),
        )
