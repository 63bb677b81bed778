"""A value in each failing and each passing run: where the dots of both lie apart, it tells them from each other."""

from dataclasses import dataclass
from statistics import median

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, figure, rows, scatter

_SPREAD = 0.32


@dataclass(frozen=True)
class RunValues:
    failing: tuple[float, ...]
    passing: tuple[float, ...]
    unit: str = ""
    """Seconds where it is "s"."""
    is_yes_no: bool = False
    """0 stands for no, 1 for yes."""


@dataclass(frozen=True)
class _Side:
    name: str
    values: tuple[float, ...]
    colour: str
    symbol: str


def _sides(data: RunValues) -> list[_Side]:
    both = (
        _Side("failing", data.failing, palette.FAILED, "x"),
        _Side("passing", data.passing, palette.PASSED, "circle-open"),
    )
    return [side for side in both if side.values]


def _shown(value: float, data: RunValues) -> str:
    if data.is_yes_no:
        return "yes" if value else "no"
    return wording.seconds(value) if data.unit == "s" else f"{value:.6g}"


def _dots(side: _Side, row: int, data: RunValues) -> Trace:
    """Dots that share a place are scattered, always in the same way."""
    places = range(len(side.values))
    aside = [0.22 * ((place * 0.754) % 1 - 0.5) if data.is_yes_no else 0.0 for place in places]
    return scatter(
        x=[value + shift for value, shift in zip(side.values, aside, strict=True)],
        y=[round(row + _SPREAD * (place * 0.618 % 1), 3) for place in places],
        mode="markers",
        marker={"color": side.colour, "symbol": side.symbol, "size": 8, "opacity": 0.8},
        text=[_shown(value, data) for value in side.values],
        hovertemplate="%{text}<extra></extra>",
    )


def chart(data: RunValues) -> Figure | None:
    sides = _sides(data)
    if not sides:
        return None
    axis = {"title": {"text": "seconds"} if data.unit == "s" else {"text": ""}, "zeroline": False, "nticks": 6}
    if data.is_yes_no:
        axis = {"tickvals": [0, 1], "ticktext": ["no", "yes"], "range": [-0.4, 1.4], "zeroline": False}
    labels = [f"{side.name}: {wording.counted(len(side.values), 'run')}" for side in sides]
    traces = [_dots(side, row, data) for row, side in enumerate(sides)]
    return figure(traces, height=80 * len(sides) + 70, showlegend=False, xaxis=axis, **rows(labels, lift=14, above=0.6))


def table(data: RunValues) -> Table:
    found: list[tuple[str, ...]] = []
    for side in _sides(data):
        least, middle, most = min(side.values), median(side.values), max(side.values)
        if data.is_yes_no:
            found.append((side.name, f"{len(side.values):,}", f"{sum(side.values):g} of {len(side.values):,}", "", ""))
        else:
            found.append((side.name, f"{len(side.values):,}", *(_shown(each, data) for each in (least, middle, most))))
    headers = ("Runs", "How many", "Yes" if data.is_yes_no else "Least", "Median", "Most")
    if data.is_yes_no:
        return Table(headers[:3], tuple(row[:3] for row in found))
    return Table(headers, tuple(found))
