"""Features of two calls: which of two roles came first, and readings of the clock that are next to each other."""

from __future__ import annotations

import datetime
import math
from statistics import median
from typing import Iterator, Sequence

from flakeboard.differences.features import RESULT, Feature, Found, Runs, calls_by_key, is_number
from flakeboard.differences.parameters import PAIR_CALLS, PAIR_PRESENCE, PAIRS
from flakeboard.differences.patterns import Number, YesNo
from flakeboard.differences.runs import ANY, Key, Run
from flakeboard.traces.sources import TIME, category_of

_STEADY = ("monotonic", "perf_counter")
_PARTS = ("second", "minute", "hour", "weekday", "day", "month")
_BOUNDARIES = ("second", "minute", "hour", "day", "month")


def order_features(runs: Runs) -> Iterator[Feature]:
    """Pairs of calls of different roles: which ended first, and how long the other took after it."""
    usual = nearest_calls(_present_calls(runs))
    ends = [(key, {run: float(each.end) for run, each in found.items()}) for key, found in usual]
    pairs = []
    for place, (first, own) in enumerate(ends):
        for other, others in ends[place + 1 :]:
            if first[1] != other[1]:
                pairs.append(_pair(first, own, other, others))
    pairs.sort(key=lambda pair: pair[0])
    for _, first, other, apart in pairs[:PAIRS]:
        present = sum(1 << run for run in apart)
        before = sum(1 << run for run, gap in apart.items() if gap > 0)
        moment = max(_ends(usual, first), _ends(usual, other))
        yield Feature("before", YesNo(before, present), RESULT, moment, first, other)
        yield Feature("apart", Number(apart), RESULT, moment, first, other)


def _present_calls(runs: Runs) -> list[tuple[Key, Found]]:
    """Calls that nearly all failing and nearly all passing runs made before any failure."""
    failed = sum(run.failed for run in runs)
    passed = len(runs) - failed
    found = []
    for key, everywhere in calls_by_key(runs).items():
        if key[1] == ANY or key[2] not in (0, -1):
            continue
        early = {run: each for run, each in everywhere.items() if not each.is_late}
        in_failing = sum(runs[run].failed for run in early)
        enough = in_failing >= PAIR_PRESENCE * failed and len(early) - in_failing >= PAIR_PRESENCE * passed
        if enough:
            found.append((key, early))
    return sorted(found, key=lambda pair: (min(each.order for each in pair[1].values()), repr(pair[0])))


def nearest_calls(usual: list[tuple[Key, Found]]) -> list[tuple[Key, Found]]:
    """Those that usually end nearest to a call of another role: of all of them, pairs would be too many."""
    if len(usual) <= PAIR_CALLS:
        return usual
    ends = [_end(found) for _, found in usual]
    near = nearest([key[1] for key, _ in usual], ends, PAIR_CALLS)
    return [usual[place] for place in sorted(near)]


def nearest(roles: Sequence[str], ends: Sequence[float], most: int) -> list[int]:
    """The places of so many calls whose ends are nearest to that of a call of another role."""
    distances = [math.inf] * len(ends)
    for ascending in (True, False):
        # Of the calls that ended so far only the last of two different roles can be the nearest of another role.
        last: tuple[str, float] | None = None
        other: tuple[str, float] | None = None
        for place in sorted(range(len(ends)), key=lambda place: (ends[place], place), reverse=not ascending):
            before = last if last is not None and last[0] != roles[place] else other
            if before is not None:
                distances[place] = min(distances[place], abs(ends[place] - before[1]))
            if last is not None and last[0] != roles[place]:
                other = last
            last = (roles[place], ends[place])
    return sorted(range(len(ends)), key=lambda place: (distances[place], place))[:most]


def _end(found: Found) -> float:
    return float(median(each.end for each in found.values()))


