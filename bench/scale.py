"""One project with 816 million results: its size, its pages, an analysis, a backup and retention; then a company's day.

Some of its reports arrive as XML like any upload. The others are copies made inside the database, with their own
runs, times and failures. They are spread evenly over a year."""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from analytics.services import analysis_refresh
from bench import day
from bench.copies import reports_copy
from bench.outcome import Outcome
from bench.pages import address_of, p95
from bench.stored_projects import gathered
from bench.suites import case, document
from bench.uploads import process, receive, send
from dashboard.ops.static_files import collect
from dashboard.retention.services import retention_set
from ingest.models import Project, Report
from ingest.services import project_create

RESULTS, REPORTS, FAILING, SPREAD = 816_000_000, 16_320, 0.001, timedelta(days=365)
KEPT_DAYS = 274
"""Three quarters of a year, so that a quarter of the reports is older."""
GIGABYTE = 1_000_000_000
BYTES_A_RESULT = 4
"""At most, of the finished table."""
DATABASE_GIGABYTES, TEST_MILLISECONDS, WINDOW_SECONDS, UPLOAD_MILLISECONDS = 4, 500, 10, 500
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Plan:
    part: int = 1
    tests: int = 50_000
    made: int = 96
    rounds: int = 25
    slice: day.Slice = field(default_factory=lambda: day.Slice(12))

    @property
    def whole(self) -> bool:
        return self.results == RESULTS

    @property
    def reports(self) -> int:
        """A multiple of the reports made from XML, since the others are copies."""
        return max(REPORTS // self.part // self.made, 1) * self.made

    @property
    def results(self) -> int:
        return self.reports * self.tests

    @property
    def step(self) -> timedelta:
        return SPREAD / self.reports

    @property
    def bytes_needed(self) -> int:
        """Twice the data, for itself and its backup, and the database's log while it is written."""
        return 2 * self.results * BYTES_A_RESULT + 3 * GIGABYTE


class TooLittleRoom(SystemExit):
    """There is not enough disk space; nothing was started."""


def run(plan: Plan) -> Iterator[Outcome]:
    check_room(plan, shutil.disk_usage(settings.HOME).free)
    settings.ALLOWED_HOSTS = ["*"]
    collect()
    yield Outcome("cores", os.cpu_count() or 0)
    began = time.perf_counter()
    project = _project(plan)
    yield Outcome("results in one project", _results(project), least=plan.results)
    yield Outcome("  made in", time.perf_counter() - began, "s")
    yield from _size(project, plan)
    yield from _analysis(project)
    yield from _pages(project, plan.rounds)
    yield from _backup()
    yield from _retention(project)
    yield from day.run(plan.slice)


def check_room(plan: Plan, free: int) -> None:
    if free < plan.bytes_needed:
        raise TooLittleRoom(
            f"{plan.bytes_needed / GIGABYTE:.1f} GB of disk are needed below {settings.HOME} and {free / GIGABYTE:.1f} GB "
            "are free. Set TMPDIR to a folder with more room, or measure a part of it: --part 10."
        )


# -- the project -------------------------------------------------------------------------------------------------


def _project(plan: Plan) -> Project:
    project = project_create(slug="scale", name="Scale")
    newest = timezone.now()
    outcomes = gathered(plan.tests, plan.made, FAILING, unsound=20 * FAILING)
    for at, failed in enumerate(outcomes):
        content = _report(failed, seed=at)
        started = newest - (plan.made - at) * plan.step
        metadata = {"build_id": str(at), "commit": f"{at // 2:040x}", "branch": "main", "started_at": started}
        send(project, [("report.xml", content)], **metadata)
    reports_copy(project, copies=plan.reports // plan.made - 1, apart=plan.made * plan.step)
    return project


def _report(failed: "np.typing.NDArray[np.bool_]", seed: int) -> bytes:
    cases = "".join(case(number, seed, every=int(bad)) for number, bad in enumerate(failed))
    return f'<testsuites><testsuite name="pytest">{cases}</testsuite></testsuites>'.encode()


def _results(project: Project) -> int:
    return sum(Report.objects.filter(project=project).values_list("tests", flat=True))


# -- what is asked of it -----------------------------------------------------------------------------------------


def _size(project: Project, plan: Plan) -> Iterator[Outcome]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = int(cursor.fetchone()[0])
    most = DATABASE_GIGABYTES if plan.whole else None
    yield Outcome("the whole database", size / GIGABYTE, "GB", most=most)
    yield Outcome("  bytes a result", size / _results(project))


def _analysis(project: Project) -> Iterator[Outcome]:
    """Analyse the product's own window: 90 days, and at most 5,000 reports."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        analysis = analysis_refresh(project=project)
        taken.append(time.perf_counter() - began)
    yield Outcome("results in the window of an analysis", analysis.results)
    yield Outcome("  reports in it", analysis.reports)
    yield Outcome("one analysis of it", statistics.median(taken), "s", most=WINDOW_SECONDS)


def _pages(project: Project, rounds: int) -> Iterator[Outcome]:
    client = Client()
    client.force_login(User.objects.create_superuser("scale"))
    for page in ("Test", "Overview", "Tests", "Runs", "Run"):
        taken, _ = p95(client, address_of(page, project), rounds)
        yield Outcome(f"{page}, p95", taken, "ms", most=TEST_MILLISECONDS if page == "Test" else None)


# -- what operators do to it -------------------------------------------------------------------------------------


def _manage(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _backup() -> Iterator[Outcome]:
    file = Path(settings.HOME) / "backup"
    began = time.perf_counter()
    done = _finished(_manage("backup", str(file)))
    yield Outcome("backups made", int(done), least=1)
    yield Outcome("  in", time.perf_counter() - began, "s")
    yield Outcome("  size", file.stat().st_size / GIGABYTE if done else 0, "GB")
    file.unlink(missing_ok=True)


def _finished(child: "subprocess.Popen[str]") -> bool:
    output, _ = child.communicate()
    if child.returncode:
        print(f"  {output.strip()[-500:]}")
    return child.returncode == 0


def _retention(project: Project) -> Iterator[Outcome]:
    """Remove the oldest reports while uploads arrive."""
    old = Report.objects.filter(project=project, kept_from__lt=timezone.now() - timedelta(days=KEPT_DAYS))
    before, alone = old.count(), [_upload_seconds(project, f"alone.{at}") for at in range(20)]
    retention_set(project=project, ages={"reports": KEPT_DAYS}, redact=True)
    yield Outcome("an upload is stored in, alone, p95", _p95(alone), "ms")
    began, meanwhile = time.perf_counter(), list[float]()
    child = _manage("retain", "--project", project.slug)
    while child.poll() is None:
        meanwhile.append(_upload_seconds(project, f"meanwhile.{len(meanwhile)}"))
    took = time.perf_counter() - began
    yield Outcome("retention ran", int(_finished(child)), least=1)
    yield Outcome("  in", took, "s")
    yield Outcome(f"  reports older than {KEPT_DAYS} days before", before, least=1)
    yield Outcome("  and after", old.count(), most=0)
    yield Outcome(
        f"an upload is stored in, meanwhile, p95 of {len(meanwhile)}", _p95(meanwhile), "ms", most=UPLOAD_MILLISECONDS
    )


def _upload_seconds(project: Project, build: str) -> float:
    """Seconds until its bytes are committed, when CI receives its 202; processing comes later."""
    content = document(range(100), seed=0)
    began = time.perf_counter()
    upload = receive(project, [("report.xml", content)], build_id=build)
    took = time.perf_counter() - began
    process(upload)
    return took


def _p95(seconds: list[float]) -> float:
    return float(np.percentile(seconds, 95)) * 1_000 if seconds else 0.0
