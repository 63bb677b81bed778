"""Failure rate per day with its interval, over how many executions there were."""

from dataclasses import dataclass
from datetime import date

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import (
    Figure,
    Table,
    Trace,
    bars,
    count_axis,
    day_axis,
    day_width,
    figure,
    link,
    linked,
    scatter,
    share_axis,
)
from dashboard.charts.rate import Rate, error_bars, highest, hover


@dataclass(frozen=True)
class DayRate:
    day: date
    rate: Rate
    address: str = ""
    """Where what is counted is listed."""


@dataclass(frozen=True)
class RateTrend:
    days: tuple[DayRate, ...]
    unit: str = "executions"
    """What is counted: "executions" of a test or "runs" of a project."""


def _band(days: list[DayRate]) -> list[Trace]:
    """The interval as two lines with the room between them filled; days without executions leave a gap."""
    x = [wording.day(day.day) for day in days]
    plain = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "legendgroup": "band"}
    high = scatter(x=x, y=[day.rate.high for day in days], showlegend=False, **plain)
    low = scatter(
        x=x, y=[day.rate.low for day in days], fill="tonexty", fillcolor=palette.BAND, name="95 % interval", **plain
    )
    return [high, low]


def _line(days: list[DayRate]) -> Trace:
    return scatter(
        x=[wording.day(day.day) for day in days],
        y=[day.rate.share for day in days],
        mode="lines+markers",
        name="failure rate",
        line={"color": palette.MAIN, "width": 2},
        marker={"size": 5},
        hovertext=[hover(day.rate) for day in days],
        hoverinfo="x+text",
        customdata=[day.address or None for day in days],
    )


def _few_ticks(highest: int) -> dict[str, int | None]:
    """The counts have little height, but one or two runs would be marked twice with the same whole number."""
    return {"nticks": 3, "dtick": None} if highest > 2 else {"dtick": 1}


def _pieces(days: tuple[DayRate, ...]) -> list[list[DayRate]]:
    """Days in a row that all have executions: a band is not drawn across days of which nothing is known."""
    pieces: list[list[DayRate]] = [[]]
    for day in days:
        if day.rate.total:
            pieces[-1].append(day)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def chart(data: RateTrend) -> Figure | None:
    known = [day for day in data.days if day.rate.total]
    if not known:
        return None
    rates = [day.rate for day in known]
    traces = [trace for piece in _pieces(data.days) for trace in _band(piece)]
    for trace in traces[2:]:
        trace["showlegend"] = False
    line = _line(list(data.days))
    alone = [piece[0].rate for piece in _pieces(data.days) if len(piece) == 1]
    if len(alone) == len(known):
        line["error_y"] = error_bars([day.rate for day in data.days], palette.MAIN)
    days, totals = [wording.day(day.day) for day in data.days], [day.rate.total for day in data.days]
    more = {"yaxis": "y2", "showlegend": False, "hovertemplate": "%{x}: %{y:,d}", **day_width(days)}
    more["customdata"] = line["customdata"]
    counts = bars(days, totals, data.unit, palette.QUIET, **more)
    drawn = figure(
        [*traces, line, counts],
        height=380,
        xaxis=day_axis([day.day for day in data.days], anchor="y2"),
        yaxis=share_axis(f"failure rate (% of {data.unit})", highest(rates), domain=[0.34, 1]),
        yaxis2=count_axis(data.unit, max(totals), domain=[0, 0.2], **_few_ticks(max(totals))),
    )
    return linked(drawn) if any(day.address for day in data.days) else drawn


def table(data: RateTrend) -> Table:
    headers = ("Day", "Failed", data.unit.capitalize(), "Failure rate", "95 % interval")
    return Table(headers, tuple((link(wording.day(day.day), day.address), *day.rate.cells) for day in data.days))