def _pair(
    first: Key, ends: dict[int, float], other: Key, other_ends: dict[int, float]
) -> tuple[tuple[bool, float], Key, Key, dict[int, float]]:
    """Pairs whose order changes come first, then those that are close."""
    apart = {run: other_ends[run] - end for run, end in ends.items() if run in other_ends}
    signs = {gap > 0 for gap in apart.values()}
    return (len(signs) < 2, abs(median(apart.values())) if apart else 0.0), first, other, apart


def _ends(usual: list[tuple[Key, Found]], key: Key) -> float:
    return next(_end(found) for each_key, found in usual if each_key == key)


# -- the clock ---------------------------------------------------------------------------------------------------


def clock_features(runs: Runs) -> Iterator[Feature]:
    """Readings next to each other: equal, or with a boundary between them; parts of the first reading."""
    readings = [_readings(run) for run in runs]
    for kind in sorted({kind for each in readings for kind in each}):
        sequences = {number: each[kind] for number, each in enumerate(readings) if kind in each}
        if not kind[1]:
            yield from _parts(sequences)
        most = max(len(sequence) for sequence in sequences.values())
        for place in range(1, min(most, 45)):
            yield from _neighbours(sequences, place, is_steady=kind[1])


def _readings(run: Run) -> dict[tuple[str, bool], list[tuple[Key, float, int]]]:
    """Readings by role and kind of clock, in order: call, seconds, end."""
    found: dict[tuple[str, bool], list[tuple[Key, float, int]]] = {}
    for key, each in run.calls.items():
        site, role, place = key
        if role == ANY or place < 0 or category_of(site.callee) != TIME or not is_number(each.value) or each.is_late:
            continue
        seconds = float(each.value) / (1e9 if site.callee.endswith("_ns") else 1)  # type: ignore[arg-type]
        steady = any(name in site.callee for name in _STEADY)
        found.setdefault((role, steady), []).append((key, seconds, each.order))
    for sequence in found.values():
        sequence.sort(key=lambda reading: reading[2])
    return found


def _parts(sequences: dict[int, list[tuple[Key, float, int]]]) -> Iterator[Feature]:
    firsts = {run: sequence[0] for run, sequence in sequences.items()}
    key = next(iter(firsts.values()))[0]
    moments = {run: datetime.datetime.fromtimestamp(seconds) for run, (_, seconds, _) in firsts.items()}
    for part in _PARTS:
        values = {run: float(_part(moment, part)) for run, moment in moments.items()}
        yield Feature("part", Number(values), RESULT, 0.0, key, detail=part)


def _part(moment: datetime.datetime, part: str) -> int:
    return moment.weekday() if part == "weekday" else int(getattr(moment, part))


def _neighbours(sequences: dict[int, list[tuple[Key, float, int]]], place: int, is_steady: bool) -> Iterator[Feature]:
    pairs = {
        run: (sequence[place - 1], sequence[place]) for run, sequence in sequences.items() if len(sequence) > place
    }
    key, before = next(iter(pairs.values()))[1][0], next(iter(pairs.values()))[0][0]
    present = sum(1 << run for run in pairs)
    moment = float(place)
    elapsed = {run: round(later[1] - earlier[1], 6) for run, (earlier, later) in pairs.items()}
    yield Feature("elapsed", Number(elapsed), RESULT, moment, key, before)
    if is_steady:
        return
    equal = sum(1 << run for run, gap in elapsed.items() if gap == 0)
    yield Feature("equal", YesNo(equal, present), RESULT, moment, key, before)
    same = sum(1 << run for run, (earlier, later) in pairs.items() if int(earlier[1] * 1e3) == int(later[1] * 1e3))
    yield Feature("same millisecond", YesNo(same, present), RESULT, moment, key, before)
    for part in _BOUNDARIES:
        other = sum(
            1 << run
            for run, (earlier, later) in pairs.items()
            if _part(datetime.datetime.fromtimestamp(earlier[1]), part)
            != _part(datetime.datetime.fromtimestamp(later[1]), part)
        )
        yield Feature("boundary", YesNo(other, present), RESULT, moment, key, before, detail=part)
