"""How long a schedule of 50,000 tests takes, and the next order of 5,000."""

import random
import time
from collections.abc import Callable, Iterable

import numpy as np
from django.test import override_settings
from flakeboard.orders.configurations import order_of

from analytics.lab import order_proposals
from analytics.lab.order_proposals import proposal
from analytics.lab.schedules.collected_tests import CollectedTests
from analytics.lab.schedules.request import ORDER, SHARD, ScheduleRequest
from analytics.lab.schedules.scheduler import make_schedule
from analytics.services import analysis_refresh
from bench.outcome import Outcome
from ingest.metadata import RunMetadata
from ingest.models import Project
from ingest.processing import upload_process
from ingest.services import project_create, token_create, upload_receive
from tests.api_client import Program
from tests.conftest import body_of
from tests.lab.orders.suites import suite_of
from tests.lab.orders.test_next_order import nights, unit_pairs
from tests.lab.schedules.suites import Names, document, names_of

LARGE, NIGHTLY = 50_000, 5_000
ROUNDS = 20


def run() -> Iterable[Outcome]:
    yield from _schedules()
    yield from _next_orders()
    yield from _nights()


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

    program = Program(token_create(project=project, name="bench", scope="upload")[1], slug="large")
    body = {"kind": "shard", "tests": names, "total": 16, "index": 2, "job": "api"}

    def asked(number: int) -> None:
        with override_settings(ALLOWED_HOSTS=["testserver"]):
            assert program.post("schedules", **body, build=f"api {number}").status_code == 201

    yield from _timed(f"a new split of {LARGE:,} tests", shard, most=1)
    yield from _timed("the same split again", lambda number: shard(0), most=1)
    yield from _timed(f"an order of {LARGE:,} tests by failures", order, most=1)
    yield from _timed("a new split by the API, its names read and checked", asked, most=1)


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

    yield from _timed(f"the next order of {NIGHTLY:,} tests, cold", cold, most=2)
    yield from _timed("the same, warm", lambda number: proposal(project, "pairs", "", {}), most=0.2)


def _nights(units: int = 20, builds: int = 30) -> Iterable[Outcome]:
    """Ordered pairs of units that nightly builds see if they obey, and if they run in random orders."""
    suite, pairs = suite_of([4] * units), units * (units - 1)
    seen = len(unit_pairs(suite, nights(suite, builds)))
    yield Outcome(f"share of the pairs of {units} units that {builds} nightly builds see", seen / pairs, least=1)
    shares = []
    for seed in range(ROUNDS):
        orders = [order_of(suite, "random-class-method", f"night {seed}", number) for number in range(builds)]
        shares.append(len(unit_pairs(suite, orders)) / pairs)
    yield Outcome("the same in random orders", float(np.mean(shares)), least=0.775, most=0.795)


def _send(project: Project, names: Names, number: int) -> None:
    body = body_of(document(names, failing=[names[number % 7][1]] if number % 5 == 4 else ()))
    upload, _ = upload_receive(
        project=project, body=body, metadata=RunMetadata(build_id=str(number), commit=f"{number:040}")
    )
    upload_process(upload_id=upload.pk)


def _timed(what: str, work: Callable[[int], object], most: float) -> Iterable[Outcome]:
    """The 95th percentile of its seconds, and of those that the processor had to work here."""
    seconds, processor = [], []
    for number in range(ROUNDS):
        began, busy = time.perf_counter(), time.process_time()
        work(number)
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - busy)
    yield Outcome(f"{what}, p95", float(np.percentile(seconds, 95)), "s", most=most)
    yield Outcome("its processor time", float(np.percentile(processor, 95)), "s", most=most)
