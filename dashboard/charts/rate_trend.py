"""Failure rate per day with its interval, over how many executions there were."""

from dataclasses import dataclass
from datetime import date

from dashboard.charts import labels, palette
from dashboard.charts.figure import Figure, Table, Trace, bars, count_axis, day_axis, figure, scatter, share_axis
from dashboard.charts.rate import Rate, error_bars, highest, hover


@dataclass(frozen=True)
class DayRate:
    day: date
    rate: Rate


@dataclass(frozen=True)
class RateTrend:
    days: tuple[DayRate, ...]
    unit: str = "executions"
    """What is counted: "executions" of a test or "runs" of a project."""


def _band(days: list[DayRate]) -> list[Trace]:
    """The interval as two lines with the room between them filled; days without executions leave a gap."""
    x = [labels.day(one.day) for one in days]
    plain = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "legendgroup": "band"}
    high = scatter(x=x, y=[one.rate.high for one in days], showlegend=False, **plain)
    low = scatter(
        x=x, y=[one.rate.low for one in days], fill="tonexty", fillcolor=palette.BAND, name="95 % interval", **plain
    )
    return [high, low]


def _line(days: list[DayRate]) -> Trace:
    return scatter(
        x=[labels.day(one.day) for one in days],
        y=[one.rate.share for one in days],
        mode="lines+markers",
        name="failure rate",
        line={"color": palette.MAIN, "width": 2},
        marker={"size": 5},
        hovertext=[hover(one.rate) for one in days],
        hoverinfo="x+text",
    )


def _pieces(days: tuple[DayRate, ...]) -> list[list[DayRate]]:
    """Days in a row that all have executions: a band is not drawn across days of which nothing is known."""
    pieces: list[list[DayRate]] = [[]]
    for one in days:
        if one.rate.total:
            pieces[-1].append(one)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def chart(data: RateTrend) -> Figure | None:
    known = [one for one in data.days if one.rate.total]
    if not known:
        return None
    rates = [one.rate for one in known]
    traces = [trace for piece in _pieces(data.days) for trace in _band(piece)]
    for trace in traces[2:]:
        trace["showlegend"] = False
    line = _line(list(data.days))
    alone = [piece[0].rate for piece in _pieces(data.days) if len(piece) == 1]
    if len(alone) == len(known):
        line["error_y"] = error_bars([one.rate for one in data.days], palette.MAIN)
    days, totals = [labels.day(one.day) for one in data.days], [one.rate.total for one in data.days]
    counts = bars(days, totals, data.unit, palette.QUIET, yaxis="y2", showlegend=False, hovertemplate="%{x}: %{y:,d}")
    return figure(
        [*traces, line, counts],
        height=380,
        xaxis=day_axis([one.day for one in data.days], anchor="y2"),
        yaxis=share_axis(f"failure rate (% of {data.unit})", highest(rates), domain=[0.34, 1]),
        yaxis2=count_axis(data.unit, max(totals), domain=[0, 0.2], nticks=3, dtick=None),
    )


def table(data: RateTrend) -> Table:
    headers = ("Day", "Failed", data.unit.capitalize(), "Failure rate", "95 % interval")
    return Table(headers, tuple((labels.day(one.day), *one.rate.cells) for one in data.days))
