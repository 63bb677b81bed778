"""Sixteen shards that ask at once, while results arrive, one of them with another collection, one of them again; and a
real history split by its durations."""

import os
import random
import tarfile
from collections.abc import Callable, Iterable
from statistics import median
from xml.etree import ElementTree

from flakeboard.orders.dependencies import Dependency, positive
from flakeboard.orders.outcomes import broken
from flakeboard.orders.partition import bound, by_groups, groups

from analytics.lab.schedules.collected_tests import CollectedTests
from analytics.lab.schedules.models import Split
from analytics.lab.schedules.request import SHARD, ScheduleRequest
from analytics.lab.schedules.scheduler import make_schedule
from bench.outcome import Outcome
from ingest.metadata import RunMetadata
from ingest.models import Project
from ingest.processing import upload_process
from ingest.services import project_create, upload_receive
from tests.at_once import at_once
from tests.conftest import body_of
from tests.lab.schedules.suites import Names, document, names_of
from tests.paths import DATA

SHARDS = 16
TIMES = int(os.environ.get("SPLITS", "1000"))
HISTORY = DATA / "histories" / "tfscreen.tar.xz"


def run() -> Iterable[Outcome]:
    yield from _at_once()
    if HISTORY.exists():
        yield from _real()


def _at_once() -> Iterable[Outcome]:
    project = project_create(slug="splits", name="splits")
    names = names_of(120)
    lost = twice = splits = changed = 0
    for time in range(TIMES):
        draw = random.Random(time)
        odd, retried = draw.randrange(SHARDS), draw.randrange(SHARDS)
        more = [*names, ["tests.new", "test_only_here", "tests/new.py"]]
        collected = [more if index == odd else names for index in range(SHARDS)]
        jobs = [_asking(project, collected[index], index, str(time)) for index in range(SHARDS)]
        results = at_once(*jobs, lambda time=time: _upload(project, names, time))
        failed = [result for result in results if isinstance(result, Exception)]
        if failed:
            raise failed[0]
        ran = [name for tests in results[:SHARDS] for name in tests]
        lost += len({name for _, name, _ in more} - set(ran))
        twice += len(ran) - len(set(ran))
        changed += jobs[retried]() != results[retried]
        splits += Split.objects.filter(project=project, build=str(time)).count()
    yield Outcome(f"{TIMES} splits of 120 tests, sixteen shards at once: tests lost", lost, most=0)
    yield Outcome("tests in two shards", twice, most=0)
    yield Outcome("retried shards that got other tests", changed, most=0)
    yield Outcome("splits a build", splits / TIMES, most=1)


def _asking(project: Project, names: Names, index: int, build: str) -> Callable[[], list[str]]:
    def ask() -> list[str]:
        tests = CollectedTests([(classname, name, file) for classname, name, file in names])
        wish = ScheduleRequest(SHARD, "groups", tests, build=build, job="test", total=SHARDS, index=index + 1)
        return [names[place][1] for place in make_schedule(project, wish).shards[index]]

    return ask


def _upload(project: Project, names: Names, seed: int) -> None:
    """Results after which the suite would be split otherwise."""
    draw = random.Random(seed)
    body = body_of(document(names, seconds={name: draw.uniform(0.1, 30) for _, name, _ in names}))
    upload, _ = upload_receive(project=project, body=body, metadata=RunMetadata(build_id=f"results {seed}"))
    upload_process(upload_id=upload.pk)


def _real() -> Iterable[Outcome]:
    """By the durations of one run, beside the best that any split can do and pytest-split's way."""
    seconds = _durations()
    needs = _dependencies(len(seconds))
    for total in (4, 16):
        for what, known in (("", []), (f", {len(needs)} tests that need another", needs)):
            shown = f"tfscreen, {len(seconds):,} tests{what}, {total} shards"
            parts, theirs = by_groups(seconds, total, known), _least_duration(seconds, total)
            least = bound(seconds, total, groups(len(seconds), known))
            most = (sum(seconds) / total + bound(seconds, len(seconds), groups(len(seconds), known))) / least
            yield Outcome(f"{shown}: longest shard, times the bound", _longest(parts, seconds) / least, most=most)
            beside = _longest(theirs, seconds) / least
            yield Outcome("the same as pytest-split's least_duration", beside, aim="not below ours")
            yield Outcome("longer than that by", _longest(parts, seconds) / least - beside, most=1e-9)
            yield Outcome("dependencies that it breaks", _broken(parts, known), most=0)
            if known:
                yield Outcome("dependencies that least_duration breaks", _broken(theirs, known), aim="no bar")


def _least_duration(seconds: list[float], total: int) -> list[list[int]]:
    """Longest first, each to the group with the least seconds so far; inside a group the original order."""
    parts: list[list[int]] = [[] for _ in range(total)]
    ends = [0.0] * total
    for test in sorted(range(len(seconds)), key=lambda test: -seconds[test]):
        shard = ends.index(min(ends))
        parts[shard].append(test)
        ends[shard] += seconds[test]
    return [sorted(part) for part in parts]


def _dependencies(count: int) -> list[Dependency]:
    """Two hundred tests that need an earlier one."""
    draw = random.Random(1)
    return [positive(*sorted(draw.sample(range(count), 2))) for _ in range(200)]


def _broken(parts: list[list[int]], known: list[Dependency]) -> int:
    return sum(len(broken(part, known)) for part in parts)


def _length(tests: Iterable[int], seconds: list[float]) -> float:
    return sum(seconds[test] for test in tests)


def _longest(parts: list[list[int]], seconds: list[float]) -> float:
    return max(_length(part, seconds) for part in parts)


def _durations() -> list[float]:
    """The median of each test of the history."""
    seconds: dict[tuple[str, str], list[float]] = {}
    with tarfile.open(HISTORY) as archive:
        for member in archive:
            if member.name.endswith(".xml"):
                for case in ElementTree.fromstring(archive.extractfile(member).read()).iter("testcase"):
                    test = case.get("classname", ""), case.get("name", "")
                    seconds.setdefault(test, []).append(float(case.get("time") or 0))
    return [median(each) for each in seconds.values()]
