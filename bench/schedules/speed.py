"""How long a schedule of 50,000 tests takes, and the next order of 5,000."""

import random
import time
from collections.abc import Callable, Iterable

import numpy as np

from analytics.lab import order_proposals
from analytics.lab.collected_tests import CollectedTests
from analytics.lab.order_proposals import proposal
from analytics.lab.schedule_request import ORDER, SHARD, ScheduleRequest
from analytics.lab.scheduler import make_schedule
from analytics.services import analysis_refresh
from bench.outcome import Outcome
from ingest.metadata import RunMetadata
from ingest.models import Project
from ingest.processing import upload_process
from ingest.services import project_create, upload_receive
from tests.conftest import body_of
from tests.lab.schedules.suites import Names, document, names_of

LARGE, NIGHTLY = 50_000, 5_000
ROUNDS = 20


def run() -> Iterable[Outcome]:
    yield from _schedules()
    yield from _next_orders()


def _schedules() -> Iterable[Outcome]:
    project, names = project_create(slug="large", name="large"), names_of(LARGE)
    for number in range(20):
        _send(project, names, number)
    analysis_refresh(project=project)
    tests = CollectedTests([(classname, name, file) for classname, name, file in names])

    def shard(number: int) -> None:
        make_schedule(project, ScheduleRequest(SHARD, "groups", _anew(tests), build=str(number), total=16, index=1))

    def order(number: int) -> None:
        make_schedule(project, ScheduleRequest(ORDER, "failures", _anew(tests)))

    yield Outcome(f"a new split of {LARGE:,} tests, p95", _p95(shard), "s", most=1)
    yield Outcome("the same split again, p95", _p95(lambda number: shard(0)), "s", most=1)
    yield Outcome(f"an order of {LARGE:,} tests by failures, p95", _p95(order), "s", most=1)


def _anew(tests: CollectedTests) -> CollectedTests:
    """As a request brings them: nothing is known of them yet."""
    return CollectedTests(tests.names)


def _next_orders() -> Iterable[Outcome]:
    project, names = project_create(slug="nightly", name="nightly"), names_of(NIGHTLY, per_file=25)
    files = [names[first : first + 25] for first in range(0, NIGHTLY, 25)]
    for number in range(30):
        random.Random(number).shuffle(files)
        _send(project, [name for file in files for name in file], number)

    def cold(number: int) -> None:
        order_proposals._proposal.cache_clear()
        proposal(project, "pairs", "", {})

    yield Outcome(f"the next order of {NIGHTLY:,} tests, cold, p95", _p95(cold), "s", most=2)
    yield Outcome("the same, warm, p95", _p95(lambda number: proposal(project, "pairs", "", {})), "s", most=0.2)


def _send(project: Project, names: Names, number: int) -> None:
    body = body_of(document(names, failing=[names[number % 7][1]] if number % 5 == 4 else ()))
    upload, _ = upload_receive(
        project=project, body=body, metadata=RunMetadata(build_id=str(number), commit=f"{number:040}")
    )
    upload_process(upload_id=upload.pk)


def _p95(work: Callable[[int], None]) -> float:
    seconds = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        work(number)
        seconds.append(time.perf_counter() - began)
    return float(np.percentile(seconds, 95))
