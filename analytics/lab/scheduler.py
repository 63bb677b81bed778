"""Makes schedules: reads what the store knows of the tests, asks the algorithms that client and server share, and says
what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flakeboard.orders import partition
from flakeboard.orders.dependencies import Dependency

from analytics.kernel.executions import Ints
from analytics.lab.collected_tests import numbers_of
from analytics.lab.constraints import constraints_of
from analytics.lab.schedule_request import SHARD, ScheduleRequest
from analytics.lab.splits import Difference, NewSplit, SplitKey, answer_for, split_keep, split_of
from analytics.lab.usual_seconds import UsualSeconds, usual_seconds
from analytics.wording import counted
from ingest.models import Project

_NOTHING: Mapping[str, Any] = {name: [] for name in ("added", "moved", "left_out", "avoids", "remain", "conflicts")}


class NoCoverage(Exception):
    """What was asked for goes by coverage, and none is kept that would do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


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


# -- splits ------------------------------------------------------------------------------------------------------


def _split(project: Project, wish: ScheduleRequest) -> Schedule:
    key = SplitKey.of(wish.build, wish.job, wish.total, wish.index)
    split, is_new = split_of(project, key), False
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
    return f"This shard collected other tests than the one that made the split: {how}."


def _shard_sentence(wish: ScheduleRequest, parts: Sequence[Sequence[int]], details: Mapping[str, Any]) -> str:
    seconds = details["seconds"]["shards"]
    if not wish.index:
        tests, shards = counted(len(wish.tests), "test"), counted(wish.total, "shard")
        return f"{tests} in {shards}, the longest about {max(seconds):.0f} s."
    own = f"{len(parts[wish.index - 1]):,} of {counted(len(wish.tests), 'test')}"
    return f"Shard {wish.index} of {wish.total}: {own}, about {seconds[wish.index - 1]:.0f} s of {sum(seconds):.0f} s."


def _new_split(project: Project, wish: ScheduleRequest) -> NewSplit:
    facts = _facts(project, wish)
    seconds, total = facts.usual.seconds.tolist(), wish.total
    if wish.by == "position":
        parts = partition.by_position(len(seconds), total)
    elif wish.by == "time":
        parts = partition.by_time(seconds, total)
    else:
        parts = partition.by_groups(seconds, total, facts.known)
    limit = partition.bound(seconds, total, partition.groups(len(seconds), facts.known))
    shards = [sum(seconds[place] for place in part) for part in parts]
    return NewSplit(parts, {**_NOTHING, "seconds": _seconds(shards, limit, facts.usual)})


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the store knows of the collected tests."""

    numbers: Ints
    usual: UsualSeconds
    known: Sequence[Dependency]


def _facts(project: Project, wish: ScheduleRequest) -> _Facts:
    numbers = numbers_of(project, wish.tests)
    usual = usual_seconds(project, numbers, [name[0] for name in wish.tests.names], wish.environment)
    known = constraints_of(project, numbers, inferred=wish.inferred) if wish.enhance else []
    return _Facts(numbers, usual, known)


def _seconds(shards: Sequence[float], bound: float, usual: UsualSeconds) -> dict[str, Any]:
    return {
        "shards": [round(seconds, 3) for seconds in shards],
        "bound": round(bound, 3),
        "unknown": usual.unknown,
        "own": usual.own,
        "elsewhere": usual.elsewhere,
        "by_class": usual.by_class,
        "by_project": usual.by_project,
    }


def _ordered(project, wish):
    raise NotImplementedError
