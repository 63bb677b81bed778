"""How long it takes when it passes against when it fails: far longer says timeout, far shorter an early crash."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import quantiles

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, box, figure, linked, rows, scatter

_LEAST = 0.001
"""Seconds; a log axis has no nought, and producers do not measure finer."""
_MOST_DOTS = 300
_TICKS = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3_600, 36_000)


@dataclass(frozen=True)
class Durations:
    """Seconds of each passing and each failing execution."""

    passing: tuple[float, ...]
    failing: tuple[float, ...]
    passing_rows: tuple[int, ...] = ()
    failing_rows: tuple[int, ...] = ()
    """Which executions they are, as `address` knows them."""
    base: str = ""
    """What the address of every execution begins with; empty where they lead nowhere."""
    address: Callable[[int], str] = str
    """What follows the base for an execution; asked for those that are drawn."""


@dataclass(frozen=True)
class _Group:
    name: str
    seconds: tuple[float, ...]
    colour: str
    symbol: str
    rows: tuple[int, ...]


def _groups(data: Durations) -> list[_Group]:
    both = (
        _Group("passing", data.passing, palette.PASSED, "circle-open", data.passing_rows),
        _Group("failing", data.failing, palette.FAILED, "x", data.failing_rows),
    )
    return [group for group in both if group.seconds]


def _five(seconds: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Least, lower quartile, median, upper quartile, most."""
    if len(seconds) == 1:
        return (seconds[0],) * 5
    low, middle, high = quantiles(seconds, n=4, method="inclusive")
    return min(seconds), low, middle, high, max(seconds)


def _box(group: _Group, row: int) -> Trace:
    least, low, middle, high, most = ([max(value, _LEAST)] for value in _five(group.seconds))
    return box(
        y=[row],
        q1=low,
        median=middle,
        q3=high,
        lowerfence=least,
        upperfence=most,
        orientation="h",
        width=0.34,
        line={"color": palette.TEXT, "width": 1.5},
        fillcolor=palette.BAND,
        hoverinfo="skip",
    )


def _dots(group: _Group, row: int, data: Durations) -> Trace:
    """An even sample of the sorted executions, scattered below the box so that dots do not overlap."""
    ranked = sorted(range(len(group.seconds)), key=group.seconds.__getitem__)
    step = max(len(ranked) / _MOST_DOTS, 1.0)
    chosen = [ranked[int(place * step)] for place in range(int(len(ranked) / step))]
    sample = [group.seconds[place] for place in chosen]
    parts = {"customdata": [data.address(group.rows[place]) for place in chosen]} if data.base else {}
    return scatter(
        x=[max(value, _LEAST) for value in sample],
        y=[round(row + 0.24 + 0.16 * (place * 0.618 % 1), 3) for place in range(len(sample))],
        mode="markers",
        marker={"color": group.colour, "symbol": group.symbol, "size": 6, "opacity": 0.75},
        hovertemplate="%{x:.3~s}s<extra></extra>",
        **parts,
    )


def _label(group: _Group) -> str:
    middle = wording.seconds(_five(group.seconds)[2])
    return f"{group.name}: median {middle} of {wording.counted(len(group.seconds), 'execution')}"


def chart(data: Durations) -> Figure | None:
    groups = _groups(data)
    if not groups:
        return None
    traces = [trace for row, group in enumerate(groups) for trace in (_box(group, row), _dots(group, row, data))]
    axis = {
        "type": "log",
        "title": {"text": "duration (log scale)"},
        "tickvals": list(_TICKS),
        "ticktext": [wording.seconds(tick) for tick in _TICKS],
    }
    named = rows([_label(group) for group in groups], lift=34, above=0.5)
    drawn = figure(traces, height=110 * len(groups) + 70, showlegend=False, xaxis=axis, **named)
    return linked(drawn, base=data.base) if data.base else drawn


def table(data: Durations) -> Table:
    headers = ("Verdict", "Executions", "Shortest", "Lower quartile", "Median", "Upper quartile", "Longest")
    found = (
        (group.name, f"{len(group.seconds):,}", *(wording.seconds(value) for value in _five(group.seconds)))
        for group in _groups(data)
    )
    return Table(headers, tuple(found))
