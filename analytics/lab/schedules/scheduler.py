"""Makes schedules: reads what the store knows of the tests, asks the algorithms that client and server share, and says
what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flakeboard.orders import partition, priorities

from analytics.lab.schedules.coverage_selection import NoCoverage, Selection, covered_by, newest_coverage, selected
from analytics.lab.schedules.enhancement import Enhancement, Facts, facts_of
from analytics.lab.schedules.regressions import regressions_of
from analytics.lab.schedules.request import BY_COVERAGE, GIVEN, ORIGINAL, SHARD, ScheduleRequest
from analytics.lab.schedules.splits import (
    Difference,
    NewSplit,
    SplitKey,
    alone,
    answer_for,
    selection_keep,
    split_keep,
    split_of,
)
from analytics.lab.schedules.usual_seconds import UsualSeconds
from analytics.wording import counted
from ingest.models import Project

__all__ = ["NoCoverage", "Schedule", "make_schedule"]


@dataclass(frozen=True, slots=True)
class Schedule:
    kind: str
    by: str
    details: Mapping[str, Any]
    sentence: str
    order: Sequence[int] | None = None
    shards: Sequence[Sequence[int]] | None = None
    id: int | None = None
    is_new: bool = False
    difference: Difference | None = None
    lacking: Sequence[str] = ()
    safe: bool | None = None
    warnings: Sequence[str] = field(default_factory=list)


def make_schedule(project: Project, wish: ScheduleRequest) -> Schedule:
    return _split(project, wish) if wish.kind == SHARD else _ordered(project, wish)


# -- orders and selections ---------------------------------------------------------------------------------------


def _ordered(project: Project, wish: ScheduleRequest) -> Schedule:
    """All tests, or those that a change concerns, by what the request goes by; then enhanced."""
    selection = selected(project, wish.tests, wish.change) if wish.change is not None else None
    facts = facts_of(project, wish)
    order = _by(project, wish, facts)
    if selection is not None:
        chosen = set(selection.chosen)
        order = [place for place in order if place in chosen]
    enhancement = Enhancement(wish.tests, facts)
    enhanced = enhancement.of(order)
    seconds = float(facts.usual.seconds[enhanced].sum())
    details = {**enhancement.details(), "seconds": seconds_told([seconds], seconds, facts.usual)}
    kept, is_new = None, False
    if selection is not None and wish.build:
        made = NewSplit([enhanced], details)
        kept, is_new = selection_keep(project, wish.build, wish.job, wish.by, wish.tests, made)
    return Schedule(
        kind=wish.kind,
        by=wish.by,
        id=None if kept is None else kept.pk,
        is_new=is_new,
        details=details,
        sentence=_sentence(wish, enhanced, seconds, selection),
        order=enhanced,
        safe=None if selection is None else not selection.unsafe,
        warnings=[] if selection is None else [f"selection is not safe: {reason}" for reason in selection.unsafe],
    )


def _by(project: Project, wish: ScheduleRequest, facts: Facts) -> list[int]:
    if wish.by == GIVEN:
        return list(wish.order)
    if wish.by == ORIGINAL:
        return list(range(len(wish.tests)))
    if wish.by in BY_COVERAGE:
        coverage = newest_coverage(project)
        covered = covered_by(coverage, wish.tests, functions=wish.by.endswith("functions"))
        rank = priorities.additional if wish.by.startswith("more-") else priorities.total
        return rank(covered)
    found, runs = regressions_of(project, facts.numbers)
    seconds = facts.usual.seconds.tolist()
    return priorities.by_failures(
        [
            priorities.Record(regressions, executed, seconds[place]) if executed >= 0 else None
            for place, (regressions, executed) in enumerate(zip(found.tolist(), runs.tolist(), strict=True))
        ]
    )


def _sentence(wish: ScheduleRequest, order: Sequence[int], seconds: float, selection: Selection | None) -> str:
    if selection is None:
        return f"{counted(len(order), 'test')} by {wish.by}."
    commit = f"coverage of commit {selection.commit[:12]}"
    if selection.unsafe:
        return f"All {counted(len(order), 'test')} are selected, by {commit}: the selection would not be safe."
    share = f"{len(order):,} of {counted(len(wish.tests), 'test')}"
    return f"{share} selected by {commit}, about {seconds:.0f} s."


# -- splits ------------------------------------------------------------------------------------------------------


def _split(project: Project, wish: ScheduleRequest) -> Schedule:
    key = SplitKey.of(wish.build, wish.job, wish.total, wish.index)
    split, is_new = split_of(project, key), False
    if split is None:
        with alone(project, key):
            split = split_of(project, key)
            if split is None:
                split, is_new = split_keep(project, key, wish.by, wish.tests, _new_split(project, wish))
    answer = answer_for(split, wish.tests, wish.index)
    warnings = [] if answer.difference is None else [_differs(answer.difference)]
    if split.by != wish.by:
        warnings.append(f"The split of this build was made by {split.by}, not by {wish.by}: the first shard decides.")
    return Schedule(
        kind=wish.kind,
        by=split.by,
        details=answer.details,
        sentence=_shard_sentence(wish, answer.parts, answer.details),
        shards=answer.parts,
        id=split.pk,
        is_new=is_new,
        difference=answer.difference,
        lacking=answer.lacking,
        warnings=warnings,
    )


def _differs(difference: Difference) -> str:
    lacks = f"it lacks {counted(len(difference.lacking), 'test')} of the split" if difference.lacking else ""
    more = f"it has {counted(len(difference.more), 'test')} that the split lacks" if difference.more else ""
    how = " and ".join(filter(None, (lacks, more)))
    sentence = f"This shard collected other tests than the one that made the split: {how}."
    if not difference.abandoned:
        return sentence
    were = f"{difference.abandoned:,} of them {'was' if difference.abandoned == 1 else 'were'}"
    return f"{sentence} {were} to run here: the next shard that asks and has them runs them."


def _shard_sentence(wish: ScheduleRequest, parts: Sequence[Sequence[int]], details: Mapping[str, Any]) -> str:
    seconds, tests = details["seconds"]["shards"], counted(len(wish.tests), "test")
    nothing_known = not (details["seconds"]["own"] or details["seconds"]["elsewhere"])
    if not wish.index:
        longest = "no durations are known yet" if nothing_known else f"the longest about {max(seconds):.0f} s"
        return f"{tests} in {counted(wish.total, 'shard')}, {longest}."
    own = f"{len(parts[wish.index - 1]):,} of {tests}"
    if nothing_known:
        return f"Shard {wish.index} of {wish.total}: {own}; no durations are known yet."
    if sum(seconds) < 1:
        return f"Shard {wish.index} of {wish.total}: {own}; all of them take less than a second."
    return f"Shard {wish.index} of {wish.total}: {own}, about {seconds[wish.index - 1]:.0f} s of {sum(seconds):.0f} s."


def _new_split(project: Project, wish: ScheduleRequest) -> NewSplit:
    facts = facts_of(project, wish)
    seconds, total = facts.usual.seconds.tolist(), wish.total
    grouped = partition.groups(len(seconds), facts.known)
    if wish.by == "position":
        parts = partition.by_position(len(seconds), total)
    elif wish.by == "time":
        parts = partition.by_time(seconds, total)
    else:
        own = _new_tests(facts, grouped, total) if wish.index else []
        parts = partition.of_groups(grouped, seconds, total, own, max(wish.index - 1, 0))
    enhancement = Enhancement(wish.tests, facts)
    enhanced = [enhancement.of(part) for part in parts]
    limit = partition.bound(seconds, total, grouped)
    shards = [sum(seconds[place] for place in part) for part in enhanced]
    return NewSplit(enhanced, {**enhancement.details(), "seconds": seconds_told(shards, limit, facts.usual)})


def _new_tests(facts: Facts, grouped: Sequence[Sequence[int]], total: int) -> list[int]:
    """Tests that no run has reported: whether other shards collect them too is not known, so whoever asks first keeps
    them, as far as they are not more than its share."""
    seconds, held = facts.usual.seconds, {test for group in grouped for test in group}
    new = [place for place in np.flatnonzero(facts.numbers < 0).tolist() if place not in held]
    return new if seconds[new].sum() * total <= seconds.sum() else []


def seconds_told(shards: Sequence[float], bound: float, usual: UsualSeconds) -> dict[str, Any]:
    return {
        "shards": [round(seconds, 3) for seconds in shards],
        "bound": round(bound, 3),
        "unknown": usual.unknown,
        "own": usual.own,
        "elsewhere": usual.elsewhere,
        "by_class": usual.by_class,
        "by_project": usual.by_project,
    }
