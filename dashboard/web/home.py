"""Home: which project needs me?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from analytics.models import IncidentFinding
from analytics.selectors import current_analyses
from analytics.wording import counted, percent
from dashboard import access
from dashboard.charts.rate import Rate
from dashboard.quarantine.selectors import quarantined_by_project
from dashboard.templatetags.flakeboard import interval
from dashboard.web.export import Row, exported
from dashboard.web.insights.overview import flaky_runs, rate_told
from dashboard.web.page_context import isolated, link
from dashboard.web.paging import numbered_page
from dashboard.web.project.projects import ProjectForm
from dashboard.web.query import words
from ingest.models import Project, Run, Upload

PAGE_SIZE = 50
DAYS_SHOWN = 30
HEADERS = (
    *("project", "name", "runs_in_window", "flaky_runs", "low", "high"),
    *("flaky_tests", "open_incidents", "runs", "quarantined_tests"),
)


@dataclass(frozen=True, slots=True)
class RankedProject:
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
class ProjectRow(RankedProject):
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
    found = [ranked_project for ranked_project in known if ranked_project.is_called(text)]
    file = exported(request, "projects", HEADERS, _cells(found))
    if file is not None:
        return file
    page = numbered_page(request.GET, total=len(found), size=PAGE_SIZE)
    context = {
        "known": len(known),
        "text": text,
        "rows": _rows(found[page.first - 1 : page.last]),
        "page": page,
        "lead": home_lead(known[0]) if known else "",
        "form": ProjectForm(),
        "offer_demo": not any(ranked_project.project.last_upload_id for ranked_project in known),
        "no_demo": not any(ranked_project.project.demo for ranked_project in known),
    }
    return render(request, "home.html", context)


def home_lead(first: RankedProject) -> SafeString | str:
    """Which project needs attention most; nothing where no run of the first one is analysed."""
    rate, incidents = first.rate, first.incidents
    if rate is None or not rate.total:
        return ""
    if not rate.hits and not incidents:
        return "No project needs you: no run failed by flakiness alone."
    return format_html(
        "{} needs you most: flaky tests failed {} of its {} ({}){}.",
        link(reverse("project", args=(first.project.slug,)), isolated(first.project.name)),
        percent(rate.share),
        counted(rate.total, "run"),
        interval(rate.low, rate.high),
        f", and {counted(incidents, 'incident')} {'is' if incidents == 1 else 'are'} open" if incidents else "",
    )


def _ranked(projects: "QuerySet[Project]") -> list[RankedProject]:
    """Projects by how much they need attention, read in three queries."""
    newest = Upload.objects.filter(project=OuterRef("pk"), experiment=None).order_by("-id").values("pk")[:1]
    found = list(projects.annotate(last_upload_id=Subquery(newest)).order_by("name"))
    rates, incidents = _rates(found), _open_incidents(found)
    every = (RankedProject(project, rates.get(project.pk), incidents.get(project.pk, 0)) for project in found)
    return sorted(every, key=lambda ranked_project: ranked_project.need, reverse=True)


def _rates(projects: list[Project]) -> dict[int, Rate]:
    """The share of runs in each project's window that failed only because of flaky tests."""
    current = current_analyses().filter(project__in=projects)
    summaries = current.values_list("project_id", KeyTransform("runs", "summary"))
    return {project: rate_told(runs) for project, runs in summaries}


def _cells(ranked: list[RankedProject]) -> Iterator[Row]:
    """Read only where a file is asked for."""
    for row in _rows(ranked):
        yield row.cells


def _rows(ranked: list[RankedProject]) -> list[ProjectRow]:
    """The same projects with everything the page shows of them, read in four queries."""
    projects = [ranked_project.project for ranked_project in ranked]
    uploads = Upload.objects.defer("files").in_bulk(
        [project.last_upload_id for project in projects if project.last_upload_id]
    )
    by_project = Run.counted.filter(project__in=projects).values("project_id").annotate(runs=Count("pk"))
    runs = dict(by_project.values_list("project_id", "runs"))
    conclusions, quarantined = _concluded(projects), quarantined_by_project([project.pk for project in projects])
    return [
        ProjectRow(
            ranked_project.project,
            ranked_project.rate,
            ranked_project.incidents,
            runs=runs.get(ranked_project.project.pk, 0),
            last_upload=uploads.get(ranked_project.project.last_upload_id),
            quarantined=quarantined.get(ranked_project.project.pk, 0),
            **conclusions.get(ranked_project.project.pk, {}),
        )
        for ranked_project in ranked
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
    """The share for each of the last days of the window, None for days without runs."""
    if not days:
        return ()
    last = days[-1]["day"]
    share = {day["day"]: flaky_runs([day]).share for day in days if day["day"] > last - DAYS_SHOWN}
    return tuple(share.get(day) for day in range(min(share), last + 1))


def _open_incidents(projects: list[Project]) -> dict[int, int]:
    """Incidents that nobody has confirmed or rejected yet."""
    undecided = IncidentFinding.objects.filter(
        analysis__in=current_analyses().filter(project__in=projects), report__incidentdecision=None
    )
    by_project = undecided.values("analysis__project_id").annotate(incidents=Count("pk"))
    return dict(by_project.values_list("analysis__project_id", "incidents"))
