"""Server mode under load: many concurrent uploaders while people read; then one worker process against two.

The load comes from the same machine and takes its share of the processors, which is printed for each part."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from analytics.models import Analysis
from bench.outcome import Outcome
from bench.server.site import Site, site, used
from bench.server.traffic import SIZES, Answer, Plan, ProjectAccess, Traffic, View, mixed, samples, send
from ingest.models import Token, Upload
from ingest.services import project_create, token_create
from tests.faults.server import until

ANSWER_MILLISECONDS = PAGE_MILLISECONDS = 500
DRAIN_SECONDS, PATIENCE_SECONDS = 60, 600
TWO_WORKERS, SENDERS = 1.9, 4
NOT_SLOWER = 0.95
"""Two measurements of the same thing differ by a twentieth here."""
WARM_UPLOADS = 3
_COMPUTE = "found = {{}}\nfor number in range({}): found[number % 5_000] = str(number)"
_COMPUTED_A_BACKLOG = 20_000
"""Numbers that a process computes for each upload of the backlog, so that both take about as long."""
Build = tuple[str, str]
"""A project's slug and a build's id."""
Counts = tuple[int, int, int, int]
"""Reports, tests, failed tests, failures."""


def run(plan: Plan, *, backlog: int, turns: int) -> Iterator[Outcome]:
    yield Outcome("cores, of which the load takes its share", os.cpu_count() or 0)
    with site(Path(settings.HOME)) as place:
        doors = _doors(plan.projects)
        warm = _warm(place, doors)
        traffic = Traffic(place.request, doors, _cookie(), plan)
        _open_all(traffic)
        yield from _traffic(place, traffic, warm)
        yield from _more_workers(place, doors, backlog, turns)


# -- uploaders and readers ---------------------------------------------------------------------------------------


def _doors(projects: int) -> list[ProjectAccess]:
    made = [project_create(slug=f"load-{number}", name=f"Load {number}") for number in range(projects)]
    return [
        ProjectAccess(project.slug, token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1])
        for project in made
    ]


def _cookie() -> str:
    client = Client()
    client.force_login(User.objects.create_superuser("load"))
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def _warm(place: Site, doors: list[ProjectAccess]) -> list[Answer]:
    """Prepare projects with known tests and an analysis, as after some use."""
    large = samples()[max(SIZES)]
    sent = [
        send(place.request, door, f"warm.{number}", large[number]) for door in doors for number in range(WARM_UPLOADS)
    ]
    _drain()
    analysed = Analysis.objects.filter(project__slug__in=[door.slug for door in doors], current=True)
    until(lambda: analysed.count() == len(doors), PATIENCE_SECONDS, "every project is analysed")
    return sent


def _open_all(traffic: Traffic) -> None:
    """Open each page often enough for every web process to have it loaded, as after some use."""
    for door in WARM_UPLOADS * traffic.doors:
        for _ in traffic.tour(door.slug):
            pass


def _traffic(place: Site, traffic: Traffic, warm: list[Answer]) -> Iterator[Outcome]:
    before, own = place.processor_seconds(), time.process_time()
    took = traffic.run()
    drained, after = _drain(), place.processor_seconds()
    yield from answered(traffic.answers, took)
    yield Outcome("queue drained after the end", drained, "s", most=DRAIN_SECONDS)
    sent = [*warm, *traffic.answers]
    yield Outcome("answered 202 and not processed exactly once", len(uncounted(sent, _stored())), most=0)
    yield Outcome(
        "stored and never sent", len(_stored().keys() - {(answer.slug, answer.build) for answer in sent}), most=0
    )
    yield from read(traffic.views)
    for name in sorted(before):
        yield Outcome(f"processor seconds of {name}", after[name] - before[name])
    yield Outcome("processor seconds of the load itself", time.process_time() - own)


def answered(answers: list[Answer], took: float) -> Iterator[Outcome]:
    """Figures from the uploaders' side."""
    good = [answer for answer in answers if answer.status == 202]
    yield Outcome("uploads answered 202", len(good), least=1)
    yield Outcome(
        "  answered 5xx, or not at all", _count(answer.status >= 500 or not answer.status for answer in answers), most=0
    )
    yield Outcome(
        "  answered anything else",
        _count(200 <= answer.status < 500 and answer.status != 202 for answer in answers),
        most=0,
    )
    yield Outcome("uploads a second", len(good) / took)
    yield Outcome("results a second", sum(answer.sample.cases for answer in good) / took)
    yield Outcome("202, p50", milliseconds(good, 50), "ms")
    yield Outcome("202, p95", milliseconds(good, 95), "ms", most=ANSWER_MILLISECONDS)
    for cases, share in SIZES.items():
        sized = [answer for answer in good if answer.sample.cases == cases]
        yield Outcome(f"  of {cases:,} cases ({share:.0%} of uploads), p95", milliseconds(sized, 95), "ms")


def read(views: list[View]) -> Iterator[Outcome]:
    """Figures from the readers' side."""
    yield Outcome("pages opened meanwhile", len(views), least=1)
    yield Outcome("  not answered 200", _count(view.status != 200 for view in views), most=0)
    for page in sorted({view.page for view in views}):
        of_page = [view for view in views if view.page == page]
        yield Outcome(f"{page}, p95 of {len(of_page)}", milliseconds(of_page, 95), "ms", most=PAGE_MILLISECONDS)


