"""From an upload's 202 to conclusions that know it: a large project, an upload a second, all processes of a server."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import connection

from analytics.selectors import current_analyses
from analytics.services import analysis_refresh
from bench.outcome import Outcome
from bench.server.site import site
from bench.server.traffic import Answer, ProjectAccess, Sample, send
from bench.stored_projects import gathered, reports_add
from bench.suites import document
from bench.uploads import send as send_here
from ingest.models import Project, Token, Upload
from ingest.services import project_create, token_create

TESTS, REPORTS, FAILING = 10_000, 1_000, 0.01
UPLOADS = int(os.environ.get("UPLOADS", "60"))
EVERY_SECONDS, LOOK_SECONDS, PATIENCE_SECONDS = 1.0, 0.05, 60
ANSWER_MILLISECONDS, CONCLUSION_SECONDS = 500, 5


def run(tests: int = TESTS, reports: int = REPORTS, uploads: int = UPLOADS) -> Iterator[Outcome]:
    project = _project(tests, reports)
    began = time.perf_counter()
    analysis_refresh(project=project)
    yield Outcome(f"an analysis of {tests:,} tests in {reports:,} reports", time.perf_counter() - began, "s")
    with site(Path(settings.HOME)) as place:
        door = ProjectAccess(project.slug, token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1])
        send(place.request, door, "first", _sample(tests, uploads))  # every process has loaded what it needs
        with _Watch(project) as watch:
            answers = list(_steadily(lambda at: send(place.request, door, f"steady.{at}", _sample(tests, at)), uploads))
            watch.wait_for(uploads)
    waits = watch.waits()
    yield Outcome("uploads not answered 202", sum(answer.status != 202 for answer in answers), most=0)
    yield Outcome(
        "202, p95", 1_000 * _share([answer.seconds for answer in answers], 95), "ms", most=ANSWER_MILLISECONDS
    )
    yield Outcome("uploads without a conclusion", uploads - len(waits), most=0)
    yield Outcome("analyses meanwhile", len(watch.analyses))
    yield Outcome("from 202 to a stored upload, p95", _share(watch.stored(), 95), "s")
    yield Outcome("from 202 to conclusions, p50", _share(waits, 50), "s")
    yield Outcome("from 202 to conclusions, p95", _share(waits, 95), "s", most=CONCLUSION_SECONDS)


def _share(seconds: list[float], percent: float) -> float:
    """A percentile; infinite if there is nothing."""
    return float(np.percentile(seconds, percent)) if seconds else float("inf")


def _project(tests: int, reports: int) -> Project:
    """The tests as their report names them, and reports of them up to now."""
    project = project_create(slug="freshness", name="Freshness")
    send_here(project, [("report.xml", document(range(tests)))], branch="main", build_id="names")
    reports_add(project, gathered(tests, reports - 1, FAILING))
    return project


def _sample(tests: int, seed: int) -> Sample:
    return Sample(document(range(tests), seed=seed), tests, 0)


def _steadily(sent: Callable[[int], Answer], count: int) -> Iterator[Answer]:
    """One a second, however long each takes."""
    began = time.monotonic()
    for at in range(count):
        time.sleep(max(began + at * EVERY_SECONDS - time.monotonic(), 0))
        yield sent(at)


class _Watch:
    """Looks which analysis is current, as a page would."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._after = Upload.objects.filter(project=project).order_by("-pk").values_list("pk", flat=True)[0]
        self.analyses: dict[datetime, datetime] = {}
        """When an analysis began, and when it was there."""

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        current = current_analyses().filter(project=self._project).values_list("started_at", "finished_at")
        while not self._over.wait(LOOK_SECONDS):
            self.analyses.update(current.all())
        connection.close()

    def _uploads(self) -> list[tuple[datetime, datetime]]:
        rows = Upload.objects.filter(project=self._project, pk__gt=self._after, finished_at__isnull=False)
        return list(rows.values_list("received_at", "finished_at"))

    def wait_for(self, uploads: int) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while len(self.waits()) < uploads and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)

    def stored(self) -> list[float]:
        return [(finished - received).total_seconds() for received, finished in self._uploads()]

    def waits(self) -> list[float]:
        """Seconds from each upload to the first analysis that began when it was stored."""
        analyses, waits = sorted(self.analyses.items()), []
        for received, finished in self._uploads():
            ready = next((there for began, there in analyses if began >= finished), None)
            if ready is not None:
                waits.append((ready - received).total_seconds())
        return waits
