"""Home: which project needs me?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analytics.models import IncidentFinding
from analytics.selectors import current_analyses
from dashboard import access
from dashboard.charts.rate import Rate
from dashboard.quarantine.selectors import quarantined_by_project
from dashboard.web.asking import words
from dashboard.web.exporting import Row, exported
from dashboard.web.overview import flaky_runs, rate_told
from dashboard.web.paging import numbered_page
from dashboard.web.projects import ProjectForm
from ingest.models import Project, Run, Upload

PAGE_SIZE = 50
DAYS_SHOWN = 30
HEADERS = (
    *("project", "name", "runs_in_window", "flaky_runs", "low", "high"),
    *("flaky_tests", "open_incidents", "runs", "quarantined_tests"),
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A project, and by what it is ranked; `rate` is None before its first analysis."""

    project: Project
    rate: Rate | None
    incidents: int

    @property
    def need(self) -> tuple[bool, float, int]:
        """Sure flakiness first, then what is open."""
        return self.rate is not None, self.rate.low if self.rate is not None else 0.0, self.incidents

    def is_called(self, text: str) -> bool:
        return any(text.casefold() in name.casefold() for name in (self.project.name, self.project.slug))


@dataclass(frozen=True, slots=True)
class ProjectRow(Ranked):
    """What else is told of it; `flaky` is None before its first analysis."""

    runs: int
    last_upload: Upload | None
    quarantined: int
    flaky: int | None = None
    days: tuple[float | None, ...] = ()
    """By day, the share of runs that flakiness alone failed; None for a day without runs."""

    @property
    def cells(self) -> Row:
        rate = self.rate or Rate(0, 0, 0.0, 0.0)
        known = (rate.total, rate.hits, rate.low, rate.high) if rate.total else (0, None, None, None)
        counts = (self.flaky, self.incidents, self.runs, self.quarantined)
        return (self.project.slug, self.project.name, *known, *counts)


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponseBase:
    known, text = _ranked(access.user_projects(request.user)), words(request.GET, "q")
    found = [one for one in known if one.is_called(text)]
    file = exported(request, "projects", HEADERS, _cells(found))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(found), size=PAGE_SIZE)
    context = {
        "known": len(known),
        "text": text,
        "rows": _rows(found[page.first - 1 : page.last]),
        "page": page,
        "first": known[0] if known and known[0].rate is not None and known[0].rate.total else None,
        "form": ProjectForm(),
        "offer_demo": not any(one.project.last_upload_id for one in known),
        "no_demo": not any(one.project.demo for one in known),
    }
    return render(request, "home.html", context)


def _ranked(projects: "QuerySet[Project]") -> list[Ranked]:
    """Projects, the one that needs somebody most first: three queries, however many projects."""
    newest = Upload.objects.filter(project=OuterRef("pk")).order_by("-id").values("pk")[:1]
    found = list(projects.annotate(last_upload_id=Subquery(newest)).order_by("name"))
    rates, incidents = _rates(found), _open_incidents(found)
    every = (Ranked(one, rates.get(one.pk), incidents.get(one.pk, 0)) for one in found)
    return sorted(every, key=lambda one: one.need, reverse=True)


def _rates(projects: list[Project]) -> dict[int, Rate]:
    """Of the runs in each project's window, those that flakiness alone failed."""
    current = current_analyses().filter(project__in=projects)
    told = current.values_list("project_id", KeyTransform("runs", "summary"))
    return {project: rate_told(runs) for project, runs in told}


def _cells(ranked: list[Ranked]) -> Iterator[Row]:
    """Read only where a file is asked for."""
    for row in _rows(ranked):
        yield row.cells


def _rows(ranked: list[Ranked]) -> list[ProjectRow]:
    """The same projects with all that is told of them: four queries, however many projects."""
    projects = [one.project for one in ranked]
    uploads = Upload.objects.defer("files").in_bulk([one.last_upload_id for one in projects if one.last_upload_id])
    counted = Run.counted.filter(project__in=projects).values("project_id").annotate(runs=Count("pk"))
    runs = dict(counted.values_list("project_id", "runs"))
    said, quarantined = _concluded(projects), quarantined_by_project([one.pk for one in projects])
    return [
        ProjectRow(
            one.project,
            one.rate,
            one.incidents,
            runs=runs.get(one.project.pk, 0),
            last_upload=uploads.get(one.project.last_upload_id),
            quarantined=quarantined.get(one.project.pk, 0),
            **said.get(one.project.pk, {}),
        )
        for one in ranked
    ]


def _concluded(projects: list[Project]) -> dict[int, dict[str, Any]]:
    """What the current analysis of each project says of its tests and days."""
    current = current_analyses().filter(project__in=projects)
    parts = [KeyTransform(name, "summary") for name in ("states", "days")]
    return {
        project: {"flaky": states["flaky"], "days": _by_day(days)}
        for project, states, days in current.values_list("project_id", *parts)
    }


def _by_day(days: list[dict[str, int]]) -> tuple[float | None, ...]:
    """The last days of the window, those without runs as gaps."""
    if not days:
        return ()
    last = days[-1]["day"]
    share = {one["day"]: flaky_runs([one]).share for one in days if one["day"] > last - DAYS_SHOWN}
    return tuple(share.get(day) for day in range(min(share), last + 1))


def _open_incidents(projects: list[Project]) -> dict[int, int]:
    """Incidents that nobody has confirmed or rejected yet."""
    undecided = IncidentFinding.objects.filter(
        analysis__in=current_analyses().filter(project__in=projects), report__incidentdecision=None
    )
    counted = undecided.values("analysis__project_id").annotate(incidents=Count("pk"))
    return dict(counted.values_list("analysis__project_id", "incidents"))
