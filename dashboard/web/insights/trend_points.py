"""What a point of a trend counts: its runs or its tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analytics.trends.failures import FlakyRun
from analytics.trends.spells import Spell
from dashboard import access
from dashboard.trends.counts import is_fixed, is_new, is_open, is_reopened, select
from dashboard.trends.facts import ProjectFacts, TestFacts, known_days, load_facts
from dashboard.trends.periods import Span
from dashboard.trends.query import TrendQuery, days_asked
from dashboard.trends.trend import BRANCH_LABELS
from dashboard.web.decorators import project_page
from dashboard.web.export import Row, exported
from dashboard.web.insights.trend_leads import span_words
from dashboard.web.paging import numbered_page
from ingest.identity import TestName
from ingest.models import Project, Run

PAGE_SIZE = 50
RUNS = {
    "flaky": ("Runs failed by flakiness", lambda run: run.is_flaky),
    "blocked": ("Runs blocked by flaky tests", lambda run: run.is_blocked),
    "masked": ("Runs with a masked failure", lambda run: bool(run.masked)),
    "saved": ("Runs saved by quarantine", lambda run: run.is_saved),
}
TESTS = {
    "new": ("New flaky tests", is_new),
    "reopened": ("Tests that are flaky again", is_reopened),
    "fixed": ("Fixed tests", is_fixed),
    "stock": ("Flaky tests", is_open),
}
LISTED = {*RUNS, *TESTS}
_RUN_HEADERS = ("project", "run", "day", "tests", "masked_tests")
_TEST_HEADERS = ("project", "number", "name", "class", "suite", "owners", "flaky_since", "last_failure", "recovered_at")


@dataclass(frozen=True, slots=True)
class RunPoint:
    project: Project
    day: date
    run: FlakyRun
    tests: Sequence[TestName]
    masked: Sequence[TestName]
    is_kept: bool = True
    """Whether the run is still stored."""


@dataclass(frozen=True, slots=True)
class TestPoint:
    __test__ = False  # the name means something to pytest

    project: Project
    spell: Spell
    test: TestFacts


@project_page
def project_trend_points(request: HttpRequest, project: Project, what: str) -> HttpResponseBase:
    return _list(request, "insights/trend_points.html", [project], what, {"project": project})


@login_required
@require_safe
def instance_trend_points(request: HttpRequest, what: str) -> HttpResponseBase:
    """Of all projects that the reader may see."""
    projects = list(access.user_projects(request.user))
    return _list(request, "insights/instance_trend_points.html", projects, what, {"several": True})


def _list(
    request: HttpRequest, template: str, projects: Sequence[Project], what: str, context: dict[str, Any]
) -> HttpResponseBase:
    if what not in RUNS and what not in TESTS:
        raise Http404
    query, known = TrendQuery.read(request.GET), known_days(projects)
    span = days_asked(query, known).shown if known else None
    facts = load_facts(projects, span) if span else []
    of_runs = what in RUNS
    points: list[Any] = []
    if span:
        points = _runs(facts, query, what) if of_runs else _tests(facts, query, what, span)
    headers, cells = (_RUN_HEADERS, _run_cells) if of_runs else (_TEST_HEADERS, _test_cells)
    file = exported(request, f"trend-{what}", headers, (cells(point) for point in points))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(points), size=PAGE_SIZE)
    shown = points[max(page.first - 1, 0) : page.last]
    shown_context = {
        "title": (RUNS.get(what) or TESTS[what])[0],
        "what": what,
        "of_runs": of_runs,
        "query": query,
        "branch_label": BRANCH_LABELS.get(query.branch, query.branch),
        "when": span_words(span) if span else "",
        "page": page,
        "total": len(points),
        "points": list(_with_kept(shown)) if of_runs else shown,
        "all_address": request.path,
    }
    return render(request, template, {**context, **shown_context})


def _runs(facts: Sequence[ProjectFacts], query: TrendQuery, what: str) -> list[RunPoint]:
    """Newest first."""
    by_project, fits = {found.project.pk: found for found in facts}, RUNS[what][1]
    points = []
    for counted in select(facts, query).runs:
        if fits(counted.run):
            of_project = by_project[counted.project_id]
            tests, masked = (_names(of_project, numbers) for numbers in (counted.run.tests, counted.run.masked))
            points.append(RunPoint(of_project.project, counted.day, counted.run, tests, masked))
    return sorted(points, key=lambda point: (point.day, point.run.run), reverse=True)


def _names(facts: ProjectFacts, numbers: Sequence[int]) -> list[TestName]:
    return [facts.tests[number].name for number in numbers if number in facts.tests]


def _with_kept(points: Sequence[RunPoint]) -> Iterator[RunPoint]:
    kept = set(Run.objects.filter(pk__in=[point.run.run for point in points]).values_list("pk", flat=True))
    for point in points:
        yield RunPoint(point.project, point.day, point.run, point.tests, point.masked, point.run.run in kept)


def _tests(facts: Sequence[ProjectFacts], query: TrendQuery, what: str, span: Span) -> list[TestPoint]:
    """Those that turned flaky last first."""
    by_project, fits = {found.project.pk: found for found in facts}, TESTS[what][1]
    points = []
    for counted in select(facts, query).spells:
        of_project = by_project[counted.project_id]
        test = of_project.tests.get(counted.spell.number)
        if test is not None and fits(counted.spell, span):
            points.append(TestPoint(of_project.project, counted.spell, test))
    return sorted(points, key=lambda point: point.spell.since, reverse=True)


def _run_cells(point: RunPoint) -> Row:
    names = [" ".join(f"#{test.number} {test.name}" for test in tests) for tests in (point.tests, point.masked)]
    return (point.project.slug, point.run.run, point.day.isoformat(), *names)


def _test_cells(point: TestPoint) -> Row:
    name, spell = point.test.name, point.spell
    owners = " ".join(sorted(point.test.owners))
    return (
        *(point.project.slug, name.number, name.name, name.classname, name.suite, owners),
        *(spell.since, spell.last, spell.until),
    )
