"""Sixteen shards that ask at once, while results arrive, one of them with another collection, one of them again; and a
real history split by its durations."""

import os
import random
import tarfile
from collections.abc import Callable, Iterable
from xml.etree import ElementTree

from analytics.lab.collected_tests import CollectedTests
from analytics.lab.schedule_request import SHARD, ScheduleRequest
from analytics.lab.scheduler import make_schedule
from analytics.lab.split_models import Split
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
    """By the durations of one run, beside the best that any split can do."""
    from flakeboard.orders.partition import bound, by_groups, by_position

    seconds = _durations()
    for total in (4, 16):
        parts = by_groups(seconds, total, [])
        longest = max(sum(seconds[test] for test in part) for part in parts)
        dealt = max(sum(seconds[test] for test in part) for part in by_position(len(seconds), total))
        least = bound(seconds, total, [[test] for test in range(len(seconds))])
        what = f"tfscreen, {len(seconds):,} tests, {total} shards: longest shard by the bound"
        yield Outcome(what, longest / least, most=(least + max(seconds)) / least)
        yield Outcome("the same by position", dealt / least, aim="not below ours")


def _durations() -> list[float]:
    """Of the largest report of the history."""
    with tarfile.open(HISTORY) as archive:
        reports = [member for member in archive if member.name.endswith(".xml")]
        content = archive.extractfile(max(reports, key=lambda member: member.size)).read()
    return [float(case.get("time") or 0) for case in ElementTree.fromstring(content).iter("testcase")]
