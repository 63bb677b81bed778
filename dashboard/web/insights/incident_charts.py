"""Incidents as pictures: on a time line by host and environment, and how many runs they cost each week."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from analytics.models import Analysis
from dashboard.charts import incident_timeline
from dashboard.charts.figure import Chart, Figure, Table, bars, count_axis, draw, figure, link, linked, time_axis
from dashboard.charts.palette import INCIDENT

_EPOCH = date(1970, 1, 1)


def timeline(timed: tuple[incident_timeline.TimedIncident, ...], analysis: Analysis | None) -> Chart:
    data = incident_timeline.IncidentTimeline(timed, *_span(analysis))
    return draw(incident_timeline, data)


def _span(analysis: Analysis | None) -> tuple[datetime, datetime]:
    """The window, with a little room at both ends for what lies on them."""
    if analysis is None or analysis.since is None or analysis.until is None:
        return datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC)
    room = max((analysis.until - analysis.since) / 40, timedelta(hours=1))
    return analysis.since - room, analysis.until + room


@dataclass(frozen=True, slots=True)
class Week:
    monday: date
    incidents: int
    runs: int

    def address(self, page: str) -> str:
        """Where its incidents are listed."""
        return f"{page}?week={self.monday}" if self.incidents else ""


def weeks_of(analysis: Analysis | None, moments: Iterable[datetime]) -> list[Week]:
    """Every week of the window, those without an incident too; `moments` are when incidents were."""
    runs: Counter[date] = Counter()
    for day in analysis.summary["days"] if analysis else ():
        of_day = sum(day[end] for end in ("passed", "flaky", "regression", "broken", "incident"))
        runs[_monday(_EPOCH + timedelta(days=day["day"]))] += of_day
    if not runs:
        return []
    incidents = Counter(_monday(moment.astimezone(UTC).date()) for moment in moments)
    count = (max(runs) - min(runs)).days // 7 + 1
    mondays = (min(runs) + timedelta(weeks=week) for week in range(count))
    return [Week(monday, incidents[monday], runs[monday]) for monday in mondays]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def trend(analysis: Analysis | None, moments: Iterable[datetime], page: str) -> Chart:
    """Incidents by week; `page` lists them."""
    weeks = weeks_of(analysis, moments)
    headers = ("Week from", "Incidents", "Runs")
    rows = ((link(f"{week.monday}", week.address(page)), f"{week.incidents:,}", f"{week.runs:,}") for week in weeks)
    return Chart(_trend_figure(weeks, page), Table(headers, tuple(rows)))


def _trend_figure(weeks: list[Week], page: str) -> Figure | None:
    if not any(week.incidents for week in weeks):
        return None
    counts = bars(
        [week.monday.isoformat() for week in weeks],
        [week.incidents for week in weeks],
        "incidents",
        INCIDENT,
        hovertext=[f"week from {week.monday}<br>{week.incidents:,} in {week.runs:,} runs" for week in weeks],
        hoverinfo="text",
        customdata=[week.address(page) or None for week in weeks],
    )
    axis = count_axis("incidents per week", max(week.incidents for week in weeks))
    named = [week.monday.isoformat() for week in weeks][:: len(weeks) // 8 + 1]
    days = time_axis(tickvals=named, tickformat="%-d %b")
    return linked(figure([counts], height=240, bargap=0.3, showlegend=False, xaxis=days, yaxis=axis))
