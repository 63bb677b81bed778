"""When and where bulks of tests failed: a row for each host and environment."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, figure, link, linked, rows, scatter, time_axis


@dataclass(frozen=True)
class TimedIncident:
    started: datetime
    ended: datetime
    host: str
    environment: str
    runs: int
    tests: int
    state: str
    """ "open", "confirmed" or "rejected"."""
    signature: str = ""
    address: str = ""
    """The page of its run."""

    @property
    def place(self) -> str:
        return " · ".join(part for part in (self.host, self.environment) if part) or "unknown"


@dataclass(frozen=True)
class IncidentTimeline:
    incidents: tuple[TimedIncident, ...]
    since: datetime
    until: datetime


_LOOKS = (
    ("open", palette.INCIDENT, "diamond"),
    ("confirmed", palette.FAILED, "square"),
    ("rejected", palette.OTHER, "circle-open"),
)


def _places(data: IncidentTimeline) -> dict[str, int]:
    """Rows, the one with most incidents first."""
    counts: dict[str, int] = defaultdict(int)
    for incident in data.incidents:
        counts[incident.place] += 1
    return {place: row for row, place in enumerate(sorted(counts, key=lambda place: (-counts[place], place)))}


def _hover(incident: TimedIncident) -> str:
    message = f"<br>{wording.short(incident.signature, 80)}" if incident.signature else ""
    extent = f"{wording.counted(incident.tests, 'test')} in {wording.counted(incident.runs, 'run')}"
    when = f"{wording.moment(incident.started)} UTC, {incident.state}"
    return f"{when}<br>{wording.escaped(incident.place)}<br>{extent}{message}"


def _spans(data: IncidentTimeline, row_of: dict[str, int]) -> Trace:
    """How long each lasted, as one trace of lines with gaps between."""
    x: list[str | None] = []
    y: list[int | None] = []
    for incident in data.incidents:
        x += [wording.moment(incident.started), wording.moment(incident.ended), None]
        y += [row_of[incident.place], row_of[incident.place], None]
    return scatter(
        x=x, y=y, mode="lines", line={"color": palette.OTHER, "width": 5}, hoverinfo="skip", showlegend=False
    )


def chart(data: IncidentTimeline) -> Figure | None:
    if not data.incidents:
        return None
    row_of = _places(data)
    traces = [_spans(data, row_of)]
    for state, colour, symbol in _LOOKS:
        incidents = [incident for incident in data.incidents if incident.state == state]
        if incidents:
            traces.append(
                scatter(
                    x=[wording.moment(incident.started) for incident in incidents],
                    y=[row_of[incident.place] for incident in incidents],
                    mode="markers+text",
                    name=state,
                    text=[f"{incident.tests:,}" for incident in incidents],
                    textposition="bottom center",
                    marker={"color": colour, "symbol": symbol, "size": 12, "line": {"width": 1.5}},
                    hovertext=[_hover(incident) for incident in incidents],
                    hoverinfo="text",
                    customdata=[incident.address or None for incident in incidents],
                )
            )
    names = [wording.short(place, 44) for place in row_of]
    axis = time_axis(
        range=[wording.moment(data.since), wording.moment(data.until)],
        title={"text": "time (UTC); number = tests that failed"},
    )
    drawn = figure(traces, height=58 * len(row_of) + 110, xaxis=axis, showlegend=True, **rows(names, lift=20))
    return linked(drawn) if any(incident.address for incident in data.incidents) else drawn


def table(data: IncidentTimeline) -> Table:
    headers = ("Started (UTC)", "Ended (UTC)", "Host", "Environment", "Runs", "Tests", "State", "Signature")
    found = (
        (
            link(wording.moment(incident.started), incident.address),
            wording.moment(incident.ended),
            wording.plain(incident.host),
            wording.plain(incident.environment),
            f"{incident.runs:,}",
            f"{incident.tests:,}",
            incident.state,
            wording.plain(incident.signature),
        )
        for incident in data.incidents
    )
    return Table(headers, tuple(found))
