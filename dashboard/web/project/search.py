"""Search: tests by their names, runs by build, branch or pull request, commits by their beginning."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import zip_longest
from operator import or_
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from analytics.columns.rows import test_row
from analytics.history.search import names_of
from analytics.selectors import current_tests
from analytics.wording import counted
from dashboard import access
from dashboard.web.decorators import project_page
from dashboard.web.page_context import isolated
from dashboard.web.query import words
from dashboard.web.recent import recently_viewed
from dashboard.web.run.runs import matching
from ingest.models import Project, Run, Test

SHOWN = 20
_COMMIT_DIGITS = "0123456789abcdef"
_SHORTEST_COMMIT = 4


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test by the name that it has now, and the older one that was found."""

    test: Test
    formerly: str
    slug: str
    project: str
    state: str
    """What the current analysis concludes of it; empty before the first."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    tests: Sequence[TestResult]
    runs: Sequence[Run]
    commit: bool
    """The runs are those of a commit."""
    more_tests: bool
    more_runs: bool

    def __bool__(self) -> bool:
        return bool(self.tests or self.runs)


@project_page
def project_search(request: HttpRequest, project: Project) -> HttpResponse:
    return _page(request, [project], {"project": project, "base": "project_base.html"})


@login_required
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Over all projects that the person may see."""
    return _page(request, list(access.user_projects(request.user)), {"base": "base.html"})


def _page(request: HttpRequest, projects: Sequence[Project], context: dict[str, Any]) -> HttpResponse:
    text = words(request.GET, "q")
    viewed = recently_viewed(request, [project.slug for project in projects])
    found = find(projects, text) if text else None
    context |= {"text": text, "found": found, "viewed": viewed, "shown": SHOWN, "lead": search_lead(text, found)}
    return render(request, "project/search.html", context)


def search_lead(text: str, found: SearchResult | None) -> SafeString | str:
    """How much was found, or how to find more."""
    if found is None:
        return "Where is my test, my build, my commit?"
    if not found:
        hint = "Part of a name is enough; of a commit, the first four digits or more."
        return format_html("Nothing found for {}. {}", isolated(text), hint)
    tests, runs = len(found.tests), len(found.runs)
    parts = (
        (f"more than {SHOWN} tests" if found.more_tests else counted(tests, "test")) if tests else "",
        (f"more than {SHOWN} runs" if found.more_runs else counted(runs, "run")) if runs else "",
    )
    amount = " and ".join(part for part in parts if part)
    return format_html("{} for {}.", amount[0].upper() + amount[1:], isolated(text))


def find(projects: Sequence[Project], text: str) -> SearchResult:
    """A query or two for the tests, the runs and the states in each project, however much there is."""
    tests, runs = _tests(projects, text, SHOWN + 1), list(_commit_runs(projects, text)[: SHOWN + 1])
    commit = bool(runs)
    if not commit:
        runs = list(_runs(projects).filter(matching(text))[: SHOWN + 1])
    shown = _named(tests[:SHOWN], projects)
    return SearchResult(shown, runs[:SHOWN], commit, len(tests) > SHOWN, len(runs) > SHOWN)


def _tests(projects: Sequence[Project], text: str, most: int) -> list[Test]:
    """The best matches of each project in turn, as `SearchResult.best` ranks them."""
    best = [
        (project.pk, names_of(project.pk, project.test_count).found(text).best(most).tolist()) for project in projects
    ]
    wanted = reduce(or_, (Q(project=project, number__in=numbers) for project, numbers in best if numbers), Q(pk=None))
    found = {(test.project_id, test.number): test for test in Test.in_ci.filter(wanted).select_related("alias_of")}
    ranked = zip_longest(*([found.get((project, number)) for number in numbers] for project, numbers in best))
    return [test for place in ranked for test in place if test is not None][:most]


def _named(tests: Sequence[Test], projects: Sequence[Project]) -> list[TestResult]:
    """Each test once, under its current name."""
    project_of = {project.pk: project for project in projects}
    current = {test.pk: test.alias_of or test for test in tests}
    states = _states(current.values())
    found: dict[int, TestResult] = {}
    for test in tests:
        now, project = current[test.pk], project_of[test.project_id]
        formerly = test.name if test.alias_of else ""
        found.setdefault(now.pk, TestResult(now, formerly, project.slug, project.name, states.get(now.pk, "")))
    return list(found.values())


def _states(tests: Iterable[Test]) -> dict[int, str]:
    """The state of each test, by its primary key; a query or two for each project."""
    states: dict[int, str] = {}
    by_project: dict[int, list[Test]] = {}
    for test in tests:
        by_project.setdefault(test.project_id, []).append(test)
    for project, its_tests in by_project.items():
        analysis, columns = current_tests(project)
        if analysis is not None:
            states |= {test.pk: test_row(columns, test.number).state_name for test in its_tests}
    return states


def _runs(projects: Sequence[Project]) -> "QuerySet[Run]":
    return Run.objects.filter(project__in=projects).select_related("project").order_by("-placed_at", "-id")


def _commit_runs(projects: Sequence[Project], text: str) -> "QuerySet[Run]":
    """Runs of commits that begin so; of what cannot be a commit, none."""
    commit = text.lower()
    if len(commit) < _SHORTEST_COMMIT or set(commit) - set(_COMMIT_DIGITS):
        return Run.objects.none()
    return _runs(projects).filter(commit__startswith=commit)
