"""Runs to compare: the traces of a test, with names of sites and roles that all of them share."""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterable, Mapping, NamedTuple, Tuple

from flakeboard.traces.limits import FIRST_CALLS, LAST_CALLS
from flakeboard.traces.trace import FAILED, PASSED, Site, Token, Trace, TraceFile, Value

ANY = "*"
"""In place of a role: calls of a site in whatever role, by start, since pools swap threads."""
PLAIN = "plain"
"""The kind of runs that nothing was done to."""

Key = Tuple[Site, str, int]
"""A call: site, role, and its place from the front (from 0) or from the end (from -1)."""


class Occurrence(NamedTuple):
    """A call as it was in one run."""

    value: Value
    start: int
    took: int
    gap: int | None
    """Microseconds since the event before in its role."""
    raised: Token | None
    raised_failure: bool
    """It raised the exception that made the test fail, or passed it on."""
    is_late: bool
    """It began after the failure."""
    order: int
    """Its place among all events of the run."""
    is_same: bool | None = None
    """Whether it returned the same as the call before; None where there is none to compare it with."""
    is_repeated: bool = False
    """Whether it returned the same as any earlier call."""

    @property
    def end(self) -> int:
        return self.start + self.took


class Run(NamedTuple):
    failed: bool
    kind: str
    failed_at: int | None
    raised: str
    calls: Mapping[Key, Occurrence]
    counts: Mapping[tuple[Site, str], int]
    facts: Mapping[str, Any]
    is_cut: bool
    """Events are missing from its middle, so that a call which is not there may have been made."""
    results: Mapping[Site, int] = {}
    """How many different results the calls of a site had, of those that are known by their place from the front."""
    firsts: Mapping[Site, int] = {}
    """When each site was called first."""
    abouts: Mapping[Site, str] = {}
    recipe: Mapping[str, Any] = {}


class Interned:
    """Sites of several files: equal ones become one, whatever line they are in."""

    def __init__(self) -> None:
        self._sites: dict[Any, Site] = {}

    def site(self, site: Site) -> Site:
        return self._sites.setdefault(site.key, site)


def runs_of(files: Iterable[TraceFile], test: str) -> list[Run]:
    """The runs of a test that passed or failed."""
    interned = Interned()
    return [
        run_of(file, trace, interned)
        for file in files
        for trace in file.traces
        if trace.test == test and trace.outcome in (PASSED, FAILED)
    ]


def run_of(file: TraceFile, trace: Trace, interned: Interned) -> Run:
    sites = [interned.site(site) for site in file.sites]
    symptoms = set(trace.symptoms)
    by_call: dict[tuple[Site, str], list[Occurrence]] = {}
    in_any: dict[Site, list[Occurrence]] = {}
    abouts: dict[Site, str] = {}
    before: dict[int, int] = {}
    roles: dict[Site, set[int]] = {}
    for place, event in enumerate(trace.events):
        site = sites[event.site]
        gap = event.start - before[event.role] if event.role in before else None
        before[event.role] = event.start + event.took
        is_late = trace.failed_at is not None and event.start > trace.failed_at
        occurrence = Occurrence(
            event.value, event.start, event.took, gap, event.raised, place in symptoms, is_late, place
        )  # fmt: skip
        by_call.setdefault((site, trace.roles[event.role]), []).append(occurrence)
        in_any.setdefault(site, []).append(occurrence)
        roles.setdefault(site, set()).add(event.role)
        if event.about:
            abouts.setdefault(site, event.about)
    counts = Counter({key: len(found) for key, found in by_call.items()})
    counts.update({(sites[site], trace.roles[role]): count - counts[sites[site], trace.roles[role]]
                   for (site, role), count in trace.counts.items()})  # fmt: skip
    calls: dict[Key, Occurrence] = {}
    for (site, role), found in by_call.items():
        calls.update(_places(site, role, found, counts[site, role]))
    for site, found in in_any.items():
        if len(roles[site]) > 1 or trace.roles[next(iter(roles[site]))] != "main":
            calls.update({(site, ANY, place): each for place, each in enumerate(_related(found[:FIRST_CALLS]))})
    return Run(
        trace.outcome == FAILED, kind_of(trace.recipe), trace.failed_at, trace.raised, calls, counts, trace.facts,
        trace.cut > 0, _results(calls), {site: found[0].start for site, found in in_any.items()}, abouts, trace.recipe,
    )  # fmt: skip


def _results(calls: Mapping[Key, Occurrence]) -> dict[Site, int]:
    found: dict[Site, set[Any]] = {}
    for (site, role, place), each in calls.items():
        if role != ANY and place >= 0 and each.raised is None:
            found.setdefault(site, set()).add((type(each.value), each.value))
    return {site: len(values) for site, values in found.items()}


def _places(site: Site, role: str, found: list[Occurrence], count: int) -> dict[Key, Occurrence]:
    """Calls by their places: from the front as far as they are kept from the front, and from the end."""
    front = found if count <= len(found) else found[: max(0, len(found) - LAST_CALLS)]
    front = _related(front[:FIRST_CALLS])
    places: dict[Key, Occurrence] = {(site, role, place): each for place, each in enumerate(front)}
    if count > 1:
        places.update({(site, role, place - len(found)): found[place] for place in range(len(found))[-LAST_CALLS:]})
    return places


def _related(found: list[Occurrence]) -> list[Occurrence]:
    """Calls in their order, each with what it returned compared with the calls before it."""
    related, seen = [], set()
    before: Occurrence | None = None
    for each in found:
        result = (type(each.value), each.value)
        if before is not None and before.raised is None and each.raised is None:
            is_same = is_known(each.value) and result == (type(before.value), before.value)
            each = each._replace(is_same=is_same, is_repeated=result in seen)
        if each.raised is None and is_known(each.value):
            seen.add(result)
        before = each
        related.append(each)
    return related


def is_known(value: Value) -> bool:
    """Tokens without a digest stand for values that nobody looked at: whether two of them are equal is not known."""
    return not isinstance(value, Token) or bool(value.digest or value.plain)


def kind_of(recipe: Mapping[str, Any]) -> str:
    return str(recipe.get("stir") or PLAIN)
