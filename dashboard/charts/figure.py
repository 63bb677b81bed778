"""What every chart is made of: a figure as a plain dict, and the same data as a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from math import log10
from types import ModuleType
from typing import Any

from dashboard.charts import palette

Figure = dict[str, Any]
"""`data` and `layout` as plotly.js takes them: lists, numbers and text alone."""
Trace = dict[str, Any]
"""One of `data`. It is not made by plotly's classes: their checks take ten times as long, and are the tests' to do."""


class Links(str):
    """A cell of a table whose words lead somewhere: what a click on the picture opens, for the keyboard."""

    __slots__ = ("links",)
    links: tuple[tuple[str, str], ...]
    """Words and address of each."""

    def __new__(cls, links: Iterable[tuple[str, str]]) -> "Links":
        links = tuple(links)
        cell = super().__new__(cls, ", ".join(words for words, _ in links))
        cell.links = links
        return cell


def link(words: str, address: str | None) -> str:
    """These words, leading to the address where there is one."""
    return Links([(words, address)]) if address else words


def joined(cells: Sequence[str]) -> str:
    """Several cells as one; each keeps where it leads to."""
    return Links(pair for cell in cells for pair in (cell.links if isinstance(cell, Links) else ((cell, ""),)))


@dataclass(frozen=True)
class Table:
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figure(traces: Iterable[Trace], *, height: int, **layout: Any) -> Figure:
    """A figure of these traces. Fonts, margins and grid are the script's, so that a page does not repeat them."""
    return {"data": [_rounded(trace) for trace in traces], "layout": _rounded({"height": height, **layout})}


def scatter(**properties: Any) -> Trace:
    return {"type": "scatter", **properties}


def box(**properties: Any) -> Trace:
    return {"type": "box", **properties}


def heatmap(**properties: Any) -> Trace:
    return {"type": "heatmap", **properties}


def _rounded(value: Any) -> Any:
    """Five digits are more than a pixel can show, and a third of the bytes."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def linked(made: Figure, **meta: Any) -> Figure:
    """Say that a click on its points leads somewhere: their `customdata` are addresses of this site.

    With `base` they are what follows it. Cells of a grid have no data of their own: the address is `base` with the
    cell's part of `columns` and of `rows`."""
    made["layout"]["meta"] = {"linked": True, **meta}
    return made


def thinned(n: Sequence[int], values: Sequence[float]) -> tuple[list[int], list[float]]:
    """Thin a curve for a log axis to points at least two per cent apart, and keep the last point."""
    kept: list[int] = []
    for place, number in enumerate(n):
        if not kept or number >= n[kept[-1]] * 1.02 or place == len(n) - 1:
            kept.append(place)
    return [n[place] for place in kept], [values[place] for place in kept]


def count_axis(title: str, highest: float, **more: Any) -> dict[str, Any]:
    """An axis of counts from nought: whole numbers, and never half a run where there are few."""
    step = {"dtick": 1} if highest <= 6 else {"nticks": 6}
    return {"title": {"text": title}, "rangemode": "tozero", "tickformat": ",d", **step, **more}


def share_axis(title: str, highest: float, **more: Any) -> dict[str, Any]:
    """An axis of shares, in per cent, from nought to a little over the highest."""
    top = min(highest, 1.0) * 1.06 or 0.01
    return {"title": {"text": title}, "tickformat": ".3~%", "nticks": 6, "range": [0, top], **more}


def time_axis(**more: Any) -> dict[str, Any]:
    return {"type": "date", "nticks": 8, **more}


_DAY_STEPS = (1, 2, 7, 14, 28, 56, 112)
_MOST_TICKS = 8
_MONDAY = "1970-01-05"
_MILLISECONDS_A_DAY = 86_400_000


def day_axis(days: Sequence[date], **more: Any) -> dict[str, Any]:
    """A date axis with ticks on whole days, or on Mondays where they are a week or more apart."""
    first, last = min(days), max(days)
    period = 7 if last > first and all((day - first).days % 7 == 0 for day in days) else 1
    enough = ((last - first).days + 1) / _MOST_TICKS
    step = next((interval for interval in _DAY_STEPS if interval >= max(enough, period)), _DAY_STEPS[-1])
    beside = timedelta(days=period / 2)
    ends = [(datetime.combine(day, time.min) + by).isoformat() for day, by in ((first, -beside), (last, beside))]
    return {"type": "date", "tick0": _MONDAY, "dtick": step * _MILLISECONDS_A_DAY, "range": ends, **more}


def reruns_axis(most: int) -> dict[str, Any]:
    """An axis of 1 to `most` reruns: on a log scale where they are many, with a little room at both ends."""
    axis = {"title": {"text": "reruns (n)"}, "tickformat": ",d"}
    if most <= 30:
        return {**axis, "rangemode": "tozero"}
    return {**axis, "type": "log", "dtick": "D2" if most < 400 else 1, "range": [-0.05, log10(most) + 0.03]}


def rows(labels: Sequence[str], lift: int = 16, above: float = 0.75) -> dict[str, Any]:
    """Rows from the top down, each with its label above its line, so that a phone has room for both.

    They are notes and not the axis's own labels, which would stand beside the picture and leave it half the width."""
    place = {"xref": "paper", "xanchor": "left", "yshift": lift, "bgcolor": None, "borderpad": 0}
    axis = {
        "tickvals": list(range(len(labels))),
        "showticklabels": False,
        "range": [len(labels) - 0.6, -above],
        "zeroline": False,
    }
    return {"yaxis": axis, "annotations": [note(label, 0, row, **place) for row, label in enumerate(labels)]}


def horizontal_mark(y: float) -> dict[str, Any]:
    line = {"color": palette.OTHER, "width": 1, "dash": "dot"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def note(text: str, x: float | str, y: float | str, **more: Any) -> dict[str, Any]:
    """Words inside the picture, without an arrow, on a ground that keeps them legible."""
    return {"text": text, "x": x, "y": y, "showarrow": False, "bgcolor": palette.SURFACE, "borderpad": 2, **more}


def bars(x: Sequence[Any], y: Sequence[float], name: str, colour: str, shape: str = "", **more: Any) -> Trace:
    """Bars of one kind, hatched where a shape is given so that colour is not the only sign."""
    pattern: Mapping[str, Any] = {"pattern": _hatching(shape)} if shape else {}
    marker = {"color": colour, **pattern}
    return {"type": "bar", "x": list(x), "y": list(y), "name": name, "marker": marker, **more}


def day_width(days: Sequence[Any]) -> dict[str, Any]:
    """A bar that stands alone has no neighbour from which its width could be told."""
    return {"width": 0.3 * _MILLISECONDS_A_DAY} if len(days) == 1 else {}


def _hatching(shape: str) -> dict[str, Any]:
    """Lines in the colour of the ground over the bar's own."""
    return {"shape": shape, "fillmode": "overlay", "fgcolor": palette.SURFACE, "size": 6, "solidity": 0.25}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as the template tag `chart` takes it."""

    figure: Figure | None
    table: Table


def draw(module: ModuleType, data: Any, height: int | None = None) -> Chart:
    figure = module.chart(data)
    if figure is not None and height is not None:
        figure["layout"]["height"] = height
    return Chart(figure, module.table(data))
