"""How fast pages answer, server side and warm, on 50,000 tests and 4,000 reports of them, beside 1,000 tests."""

import time
from collections.abc import Iterator

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from analytics.columns import columns_of
from analytics.models import Analysis
from analytics.services import analysis_refresh
from bench.made import gathered, project_with
from bench.outcome import Outcome
from dashboard.static_files import collect
from ingest.models import Project, Report, Run

TESTS, FEW_TESTS, REPORTS, MADE, FAILING = 50_000, 1_000, 4_000, 100, 0.001
ROUNDS = 25
BARS = {"Overview": 150, "Tests": 150, "Fix first": 150, "Runs": 150, "Test": 250, "Run": 250}
WEIGHT = 300_000


def run() -> Iterator[Outcome]:
    settings.ALLOWED_HOSTS = ["*"]
    collect()
    many, few = _project("pages", TESTS), _project("pages-few", FEW_TESTS)
    client = Client()
    client.force_login(User.objects.create_superuser("bench"))
    for name, bar in BARS.items():
        slow, weight = _p95(client, _address(name, many))
        quick, _ = _p95(client, _address(name, few))
        yield Outcome(f"{name}, p95", slow, "ms", most=bar)
        yield Outcome("  against 1,000 tests", slow / quick, "times", most=2)
        yield Outcome("  weight of the page", weight / 1_000, "kB", most=WEIGHT / 1_000)


def _project(slug: str, tests: int) -> Project:
    """So many reports of so many tests: some are made, the others are copies of them with times of their own."""
    share = FAILING * TESTS / tests  # as many failures a report, whatever its size
    project = project_with(slug, gathered(tests, MADE, share, unsound=min(20 * share, 0.5)))
    with connection.cursor() as cursor:
        for statement in (_COPY_RUNS, _COPY_REPORTS, _COPY_FAILURES):
            cursor.execute(statement, {"project": project.pk, "copies": REPORTS // MADE - 1, "hours": MADE})
        cursor.execute("VACUUM (ANALYZE)")
    analysis_refresh(project=project)
    return project


def _columns(model: type[Run | Report], *apart: str) -> str:
    names = [field.column for field in model._meta.fields if field.column not in ("id", *apart)]
    return ", ".join(f'"{name}"' for name in names)


_RUN = _columns(Run, "key", "started_at", "build_id")
_REPORT = _columns(Report, "run_id", "started_at", "content_digest")
_COPY_RUNS = f"""
    INSERT INTO ingest_run (key, started_at, build_id, {_RUN})
    SELECT substring(sha256((run.id || '-' || copy)::bytea) FOR 16),
           started_at - make_interval(mins => (copy * %(hours)s)::int), run.id || '-' || copy, {_RUN}
    FROM ingest_run AS run, generate_series(1, %(copies)s) AS copy WHERE run.project_id = %(project)s
"""
_COPY_REPORTS = f"""
    INSERT INTO ingest_report (run_id, started_at, content_digest, {_REPORT})
    SELECT twin.id, twin.started_at, sha256(twin.key), {_REPORT.replace('"project_id"', 'report."project_id"')}
    FROM ingest_report AS report
    JOIN ingest_run AS twin ON split_part(twin.build_id, '-', 1) = report.run_id::text AND twin.project_id = %(project)s
    WHERE report.project_id = %(project)s AND twin.build_id LIKE '%%-%%'
"""
_COPY_FAILURES = """
    INSERT INTO ingest_failure (report_id, test_id, ordinal, part, verdict, type, message, text, system_out, system_err,
                                signature_id)
    SELECT report.id, failure.test_id, failure.ordinal, failure.part, failure.verdict, failure.type, failure.message,
           failure.text, '', '', failure.signature_id
    FROM ingest_report AS report
    JOIN ingest_run AS twin ON twin.id = report.run_id AND twin.build_id LIKE '%%-%%'
    JOIN ingest_report AS first ON first.run_id::text = split_part(twin.build_id, '-', 1)
    JOIN ingest_failure AS failure ON failure.report_id = first.id
    WHERE report.project_id = %(project)s
"""


def _address(name: str, project: Project) -> str:
    """The page of its kind that has the most to do."""
    if name == "Test":
        rows = columns_of(Analysis.objects.get(project=project, current=True).pk)
        return reverse("test", args=(project.slug, int(rows["number"][np.argmax(rows["cost"])])))
    if name == "Run":
        report = Report.objects.filter(project=project).order_by("-failed").first()
        return reverse("run", args=(project.slug, report.run_id))
    return reverse(_ROUTES[name], args=(project.slug,))


_ROUTES = {"Overview": "project", "Tests": "tests", "Fix first": "priorities", "Runs": "runs"}


def _p95(client: Client, address: str) -> tuple[float, int]:
    taken, weight = [], 0
    for _ in range(ROUNDS + 2):
        began = time.perf_counter()
        response = client.get(address)
        taken.append((time.perf_counter() - began) * 1_000)
        weight = len(response.content)
        assert response.status_code == 200, (address, response.status_code)
    return float(np.percentile(taken[2:], 95)), weight
