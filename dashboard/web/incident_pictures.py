"""Incidents as pictures: on a time line by host and environment, and how many runs they cost each week."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from analytics.models import Analysis
from dashboard.charts import incident_timeline
from dashboard.charts.figure import Figure, Table, bars, count_axis, figure, time_axis
from dashboard.charts.palette import INCIDENT

_EPOCH = date(1970, 1, 1)


def timeline(timed: tuple[incident_timeline.TimedIncident, ...], analysis: Analysis | None) -> dict[str, Any]:
    data = incident_timeline.IncidentTimeline(timed, *_span(analysis))
    return {"figure": incident_timeline.chart(data), "table": incident_timeline.table(data)}


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
    """Runs whose failures belong to the machines."""
    runs: int


def weeks_of(analysis: Analysis | None) -> list[Week]:
    """Every week of the window, those without an incident too, from how the analysis says that runs ended."""
    incidents: Counter[date] = Counter()
    runs: Counter[date] = Counter()
    for day in analysis.summary["days"] if analysis else ():
        monday = _monday(_EPOCH + timedelta(days=day["day"]))
        incidents[monday] += day["incident"]
        runs[monday] += sum(day[end] for end in ("passed", "flaky", "regression", "incident"))
    if not runs:
        return []
    count = (max(runs) - min(runs)).days // 7 + 1
    mondays = (min(runs) + timedelta(weeks=week) for week in range(count))
    return [Week(monday, incidents[monday], runs[monday]) for monday in mondays]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def trend(analysis: Analysis | None) -> dict[str, Any]:
    weeks = weeks_of(analysis)
    headers = ("Week from", "Runs lost to incidents", "Runs")
    table = Table(headers, tuple((f"{one.monday}", f"{one.incidents:,}", f"{one.runs:,}") for one in weeks))
    return {"figure": _trend_figure(weeks), "table": table}


def _trend_figure(weeks: list[Week]) -> Figure | None:
    if not any(one.incidents for one in weeks):
        return None
    counts = bars(
        [one.monday.isoformat() for one in weeks],
        [one.incidents for one in weeks],
        "runs lost to incidents",
        INCIDENT,
        hovertext=[f"week from {one.monday}<br>{one.incidents:,} of {one.runs:,} runs" for one in weeks],
        hoverinfo="text",
    )
    axis = count_axis("runs lost to incidents, by week", max(one.incidents for one in weeks))
    return figure([counts], height=240, bargap=0.3, showlegend=False, xaxis=time_axis(), yaxis=axis)
