"""Response times of warm pages on the server, with 50,000 tests in 4,000 reports, against 1,000 tests."""

import time
from collections.abc import Iterator
from datetime import timedelta

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analytics.columns.codec import columns_of
from analytics.models import Analysis
from analytics.services import analysis_refresh
from bench.copies import reports_copy
from bench.outcome import Outcome
from bench.stored_projects import gathered, project_with
from dashboard.ops.static_files import collect
from ingest.models import Project, Report

TESTS, FEW_TESTS, REPORTS, MADE, FAILING = 50_000, 1_000, 4_000, 100, 0.001
ROUNDS = 25
BARS = {
    "Overview": 150,
    "Tests": 150,
    "Fix first": 150,
    "Runs": 150,
    "Test": 250,
    "Run": 250,
    "Trends": 250,
    "Slow tests": 150,
}
WEIGHT = 300_000


def run() -> Iterator[Outcome]:
    settings.ALLOWED_HOSTS = ["*"]
    collect()
    many, few = _project("pages", TESTS), _project("pages-few", FEW_TESTS)
    client = Client()
    client.force_login(User.objects.create_superuser("bench"))
    for name, bar in BARS.items():
        slow, weight = p95(client, address_of(name, many))
        quick, _ = p95(client, address_of(name, few))
        yield Outcome(f"{name}, p95", slow, "ms", most=bar)
        yield Outcome("  against 1,000 tests", slow / quick, "times", most=2)
        yield Outcome("  weight of the page", weight / 1_000, "kB", most=WEIGHT / 1_000)


def _project(slug: str, tests: int) -> Project:
    """A project with `tests` tests: some reports are made, the others are copies of them at other times."""
    share = FAILING * TESTS / tests  # as many failures in a report of any size
    project = project_with(slug, gathered(tests, MADE, share, unsound=min(20 * share, 0.5)))
    reports_copy(project, copies=REPORTS // MADE - 1, apart=timedelta(minutes=MADE))
    analysis_refresh(project=project)
    return project


def address_of(name: str, project: Project) -> str:
    """The most expensive page of its kind."""
    if name == "Test":
        rows = columns_of(Analysis.objects.get(project=project, current=True))
        return reverse("test", args=(project.slug, int(rows["number"][np.argmax(rows["cost"])])))
    if name == "Run":
        report = Report.objects.filter(project=project).order_by("-failed").first()
        return reverse("run", args=(project.slug, report.run_id))
    return reverse(_ROUTES[name], args=(project.slug,))


_ROUTES = {
    "Overview": "project",
    "Tests": "tests",
    "Fix first": "priorities",
    "Runs": "runs",
    "Trends": "trends",
    "Slow tests": "slow_tests",
}


def p95(client: Client, address: str, rounds: int = ROUNDS) -> tuple[float, int]:
    """Milliseconds of the warm page, and bytes."""
    taken, weight = [], 0
    for _ in range(rounds + 2):
        began = time.perf_counter()
        response = client.get(address)
        taken.append((time.perf_counter() - began) * 1_000)
        weight = len(response.content)
        assert response.status_code == 200, (address, response.status_code)
    return float(np.percentile(taken[2:], 95)), weight
