"""Features of runs: everything about a call, an order, a reading of the clock or a run fact that may differ."""

from __future__ import annotations

from statistics import median
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from flakeboard.differences.parameters import TOKENS
from flakeboard.differences.patterns import Category, Number, Pattern, YesNo
from flakeboard.differences.runs import ANY, Key, Occurrence, Run
from flakeboard.traces.limits import FIRST_CALLS
from flakeboard.traces.sources import TIME, category_of
from flakeboard.traces.trace import Site, Token, Value

RESULT, RAISED, REACHED = 1, 2, 3
"""Classes, in the order in which they are told."""


class Feature(NamedTuple):
    what: str
    """`value`, `number`, `length`, `same`, `same earlier`, `took`, `gap`, `raised`, `reached`, `calls`, `results`,
    `before`, `apart`, `fact`, or a relation of two readings of the clock."""
    pattern: Pattern
    level: int
    moment: float
    """Microseconds since the test began, the median over runs that have it."""
    key: Key | None = None
    other: Key | None = None
    """The second call of an order."""
    detail: Any = None
    """The token, the exception, or the name of the fact."""
    is_symptom: bool = False


Runs = Sequence[Run]
Found = Mapping[int, Occurrence]
"""A call in the runs that have it, by their numbers."""


class Context(NamedTuple):
    """What is known of sites from all of their calls."""

    results: Mapping[Site, set[Any]]
    """Different results with their types, of sites that have few."""
    cut_short: set[Site]


def call_features(runs: Runs, context: Context | None = None) -> Iterator[Feature]:
    """Features of single calls, site by site; the context is given where the runs do not have all calls."""
    by_key = calls_by_key(runs)
    failed_at = [run.failed_at for run in runs if run.failed_at is not None]
    usual_failure = median(failed_at) if failed_at else None
    if context is None:
        context = Context(_results_by_site(runs), _sites_cut_short(by_key, runs, usual_failure))
    for key, everywhere in by_key.items():
        if key[2] < 0 and (key[0] in context.cut_short or not _varies(runs, key)):
            continue  # the same call as one from the front, or the last one before the failure
        early = {run: each for run, each in everywhere.items() if not each.is_late}
        if not early:
            if _is_complete(runs):
                yield _late(key, everywhere, runs)
            continue
        yield from _features_of(key, early, everywhere, runs, context.results.get(key[0], set()), usual_failure)


def calls_by_key(runs: Runs) -> dict[Key, dict[int, Occurrence]]:
    by_key: dict[Key, dict[int, Occurrence]] = {}
    for number, run in enumerate(runs):
        for key, occurrence in run.calls.items():
            by_key.setdefault(key, {})[number] = occurrence
    return by_key


def _varies(runs: Runs, key: Key) -> bool:
    """Whether the end of a site's calls is another place than its front, and yet comparable.

    Where failing runs make fewer calls than any passing one, or more, the number of calls is what differs."""
    site = (key[0], key[1])
    failing, passing = ([run.counts.get(site, 0) for run in runs if run.failed is side] for side in (True, False))
    if max(failing) < min(passing) or max(passing) < min(failing):
        return False
    return len({*failing, *passing}) > 1 or max(failing) > FIRST_CALLS


def _sites_cut_short(by_key: Mapping[Key, Found], runs: Runs, usual: float | None) -> set[Site]:
    """Sites that passing runs call after the usual moment of the failure: their last calls are no match."""
    return {
        key[0]
        for key, found in by_key.items()
        if usual is not None and any(each.start >= usual and not runs[run].failed for run, each in found.items())
    }  # fmt: skip


def _is_complete(runs: Runs) -> bool:
    return any(run.failed for run in runs)


def _results_by_site(runs: Runs) -> dict[Site, set[Any]]:
    """Different results of each site that has few."""
    found: dict[Site, set[Any]] = {}
    for run in runs:
        for (site, _, _), occurrence in run.calls.items():
            tokens = found.setdefault(site, set())
            if len(tokens) <= TOKENS and occurrence.raised is None:
                tokens.add((type(occurrence.value), occurrence.value))
    return {site: tokens for site, tokens in found.items() if len(tokens) <= TOKENS}


def _late(key: Key, everywhere: Found, runs: Runs) -> Feature:
    """A call after the failure: part of the failure itself."""
    yes = _mask(everywhere)
    return Feature("reached", YesNo(yes, (1 << len(runs)) - 1), REACHED, _start(everywhere), key, is_symptom=True)


def _features_of(
    key: Key, early: Found, everywhere: Found, runs: Runs, tokens: set[Any], usual: float | None
) -> Iterator[Feature]:
    site, _, place = key
    start, end = _start(early), median(each.end for each in early.values())
    yield from _reached(key, early, everywhere, runs, start, usual)
    carries = not site.is_source and any(each.raised_failure for each in early.values())
    yield from _raised(key, early, start if carries else end, carries)
    answered = {run: each for run, each in early.items() if each.raised is None}
    present = _mask(answered)
    is_clock = category_of(site.callee) == TIME
    if not is_clock:
        for kind, token in sorted(tokens, key=repr):
            yes = _mask(run for run, each in answered.items() if type(each.value) is kind and each.value == token)
            yield Feature("value", YesNo(yes, present), RESULT, end, key, detail=token)
    if not is_clock:
        yield from _numbers(key, answered, end)
    if place > 0:
        yield from _relations(key, answered, end)
    if len(answered) == len(early):
        yield Feature("took", Number({run: each.took for run, each in early.items()}, True), RESULT, end, key)
    gaps = {run: each.gap for run, each in early.items() if each.gap is not None}
    if gaps:
        yield Feature("gap", Number(gaps), RESULT, start, key)


