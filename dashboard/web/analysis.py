"""The analysis that a page rests on: read once, asked for anew by a button, and how far that is."""

from dataclasses import dataclass
from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from analytics.columns.codec import Columns
from analytics.models import Analysis, Refresh
from analytics.selectors import current_analysis, current_tests, is_outdated, refresh_of
from dashboard.tasks import refresh_now
from dashboard.web.decorators import project_deed, project_part
from dashboard.web.query import number
from ingest.models import Project

_SOON = timedelta(minutes=10)
"""What is due later than this is not waited for by an open page."""
_RECENT = timedelta(days=7)
"""A page says up to when results are, where the newest is older than this."""


@dataclass(frozen=True, slots=True)
class PageAnalysis:
    """The current analysis, None before the first one, with its tests; and what the next one waits for."""

    analysis: Analysis | None
    columns: Columns
    refresh: Refresh | None
    outdated: bool = False
    """There is one, but in a form that an older version stored: a new one is made by itself."""

    @property
    def shown(self) -> int:
        """Which analysis a page shows; 0 for none."""
        return self.analysis.pk if self.analysis is not None else 0

    @property
    def ends_early(self) -> bool:
        """Whether its newest report is of days ago: the window ends with that, not with today."""
        until = self.analysis.until if self.analysis is not None else None
        return until is not None and until < timezone.now() - _RECENT

    @property
    def running(self) -> bool:
        return self.refresh is not None and self.refresh.claim is not None

    @property
    def due(self) -> bool:
        due_at = self.refresh.due_at if self.refresh is not None else None
        return due_at is not None and due_at < timezone.now() + _SOON

    @property
    def waiting(self) -> bool:
        """Something is under way that is worth asking for again."""
        return self.running or ((self.due or self.outdated) and not self.error)

    @property
    def error(self) -> str:
        return self.refresh.error if self.refresh is not None else ""

    @property
    def left_out(self) -> list[tuple[str, int]]:
        """Reasons with how much was left out for each."""
        excluded = self.analysis.excluded if self.analysis is not None else {}
        return [(reason, count) for reason, count in excluded.items() if count]


def page_analysis(project: Project) -> PageAnalysis:
    """Two or three queries."""
    return _with_refresh(project, *current_tests(project.pk))


def _with_refresh(project: Project, analysis: Analysis | None, columns: Columns) -> PageAnalysis:
    outdated = analysis is None and is_outdated(project.pk)
    return PageAnalysis(analysis, columns, refresh_of(project.pk), outdated)


@project_deed("refresh")
def ask(request: HttpRequest, project: Project) -> HttpResponse:
    """Analyse now; then back to the page with the button, or only its status line where a script asked."""
    refresh_now(project)
    if "HX-Request" in request.headers:
        return _status(request, project)
    return redirect(_back(request) or reverse("project", args=(project.slug,)))


@project_part
def status(request: HttpRequest, project: Project) -> HttpResponse:
    """The status line, for as long as an analysis is under way."""
    return _status(request, project)


def _status(request: HttpRequest, project: Project) -> HttpResponse:
    now = _with_refresh(project, current_analysis(project.pk), Columns(b""))
    shown = number(request.GET or request.POST, "shown", 0)
    newer = now.shown != shown
    context = {"project": project, "analysed": now, "newer": newer, "shown": shown}
    return render(request, "partials/analysis_status.html", context)


def _back(request: HttpRequest) -> str:
    """The page that the form was on, if it is one of ours."""
    referrer = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(referrer, {request.get_host()}, require_https=request.is_secure())
    return referrer if ours else ""
