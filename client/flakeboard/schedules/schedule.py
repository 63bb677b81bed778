"""A schedule: the tests that run here in their order, as the server answered or as this client made it itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from flakeboard.console import plain
from flakeboard.problems import Problem, Unreachable
from flakeboard.schedules.request import Request

if TYPE_CHECKING:
    from flakeboard.server.api import Api


@dataclass(frozen=True)
class Schedule:
    order: list[int]
    """Places in the collection, in the order in which they are to run."""
    sentence: str = ""
    """For the log: what was decided and on what ground."""
    notes: list[str] = field(default_factory=list)
    """For `--explain`: what moved, what is added, avoided or left out."""
    warnings: list[str] = field(default_factory=list)
    """What nobody should miss, asked for or not."""

    def rest(self, count: int) -> list[int]:
        """The places that do not run here, in original order."""
        chosen = set(self.order)
        return [place for place in range(count) if place not in chosen]


def ask(api: Api, request: Request, node_ids: Sequence[str]) -> Schedule:
    """The server's schedule. Raises Problem where there is no answer, or one that would lose or invent tests."""
    answer = api.post("schedules", request.body(node_ids))
    return schedule_from(answer, request, node_ids)


def schedule_from(answer: Mapping[str, Any], request: Request, node_ids: Sequence[str]) -> Schedule:
    """The answer as a schedule, checked: numbers of collected tests, none lost, none twice in one shard."""
    count = len(node_ids)
    if request.kind == "shard":
        order = shards_of(answer, request.total, count)[request.index - 1]
    else:
        order = _places(answer.get("order"), count)
    if request.kind == "order" and len(order) != count:
        raise Unreachable("The server's order is not one of the collected tests.")
    sentence, warnings = str(answer.get("sentence") or ""), [str(line) for line in answer.get("warnings") or []]
    return Schedule(order, plain(sentence), notes_of(answer, node_ids), [plain(line) for line in warnings])


def shards_of(answer: Mapping[str, Any], total: int, count: int) -> list[list[int]]:
    """The tests of every shard. A test may be in several, where others need it there; none may be in no shard."""
    shards = answer.get("shards")
    if not isinstance(shards, list) or len(shards) != total:
        raise Unreachable("The server's split has another number of shards.")
    parts = [_places(part, count) for part in shards]
    if len({place for part in parts for place in part}) != count:
        raise Unreachable("The server's split would lose tests.")
    return parts


def _places(written: Any, count: int) -> list[int]:
    if not isinstance(written, list) or not all(type(place) is int and 0 <= place < count for place in written):
        raise Unreachable("The server's schedule names tests that were not collected.")
    if len(set(written)) != len(written):
        raise Unreachable("The server's schedule names a test twice.")
    return list(written)


def notes_of(answer: Mapping[str, Any], node_ids: Sequence[str]) -> list[str]:
    """What `--explain` prints, a line each."""

    def name(place: Any) -> str:
        known = type(place) is int and 0 <= place < len(node_ids)
        return plain(node_ids[place] if known else place, 300)

    def list_of(key: str) -> list[Any]:
        found = answer.get(key)
        return found if isinstance(found, list) else []

    notes = [f"added: {name(place)}, which selected tests need" for place in list_of("added")]
    notes += [f"moved: {name(place)}" for place in list_of("moved")]
    for key, word in (("avoids", "avoided failure"), ("remain", "may still fail"), ("left_out", "left out")):
        for row in list_of(key):
            if isinstance(row, dict):
                notes.append(f"{word}: {name(row.get('test'))}: {plain(row.get('because') or '', 300)}")
    notes += [f"conflict: {plain(line, 300)}" for line in list_of("conflicts")]
    if isinstance(answer.get("shards"), list) and isinstance(answer.get("seconds"), dict):
        notes += _notes_of_seconds(answer["seconds"])
    return notes


_DURATIONS = {
    "own": "of this environment",
    "elsewhere": "of other environments",
    "by_class": "of its class",
    "by_project": "of the project",
}
_LEAST_BOUND = 0.05
"""Seconds; a shorter one would be told as none."""


def _notes_of_seconds(seconds: Mapping[str, Any]) -> list[str]:
    """Where the durations of a split are from, and the bound that no split can beat."""
    counts = {words: seconds.get(name) for name, words in _DURATIONS.items()}
    medians = [f"{words} for {count:,}" for words, count in counts.items() if type(count) is int and count]
    notes = [f"durations are medians {', '.join(medians)}"] if medians else []
    bound = seconds.get("bound")
    if isinstance(bound, (int, float)) and bound >= _LEAST_BOUND:
        notes.append(f"no split can end before {bound:.1f} s")
    return notes


def distinct_ids(node_ids: Sequence[str]) -> tuple[list[int], list[str]]:
    """The places of the first of each id, and a line for each id that comes again: the first counts."""
    first: dict[str, int] = {}
    again: list[str] = []
    for place, node_id in enumerate(node_ids):
        if first.setdefault(node_id, place) != place and node_id not in again:
            again.append(node_id)
    return list(first.values()), [f"two tests are called {plain(node_id, 300)}: the first counts" for node_id in again]


def offline(problem: Problem, how: str, count: int) -> Schedule:
    """What runs without an answer: all of it, or nothing if `--offline fail` says so. Never a split of our own."""
    if how == "fail":
        raise problem
    warning = f"no schedule from the server, so all {count:,} tests run in their original order: {problem}"
    return Schedule(list(range(count)), warnings=[warning])
