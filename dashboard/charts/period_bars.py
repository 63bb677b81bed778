"""Counts by week or month, several kinds side by side; a click on a bar shows what it counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, bars, count_axis, figure, link, linked, scatter


@dataclass(frozen=True)
class PeriodSeries:
    name: str
    values: tuple[float, ...]
    colour: str = palette.MAIN
    hatching: str = ""
    addresses: tuple[str, ...] = ()
    """What each value counts; empty where nothing can be opened."""
    is_line: bool = False


@dataclass(frozen=True)
class PeriodBars:
    unit: str
    """"week" or "month"."""
    titles: tuple[str, ...]
    series: tuple[PeriodSeries, ...]
    axis: str
    decimals: int = 0


def period_axis(titles: Sequence[str]) -> dict[str, object]:
    """Periods by their names, not more of them than fit."""
    shown = list(titles)[:: -(-len(titles) // 8) or 1]
    return {"type": "category", "tickvals": shown, "ticktext": [_tick(title) for title in shown]}


def _tick(title: str) -> str:
    """A day as "5 Oct", a month as "Oct 2026"."""
    day = date.fromisoformat(f"{title}-01" if len(title) == len("2026-10") else title)
    return f"{day.day} {day:%b}" if len(title) > len("2026-10") else f"{day:%b %Y}"


def chart(data: PeriodBars) -> Figure | None:
    if not data.titles:
        return None
    highest = max(max(series.values) for series in data.series)
    traces = [_trace(data, series) for series in data.series]
    axis = count_axis(data.axis, highest)
    if data.decimals:
        axis = {"title": {"text": data.axis}, "nticks": 6, "range": [0, 1.06 * highest or 1]}
    drawn = figure(traces, height=320, barmode="group", bargap=0.25, xaxis=period_axis(data.titles), yaxis=axis)
    return linked(drawn) if any(series.addresses for series in data.series) else drawn


def _trace(data: PeriodBars, series: PeriodSeries) -> Trace:
    more = {
        "hovertemplate": f"%{{x}}: %{{y:,.{data.decimals}f}} %{{fullData.name}}<extra></extra>",
        **({"customdata": list(series.addresses)} if series.addresses else {}),
    }
    if not series.is_line:
        return bars(data.titles, series.values, series.name, series.colour, series.hatching, **more)
    line = {"color": series.colour, "width": 2}
    values = {"x": list(data.titles), "y": list(series.values), "name": series.name}
    return scatter(**values, mode="lines+markers", line=line, marker={"size": 6}, **more)


def table(data: PeriodBars) -> Table:
    headers = (data.unit.capitalize(), *(wording.plain(series.name).capitalize() for series in data.series))
    return Table(headers, tuple(zip(data.titles, *(_cells(data, series) for series in data.series), strict=True)))


def _cells(data: PeriodBars, series: PeriodSeries) -> list[str]:
    addresses = series.addresses or ("",) * len(series.values)
    return [
        link(f"{value:,.{data.decimals}f}", address if value else None)
        for value, address in zip(series.values, addresses, strict=True)
    ]
