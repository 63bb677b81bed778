"""Home: which project needs me?"""

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
from dashboard.web.exporting import Row, exported
from dashboard.web.overview import flaky_runs
from dashboard.web.projects import ProjectForm
from ingest.models import Project, Run, Upload

DAYS_SHOWN = 30
HEADERS = ("project", "name", "runs_in_window", "flaky_runs", "low", "high", "flaky_tests", "open_incidents", "runs")


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A project, and what its current analysis says; `flaky` and `rate` are None before the first one."""

    project: Project
    runs: int
    last_upload: Upload | None
    incidents: int
    flaky: int | None = None
    rate: Rate | None = None
    days: tuple[float | None, ...] = ()
    """By day, the share of runs that flakiness alone failed; None for a day without runs."""

    @property
    def need(self) -> tuple[bool, float, int]:
        """By what it is ranked: sure flakiness first, then what is open."""
        return self.rate is not None, self.rate.low if self.rate is not None else 0.0, self.incidents

    @property
    def cells(self) -> Row:
        rate = self.rate or Rate(0, 0, 0.0, 0.0)
        known = (rate.total, rate.hits, rate.low, rate.high) if rate.total else (0, None, None, None)
        return (self.project.slug, self.project.name, *known, self.flaky, self.incidents, self.runs)


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponseBase:
    rows = _rows(access.user_projects(request.user))
    file = exported(request, "projects", HEADERS, (row.cells for row in rows))
    if file is not None:
        return file
    offer_demo = not any(row.last_upload for row in rows)
    first = rows[0] if rows and rows[0].rate is not None and rows[0].rate.total else None
    no_demo = not any(row.project.demo for row in rows)
    context = {"rows": rows, "first": first, "form": ProjectForm(), "offer_demo": offer_demo, "no_demo": no_demo}
    return render(request, "home.html", context)


def _rows(projects: "QuerySet[Project]") -> list[ProjectRow]:
    """Projects, the one that needs somebody most first: five queries, however many projects."""
    newest = Upload.objects.filter(project=OuterRef("pk")).order_by("-id").values("pk")[:1]
    found = list(projects.annotate(last_upload_id=Subquery(newest)).order_by("name"))
    uploads = Upload.objects.defer("files").in_bulk([one.last_upload_id for one in found if one.last_upload_id])
    counted = Run.counted.filter(project__in=found).values("project_id").annotate(runs=Count("pk"))
    runs = dict(counted.values_list("project_id", "runs"))
    said, incidents = _concluded(found), _open_incidents(found)
    rows = [
        ProjectRow(
            one, runs.get(one.pk, 0), uploads.get(one.last_upload_id), incidents.get(one.pk, 0), **said.get(one.pk, {})
        )
        for one in found
    ]
    return sorted(rows, key=lambda row: row.need, reverse=True)


def _concluded(projects: list[Project]) -> dict[int, dict[str, Any]]:
    """What the current analysis of each project says of its runs."""
    parts = [KeyTransform(name, "summary") for name in ("states", "runs", "days")]
    current = current_analyses().filter(project__in=projects)
    return {
        project: {
            "flaky": states["flaky"],
            "rate": Rate(runs["flaky"], runs["total"], runs["flaky_low"] or 0.0, runs["flaky_high"] or 0.0),
            "days": _by_day(days),
        }
        for project, states, runs, days in current.values_list("project_id", *parts)
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
