"""Trends: are we better than last month, and which team is? Of a project, a team or all projects that a reader sees."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.trends.comparison import ComparedLine
from dashboard.trends.periods import COMPARISONS, UNITS, Span
from dashboard.trends.query import FILTERS, TrendQuery
from dashboard.trends.trend import TeamRow, Trend, trend_of
from dashboard.web.analysis import page_analysis
from dashboard.web.decorators import project_page
from dashboard.web.export import Row, exported
from dashboard.web.insights.trend_charts import Address, TrendChart, charts_of
from dashboard.web.insights.trend_leads import not_counted, span_words, trend_lead
from dashboard.web.insights.trend_points import LISTED
from dashboard.web.insights.trend_yardsticks import trend_yardsticks
from dashboard.web.query import choice
from ingest.models import Project

COMPARISON_FILE, TEAMS_FILE = "comparison", "teams"
_COMPARED = ("number", "this_period", "period_before", "change", "difference")
_TEAMS = (
    *("owner", "runs", "failed_by_flakiness", "low", "high", "runs_before", "failed_before", "low_before"),
    *("high_before", "difference", "difference_low", "difference_high", "change"),
    *("new", "reopened", "fixed", "flaky_at_the_end", "flaky_at_the_end_before"),
)


@project_page
def project_trends(request: HttpRequest, project: Project) -> HttpResponseBase:
    query = TrendQuery.read(request.GET)
    trend = trend_of([project], query)
    context = {"project": project, "analysed": page_analysis(project), "all_address": request.path}
    where = reverse("trend_points", args=(project.slug, "-")).removesuffix("-")
    return _page(request, "insights/trends.html", trend, project.slug, where, context)


@login_required
@require_safe
def instance_trends(request: HttpRequest) -> HttpResponseBase:
    """All projects that the reader may see, as one."""
    projects = list(access.user_projects(request.user))
    trend = trend_of(projects, TrendQuery.read(request.GET))
    context = {"projects": projects, "all_address": request.path}
    return _page(request, "insights/instance_trends.html", trend, "instance", _instance_points(), context)


@login_required
@require_safe
def team_trends(request: HttpRequest, owner: str) -> HttpResponseBase:
    """A team's tests in all projects that the reader may see. One that owns nothing there looks like one that nobody
    ever named."""
    projects = list(access.user_projects(request.user))
    query = TrendQuery.read({**request.GET.dict(), "owner": owner})
    trend = trend_of(projects, query)
    context = {"owner": query.owner, "projects": _owned_projects(trend), "all_address": request.path}
    return _page(request, "insights/team_trends.html", trend, "team", _instance_points(), context)


def _instance_points() -> str:
    return reverse("instance_trend_points", args=("-",)).removesuffix("-")


def _owned_projects(trend: Trend | None) -> list[Project]:
    """Projects in which the chosen tests did anything in the days that are counted."""
    if trend is None:
        return []
    ids = {found.project_id for found in (*trend.selection.runs, *trend.selection.spells)}
    return [facts.project for facts in trend.facts if facts.project.pk in ids]


def _page(
    request: HttpRequest, template: str, trend: Trend | None, name: str, points: str, context: dict[str, Any]
) -> HttpResponseBase:
    if trend is None:
        return render(request, template, {**context, "trend": None})
    charts = charts_of(trend, point_address(points, trend.query))
    file = _file(request, trend, charts, name)
    if file is not None:
        return file
    shown = {
        "trend": trend,
        "query": trend.query,
        "charts": charts,
        "lead": trend_lead(trend),
        "units": UNITS,
        "comparisons": COMPARISONS.items(),
        "yardsticks": trend_yardsticks(trend),
        "not_counted": not_counted(trend.query),
        "after_words": span_words(trend.days.comparison.after),
        "before_words": span_words(trend.days.comparison.before),
        "compared_lines": _compared_lines(trend, point_address(points, trend.query)),
        "team_top": trend.team_top,
        "team_rows": [(row, _team_address(row, trend.query)) for row in trend.teams],
    }
    return render(request, template, {**context, **shown})


def _file(request: HttpRequest, trend: Trend, charts: Iterable[TrendChart], name: str) -> HttpResponseBase | None:
    """The chart or table that `chart` names, by default the first chart."""
    known = {chart.id: chart for chart in charts}
    asked_for = choice(request.GET, "chart", {*known, COMPARISON_FILE, TEAMS_FILE}) or next(iter(known))
    file_name = f"{name}-trends-{asked_for}"
    if asked_for == COMPARISON_FILE:
        rows = ((line.key, line.after, line.before, line.change.word, line.difference) for line in trend.lines)
        return exported(request, file_name, _COMPARED, rows)
    if asked_for == TEAMS_FILE:
        return exported(request, file_name, _TEAMS, _team_rows(trend.teams))
    return exported(request, file_name, known[asked_for].headers, known[asked_for].rows)


def _team_rows(teams: Iterable[TeamRow]) -> Iterator[Row]:
    for row in teams:
        after, before, found = row.after, row.before, row.change.difference
        rates = [(part.runs, part.flaky, *_ends(part.flaky_rate)) for part in (after, before)]
        change = (found.value, found.low, found.high) if found.is_known else (None, None, None)
        counts = (after.new, after.reopened, after.fixed, after.stock, before.stock)
        yield (row.owner or "nobody", *rates[0], *rates[1], *change, row.change.word, *counts)


def _ends(rate: Any) -> tuple[float | None, float | None]:
    return (rate.low, rate.high) if rate.is_known else (None, None)


# -- where a point leads -----------------------------------------------------------------------------------------


def point_address(where: str, query: TrendQuery) -> Address:
    """Lists of what is counted keep the filters, and have the days of the point."""
    filters = {name: getattr(query, name) for name in FILTERS if getattr(query, name)}

    def address(what: str, span: Span) -> str:
        days = {"from": span.first.isoformat(), "to": span.last.isoformat()}
        return f"{where}{what}?{urlencode({**days, **filters})}"

    return address


def _compared_lines(trend: Trend, address: Address) -> list[tuple[ComparedLine, str, str]]:
    """With where both numbers lead; empty for what has no list."""
    comparison = trend.days.comparison

    def where(line: ComparedLine, span: Span) -> str:
        what = "fixed" if line.key == "time" else line.key
        return address(what, span) if what in LISTED else ""

    return [(line, where(line, comparison.after), where(line, comparison.before)) for line in trend.lines]


def _team_address(row: TeamRow, query: TrendQuery) -> str:
    """The team's page across projects, with the days that are shown here."""
    days = {"from": query.first, "to": query.last, "compare": query.compare, "by": query.unit}
    asked_for = urlencode({name: str(value) for name, value in days.items() if value})
    return f"{reverse('team', args=(row.owner,))}?{asked_for}" if row.owner else ""