def _reached(
    key: Key, early: Found, everywhere: Found, runs: Runs, start: float, usual: float | None
) -> Iterator[Feature]:
    """Reached or not; unknown where events are cut, or where it was reached after the failure only."""
    unknown = [
        number for number, run in enumerate(runs) if number not in early and (run.is_cut or number in everywhere)
    ]  # fmt: skip
    present = (1 << len(runs)) - 1 & ~_mask(unknown)
    pattern = YesNo(_mask(early), present)
    lacking = [run.failed for number, run in enumerate(runs) if number not in early]
    passing_starts = [each.start for number, each in early.items() if not runs[number].failed]
    is_symptom = bool(
        lacking and all(lacking) and usual is not None and passing_starts and median(passing_starts) >= usual
    )
    yield Feature("reached", pattern, REACHED, start, key, is_symptom=is_symptom)


def _raised(key: Key, early: Found, moment: float, is_symptom: bool) -> Iterator[Feature]:
    raising = {run: each.raised for run, each in early.items() if each.raised is not None}
    if not raising:
        return
    present = _mask(early)
    yield Feature("raised", YesNo(_mask(raising), present), RAISED, moment, key, None, None, is_symptom)
    names = {(token.type, token.errno or token.plain) for token in raising.values()}
    if len(names) > 1 or len(raising) == len(early):
        for name in sorted(names):
            yes = _mask(run for run, token in raising.items() if (token.type, token.errno or token.plain) == name)
            yield Feature("raised", YesNo(yes, present), RAISED, moment, key, None, name, is_symptom)


def _numbers(key: Key, answered: Found, end: float) -> Iterator[Feature]:
    numbers = {run: each.value for run, each in answered.items() if is_number(each.value)}
    if numbers:
        yield Feature("number", Number(numbers), RESULT, end, key)  # type: ignore[arg-type]
    lengths = {
        run: each.value.length
        for run, each in answered.items()
        if isinstance(each.value, Token) and each.value.length is not None
    }
    if lengths:
        yield Feature("length", Number(lengths), RESULT, end, key)


def _relations(key: Key, answered: Found, end: float) -> Iterator[Feature]:
    """Same as the call before, and as any earlier call of the site."""
    present = _mask(run for run, each in answered.items() if each.is_same is not None)
    same = _mask(run for run, each in answered.items() if each.is_same)
    repeated = _mask(run for run, each in answered.items() if each.is_same is not None and each.is_repeated)
    if present:
        yield Feature("same", YesNo(same, present), RESULT, end, key)
        if key[2] > 1 and repeated != same:
            yield Feature("same earlier", YesNo(repeated, present), RESULT, end, key)


def count_features(runs: Runs, symptoms: set[Site]) -> Iterator[Feature]:
    """How many calls of a site there were, and how many different results; not of sites with symptoms."""
    sites: dict[Site, dict[int, int]] = {}
    for number, run in enumerate(runs):
        for (site, _), count in run.counts.items():
            counts = sites.setdefault(site, {})
            counts[number] = counts.get(number, 0) + count
    for site, counts in sites.items():
        if site in symptoms:
            continue
        full = {number: counts.get(number, 0) for number in range(len(runs))}
        key = (site, ANY, 0)
        firsts = [run.firsts[site] for run in runs if site in run.firsts]
        moment = float(median(firsts)) if firsts else 0.0
        yield Feature("calls", Number(full), REACHED, moment, key)
        different = {number: run.results[site] for number, run in enumerate(runs) if site in run.results}
        if different:
            yield Feature("results", Number(different), REACHED, moment, key)


def fact_features(runs: Runs) -> Iterator[Feature]:
    """Facts from before the test; those from after it tell what the failure did."""
    names = {name for run in runs for name in run.facts if name not in _NO_FEATURES and not name.endswith(_AFTER)}
    for name in sorted(names):
        values = {number: run.facts[name] for number, run in enumerate(runs) if run.facts.get(name) is not None}
        plain = set(map(type, values.values()))
        if plain == {bool}:
            pattern: Pattern = YesNo(_mask(number for number, value in values.items() if value), _mask(values))
        elif plain <= {int, float} and name not in _NAMES:
            pattern = Number(values)
        else:
            pattern = Category.of(values)
        yield Feature("fact", pattern, RESULT, -1.0, detail=name)


_NO_FEATURES = ("trace_errors", "threads_left", "attempt", "hash_seed")
_AFTER = ("_after", "_failure")
_NAMES = ("hash", "utc_offset")
"""Facts that are numbers and yet only names."""


def is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _start(found: Found) -> float:
    return float(median(each.start for each in found.values()))


def _mask(numbers: Any) -> int:
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask
