"""When and where bulks of tests failed: a row for each host and environment."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from dashboard.charts import labels, palette
from dashboard.charts.figure import Figure, Table, Trace, figure, rows, scatter, time_axis


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

    @property
    def place(self) -> str:
        return " · ".join(part for part in (self.host, self.environment) if part) or "not said"


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
    for one in data.incidents:
        counts[one.place] += 1
    return {place: row for row, place in enumerate(sorted(counts, key=lambda place: (-counts[place], place)))}


def _hover(one: TimedIncident) -> str:
    told = f"<br>{labels.short(one.signature, 80)}" if one.signature else ""
    extent = f"{labels.counted(one.tests, 'test')} in {labels.counted(one.runs, 'run')}"
    return f"{labels.moment(one.started)} UTC, {one.state}<br>{labels.escaped(one.place)}<br>{extent}{told}"


def _spans(data: IncidentTimeline, row_of: dict[str, int]) -> Trace:
    """How long each lasted, as one trace of lines with gaps between."""
    x: list[str | None] = []
    y: list[int | None] = []
    for one in data.incidents:
        x += [labels.moment(one.started), labels.moment(one.ended), None]
        y += [row_of[one.place], row_of[one.place], None]
    return scatter(
        x=x, y=y, mode="lines", line={"color": palette.OTHER, "width": 5}, hoverinfo="skip", showlegend=False
    )


def chart(data: IncidentTimeline) -> Figure | None:
    if not data.incidents:
        return None
    row_of = _places(data)
    traces = [_spans(data, row_of)]
    for state, colour, symbol in _LOOKS:
        some = [one for one in data.incidents if one.state == state]
        if some:
            traces.append(
                scatter(
                    x=[labels.moment(one.started) for one in some],
                    y=[row_of[one.place] for one in some],
                    mode="markers+text",
                    name=state,
                    text=[f"{one.tests:,}" for one in some],
                    textposition="bottom center",
                    marker={"color": colour, "symbol": symbol, "size": 12, "line": {"width": 1.5}},
                    hovertext=[_hover(one) for one in some],
                    hoverinfo="text",
                )
            )
    names = [labels.short(place, 44) for place in row_of]
    axis = time_axis(
        range=[labels.moment(data.since), labels.moment(data.until)],
        title={"text": "time (UTC); number = tests that failed"},
    )
    return figure(traces, height=58 * len(row_of) + 110, xaxis=axis, showlegend=True, **rows(names, lift=20))


def table(data: IncidentTimeline) -> Table:
    headers = ("Started (UTC)", "Ended (UTC)", "Host", "Environment", "Runs", "Tests", "State", "Signature")
    found = (
        (
            labels.moment(one.started),
            labels.moment(one.ended),
            labels.plain(one.host),
            labels.plain(one.environment),
            f"{one.runs:,}",
            f"{one.tests:,}",
            one.state,
            labels.plain(one.signature),
        )
        for one in data.incidents
    )
    return Table(headers, tuple(found))