def _count(found: Iterable[bool]) -> int:
    return sum(found)


def milliseconds(timed: "list[Answer] | list[View]", percent: float) -> float:
    """A percentile; infinite if there is no data."""
    return float(np.percentile([request.seconds for request in timed], percent)) * 1_000 if timed else float("inf")


# -- nothing lost ------------------------------------------------------------------------------------------------

_STORED = """
    SELECT project.slug, run.build_id, count(*), sum(report.tests), sum(report.failed),
           sum((SELECT count(*) FROM ingest_failure AS failure WHERE failure.report_id = report.id))
    FROM ingest_report AS report JOIN ingest_run AS run ON run.id = report.run_id
    JOIN ingest_project AS project ON project.id = report.project_id
    GROUP BY project.slug, run.build_id
"""


def _stored() -> dict[Build, Counts]:
    with connection.cursor() as cursor:
        cursor.execute(_STORED)
        return {(slug, build): tuple(map(int, counts)) for slug, build, *counts in cursor.fetchall()}


def uncounted(answers: list[Answer], stored: dict[Build, Counts]) -> list[Build]:
    """Builds answered with 202 that are missing, stored twice, or stored with other counts."""
    accepted = {(answer.slug, answer.build): answer.sample for answer in answers if answer.status == 202}
    return [
        build
        for build, sample in accepted.items()
        if stored.get(build) != (1, sample.cases, sample.failed, sample.failed)
    ]


def _drain() -> float:
    """Wait until no upload is waiting; returns the seconds."""
    began = time.monotonic()
    while Upload.objects.filter(state__in=Upload.WAITING).exists():
        if time.monotonic() - began > PATIENCE_SECONDS:
            return float("inf")
        time.sleep(0.1)
    return time.monotonic() - began


# -- one worker process beside two and four ----------------------------------------------------------------------


def _more_workers(place: Site, doors: list[ProjectAccess], backlog: int, turns: int) -> Iterator[Outcome]:
    """Process the same backlog with one process, two and four, in turn, with nothing else running."""
    place.end("worker-uploads", "worker-analyses", "beat")
    seconds, processor = dict.fromkeys((1, 2, 4), 0.0), dict.fromkeys((1, 2, 4), 0.0)
    for turn in range(turns):
        for processes in seconds:
            wall, own = _backlog_seconds(place, doors, f"backlog.{turn}.{processes}.", backlog, processes)
            seconds[processes] += wall
            processor[processes] += own
    for processes, wall in seconds.items():
        name = f"{backlog * turns:,} uploads by {processes} worker process{'es' if processes > 1 else ''}"
        yield Outcome(name, wall, "s")
        yield Outcome("  processor time of the worker to time by the clock", processor[processes] / wall, "times")
    computing = _computing(_COMPUTED_A_BACKLOG * backlog)
    yield Outcome("two processes that only compute against one: what this machine gives", computing, "times")
    yield Outcome("two worker processes against one", seconds[1] / seconds[2], "times", least=TWO_WORKERS)
    yield Outcome("four worker processes against two", seconds[2] / seconds[4], "times", least=NOT_SLOWER)


def _computing(numbers: int) -> float:
    """How much more two independent processes compute than one: two cores may be halves of one."""
    taken = {}
    for processes in (1, 2):
        began = time.perf_counter()
        children = [subprocess.Popen([sys.executable, "-c", _COMPUTE.format(numbers)]) for _ in range(processes)]
        for child in children:
            child.wait()
        taken[processes] = (time.perf_counter() - began) / processes
    return taken[1] / taken[2]


def _backlog_seconds(
    place: Site, doors: list[ProjectAccess], prefix: str, backlog: int, processes: int
) -> tuple[float, float]:
    """Seconds and processor seconds that the workers take for the backlog, by its last three quarters.

    By then each process knows the suites: what it learns at its start would otherwise count for more the more there are."""
    _send_backlog(place, doors, prefix, backlog)
    with place.workers(processes) as top:
        uploads = Upload.objects.filter(metadata__build_id__startswith=prefix)
        done = uploads.filter(state=Upload.State.PROCESSED)
        until(lambda: done.count() >= backlog // 4, PATIENCE_SECONDS, "a quarter is processed")
        began, before, own = time.monotonic(), uploads.exclude(state=Upload.State.PROCESSED).count(), used(top)
        _drain()
        took, own = time.monotonic() - began, used(top) - own
    scale = backlog / max(before, 1)
    return scale * took, scale * own


def _send_backlog(place: Site, doors: list[ProjectAccess], prefix: str, backlog: int) -> None:
    """Send a backlog whose content depends only on its size, so that it is the same each time."""
    rng = random.Random(0)
    parts = [
        (rng.choice(doors), f"{prefix}{at}", sample) for at, sample in enumerate(islice(mixed(samples(), rng), backlog))
    ]
    with ThreadPoolExecutor(SENDERS) as senders:
        answers = list(senders.map(lambda part: send(place.request, *part), parts))
    assert all(answer.status == 202 for answer in answers)
