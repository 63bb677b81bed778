"""A trace on its way into columns: places of its calls, how they compare with the calls before them, and counts."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from flakeboard.differences.runs import Key, Occurrence, kind_of
from flakeboard.traces.limits import FIRST_CALLS, LAST_CALLS
from flakeboard.traces.trace import Event, Events, Token, Trace, TraceFile

from analytics.kernel.differences.calls import (
    COMPARABLE,
    EARLIER,
    FAILURE,
    FALSE_OR_TRUE,
    HAS_GAP,
    INTEGER,
    LATE,
    NONE,
    PLACE_BITS,
    PLACES,
    RAISED,
    REAL,
    ROLE_BITS,
    ROLES,
    SAME,
    SITE_SHIFT,
    TOKEN,
    VALID,
    CallTable,
    Column,
    Tally,
    TracedCalls,
)

_KINDS = {type(None): NONE, bool: FALSE_OR_TRUE, int: INTEGER, float: REAL, Token: TOKEN}
_READINGS = FIRST_CALLS
"""Readings of a clock by a role: more are not compared."""


def calls_of(table: CallTable, file: TraceFile, trace: Trace) -> TracedCalls:
    return _Reading(table, file, trace).calls()


class _Reading:
    """One trace on its way into columns."""

    def __init__(self, table: CallTable, file: TraceFile, trace: Trace) -> None:
        self._table, self._trace = table, trace
        events = columns_of(trace.events)
        self._events = events
        self._sites = np.array([table.site(site) for site in file.sites], dtype=np.int64)
        self._roles = np.array([table.role(role) for role in trace.roles], dtype=np.int64)
        self.site = self._sites[np.array(events.site, dtype=np.int64)] if len(events) else np.zeros(0, np.int64)
        self.own_role = np.array(events.role, dtype=np.int64)
        self.role = self._roles[self.own_role] if len(events) else np.zeros(0, np.int64)
        self.start = np.array(events.start, dtype=np.int64)
        self.took = np.array(events.took, dtype=np.int64)
        self.kinds, self.values = self._coded(events)

    def calls(self) -> TracedCalls:
        pairs = self.site << ROLE_BITS | self.role
        by_pair, by_site = _Groups(pairs), _Groups(self.site)
        counts = self._counts(by_pair)
        codes, places = self._placed(pairs, counts, by_pair, by_site)
        ascending = np.argsort(codes, kind="stable")
        codes, places = codes[ascending], places[ascending]
        # the same role under two numbers makes the same call twice, of which the client keeps the last
        last = np.append(codes[1:] != codes[:-1], np.ones(min(1, len(codes)), dtype=bool))
        codes, places = codes[last], places[last]
        flags, gap = self._flags()
        kinds, values, raised = self.kinds[places], self.values[places], flags[places] & RAISED > 0
        of_calls, results = self._relations(codes, kinds, values, raised)
        exceptions = self._events.raised
        raising = zip(codes[raised].tolist(), places[raised].tolist(), strict=True)
        trace = self._trace
        return TracedCalls(
            trace.failed_at, trace.raised, kind_of(trace.recipe), trace.facts, trace.cut > 0,
            codes, _small(self.start[places]), _small(self.took[places]), _small(gap[places]), values, kinds,
            flags[places] | of_calls, places.astype(np.int32),
            {code: exceptions[place] for code, place in raising},
            counts, results, Tally(by_site.names, self.start[by_site.first]),
            self._readings(codes, places, flags, gap),
        )  # fmt: skip

    def _coded(self, events: Events) -> tuple[Column, Column]:
        """Values by kind and 64 bits; of a table that many executions share, only what this one has."""
        places, tokens = np.array(events.value, dtype=np.int64), events.tokens
        if len(tokens) > len(places):
            used, places = np.unique(places, return_inverse=True)
            tokens = [tokens[place] for place in used.tolist()]
        kinds = np.array([_KINDS[type(token)] for token in tokens], dtype=np.uint8)
        bits = np.zeros(len(tokens), dtype=np.int64)
        for kind, of_kind in ((FALSE_OR_TRUE, bool), (INTEGER, int)):
            bits[kinds == kind] = [token for token in tokens if type(token) is of_kind]
        real = np.array([token for token in tokens if type(token) is float], dtype=np.float64)
        bits[kinds == REAL] = (real + 0.0).view(np.int64)  # -0.0 equals 0.0
        bits[kinds == TOKEN] = [self._table.token(token) for token in tokens if isinstance(token, Token)]
        return kinds[places], bits[places]

    def _counts(self, by_pair: "_Groups") -> Tally:
        """As many as there are, and more where the trace says so."""
        names, numbers = by_pair.names, by_pair.sizes
        if self._trace.counts:
            more = {
                int(self._sites[site]) << ROLE_BITS | int(self._roles[role]): count
                for (site, role), count in self._trace.counts.items()
            }
            counts = dict(zip(names.tolist(), numbers.tolist(), strict=True)) | more
            names = np.array(sorted(counts), dtype=np.int64)
            numbers = np.array([counts[name] for name in names.tolist()], dtype=np.int64)
        return Tally(names, numbers)

    def _placed(self, pairs: Column, counts: Tally, by_pair: "_Groups", by_site: "_Groups") -> tuple[Column, Column]:
        """Calls and their events: by place from the front, from the end, and in whatever role."""
        totals = counts.numbers[np.searchsorted(counts.names, by_pair.names)]
        size = by_pair.sizes
        front = np.minimum(FIRST_CALLS, np.where(totals <= size, size, np.maximum(0, size - LAST_CALLS)))
        is_front = by_pair.place < front[by_pair.group]
        is_back = (size[by_pair.group] - by_pair.place <= LAST_CALLS) & (totals[by_pair.group] > 1)
        code = pairs << PLACE_BITS
        back = by_pair.place - size[by_pair.group] + PLACES
        in_any = (by_site.place < FIRST_CALLS) & self._in_roles(by_site)
        any_code = self.site << SITE_SHIFT | by_site.place
        chosen = [np.flatnonzero(each) for each in (is_front, is_back, in_any)]
        return (
            np.concatenate([(code | by_pair.place)[chosen[0]], (code | back)[chosen[1]], any_code[chosen[2]]]),
            np.concatenate(chosen),
        )

    def _in_roles(self, by_site: "_Groups") -> Column:
        """Whether a site is called in several roles, or in another than the main one."""
        main = [place for place, role in enumerate(self._trace.roles) if role == "main"]
        first = self.own_role[by_site.first]
        several = np.zeros(len(by_site.names), dtype=bool)
        np.logical_or.at(several, by_site.group, self.own_role != first[by_site.group])
        return np.asarray((several | ~np.isin(first, main))[by_site.group])

    def _flags(self) -> tuple[Column, Column]:
        flags = np.full(len(self.start), VALID, dtype=np.uint8)
        if self._trace.failed_at is not None:
            flags[self.start > self._trace.failed_at] |= LATE
        flags[list(self._events.raised)] |= RAISED
        flags[list(self._trace.symptoms)] |= FAILURE
        order = np.argsort(self.own_role, kind="stable")
        follows = np.append(False, self.own_role[order][1:] == self.own_role[order][:-1])[: len(order)]
        ends = self.start + self.took
        gap = np.zeros(len(self.start), dtype=np.int64)
        gap[order[1:]] = self.start[order[1:]] - ends[order[:-1]]
        flags[order[follows]] |= HAS_GAP
        return flags, gap

    def _relations(self, codes: Column, kinds: Column, values: Column, raised: Column) -> tuple[Column, Tally]:
        """Which calls returned the same as the one before, or as any earlier one; and different results by site."""
        flags = np.zeros(len(codes), dtype=np.uint8)
        is_front = codes % PLACES < FIRST_CALLS
        known = self._is_known(kinds, values)
        is_next = (codes[1:] == codes[:-1] + 1) & (codes[1:] % PLACES > 0)
        follows = np.flatnonzero(is_front[1:] & is_next & ~raised[:-1]) + 1
        flags[follows] |= COMPARABLE
        same = (kinds[follows] == kinds[follows - 1]) & (values[follows] == values[follows - 1]) & known[follows]
        flags[follows[same]] |= SAME
        answered = np.flatnonzero(is_front & ~raised)
        pairs = codes[answered] >> PLACE_BITS
        order = np.lexsort((values[answered], kinds[answered], pairs))
        sorted_ = answered[order]
        alike = (
            (pairs[order][1:] == pairs[order][:-1])
            & (kinds[sorted_[1:]] == kinds[sorted_[:-1]])
            & (values[sorted_[1:]] == values[sorted_[:-1]])
        )
        again = sorted_[1:][alike]
        flags[again[known[again]]] |= EARLIER
        return flags, self._results(codes, kinds, values, sorted_[np.append(True, ~alike)[: len(sorted_)]])

    def _results(self, codes: Column, kinds: Column, values: Column, distinct: Column) -> Tally:
        in_roles = distinct[codes[distinct] >> PLACE_BITS & ROLES > 0]
        sites = codes[in_roles] >> SITE_SHIFT
        order = np.lexsort((values[in_roles], kinds[in_roles], sites))
        sites, chosen = sites[order], in_roles[order]
        fresh = np.append(
            True,
            (sites[1:] != sites[:-1])
            | (kinds[chosen[1:]] != kinds[chosen[:-1]])
            | (values[chosen[1:]] != values[chosen[:-1]]),
        )[: len(sites)]
        return Tally(*np.unique(sites[fresh], return_counts=True))

    def _is_known(self, kinds: Column, values: Column) -> Column:
        """Tokens without a digest stand for values that nobody looked at."""
        return np.asarray(~((kinds == TOKEN) & self._table.are_blank(np.where(kinds == TOKEN, values, 0))))

    def _readings(self, codes: Column, places: Column, flags: Column, gap: Column) -> dict[Key, Occurrence]:
        """The first readings of each clock by each role, as the client compares them."""
        clocks = [site for site in np.unique(self.site).tolist() if self._table.is_clock(site)]
        roles = codes >> PLACE_BITS & ROLES
        is_number = (self.kinds[places] == INTEGER) | (self.kinds[places] == REAL)
        is_front = codes % PLACES < FIRST_CALLS
        wanted = np.flatnonzero(np.isin(codes >> SITE_SHIFT, clocks) & (roles > 0) & is_front & is_number)
        found: dict[Key, Occurrence] = {}
        counts: Counter[tuple[str, bool]] = Counter()
        for place in wanted[np.argsort(places[wanted], kind="stable")].tolist():
            key, event = self._table.key_of(int(codes[place])), int(places[place])
            clock = (key[1], any(name in key[0].callee for name in ("monotonic", "perf_counter")))
            if counts[clock] < _READINGS:
                counts[clock] += 1
                found[key] = Occurrence(
                    self._table.value_of(int(self.kinds[event]), int(self.values[event])),
                    int(self.start[event]), int(self.took[event]),
                    int(gap[event]) if flags[event] & HAS_GAP else None, self._events.raised.get(event),
                    bool(flags[event] & FAILURE), bool(flags[event] & LATE), event,
                )  # fmt: skip
        return found


class _Groups:
    """Members of groups: the group of each, and its place in it."""

    def __init__(self, names: Column) -> None:
        order = np.argsort(names, kind="stable")
        ascending = names[order]
        begins = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1])[: len(names)])
        self.names, self.first = ascending[begins], order[begins]
        self.sizes = np.diff(np.append(begins, len(names)))
        self.group, self.place = np.empty((2, len(names)), dtype=np.int64)
        self.group[order] = np.repeat(np.arange(len(begins)), self.sizes)
        self.place[order] = np.arange(len(names)) - np.repeat(begins, self.sizes)


def _small(column: Column) -> Column:
    """In half of the memory, where the numbers allow it."""
    fits = not len(column) or (column.min() > -(2**31) and column.max() < 2**31)
    return column.astype(np.int32) if fits else column


def columns_of(events: Sequence[Event]) -> Events:
    """Events of a trace that was not read from a file, as if they had been."""
    if isinstance(events, Events):
        return events
    return Events(
        [event.site for event in events],
        [event.role for event in events],
        list(range(len(events))),
        [event.start for event in events],
        [event.took for event in events],
        [event.value for event in events],
        {place: event.raised for place, event in enumerate(events) if event.raised is not None},
        {},
    )
