"""A day of a company with 350 million test executions in 1,200 projects, extrapolated from a measured slice.

The slice is a whole day of some projects, all alike: 350,000,000 / 1,200 executions a day, in reports of 5,000 cases,
one in a thousand failing. The other projects exist and are empty. Reports come once as XML, through receiving and
processing; and once as vectors, written directly as the database stores them."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from bench.outcome import Outcome
from bench.pages import p95
from bench.stored_projects import gathered, reports_add, tests_add
from bench.suites import document
from bench.uploads import send
from ingest.models import Project
from ingest.services import project_create

EXECUTIONS, PROJECTS, CASES, FAILING = 350_000_000, 1_200, 5_000, 0.001
REPORTS = ceil(EXECUTIONS / PROJECTS / CASES)
"""Reports of one project in a day."""
DAY_SECONDS = 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Slice:
    """Some projects of the company, each with its whole day or with fewer reports."""

    projects: int
    reports: int = REPORTS

    @property
    def others(self) -> int:
        """The other projects of the company."""
        return PROJECTS - self.projects

    @property
    def executions(self) -> int:
        return self.projects * self.reports * CASES


def extrapolated(seconds: float, executions: int) -> float:
    """Seconds for the whole day, in proportion to a part of it, since reports are alike."""
    return seconds * EXECUTIONS / executions


def run(part: Slice) -> Iterator[Outcome]:
    Project.objects.bulk_create(
        [Project(slug=f"company-{number}", name=f"Company {number}") for number in range(part.others)]
    )
    yield Outcome(f"measured: executions of {part.projects} of {PROJECTS:,} projects", part.executions)
    yield from _outcomes("from XML", _seconds(_from_xml, "xml", part), part)
    yield from _outcomes("from vectors", _seconds(_from_vectors, "vectors", part), part)
    client = Client()
    client.force_login(User.objects.create_superuser("company"))
    yield Outcome(f"Home with {PROJECTS:,} projects, p95", p95(client, reverse("home"), rounds=5)[0], "ms")


def _outcomes(how: str, seconds: float, part: Slice) -> Iterator[Outcome]:
    whole = extrapolated(seconds, part.executions)
    yield Outcome(f"{how}, measured, one process", seconds, "s")
    print(f"  {how}, the day: {seconds:.3g} s × {EXECUTIONS:,} / {part.executions:,} executions = {whole:,.0f} s")
    yield Outcome(f"{how}, the day by one process, extrapolated", whole / 3_600, "hours")
    yield Outcome(f"{how}, processes that keep up with the day's average", whole / DAY_SECONDS)


def _seconds(write: Callable[[Project, Slice], float], name: str, part: Slice) -> float:
    return sum(
        write(project_create(slug=f"{name}-{number}", name=f"{name} {number}"), part) for number in range(part.projects)
    )


def _from_xml(project: Project, part: Slice) -> float:
    """The day of a project with known tests: neither the first report nor making the XML is timed."""
    taken = 0.0
    for build in range(part.reports + 1):
        files = [("report.xml", document(range(CASES), seed=build, every=round(1 / FAILING)))]
        began = time.perf_counter()
        send(project, files, build_id=str(build), branch="main")
        taken += time.perf_counter() - began if build else 0.0
    return taken


def _from_vectors(project: Project, part: Slice) -> float:
    """The same number of reports with as many failures, for a project with known tests."""
    outcomes = gathered(CASES, part.reports, FAILING)
    tests_add(project, outcomes)
    began = time.perf_counter()
    reports_add(project, outcomes)
    return time.perf_counter() - began
