"""Values of an assertion: how often each came, where its bound is, and how the tail goes on beyond what was seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, log10
from statistics import median
from typing import Any

from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, Trace, bars, figure, note, scatter

_BINS = 30
_LEAST_SHARE = 1e-5
"""The log axis ends here: nothing more seldom is ever claimed."""
_WIDEST = 300.0
"""How many times the usual value fit on an axis of equal steps; what reaches farther is shown by powers of ten."""


@dataclass(frozen=True)
class ValueTail:
    """Finite values; `x` and the rest are the fitted tail and its band, empty without a fit."""

    values: tuple[float, ...]
    bound: float | None
    proposed: float | None
    is_lower: bool
    x: tuple[float, ...] = ()
    share: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @property
    def is_wide(self) -> bool:
        """Whether values and bounds are so far apart that most would lie on one line at the edge."""
        shown = [each for each in (min(self.values), max(self.values), self.bound, self.proposed) if each is not None]
        return min(shown) > 0 and max(shown) > _WIDEST * median(self.values)


@dataclass(frozen=True)
class _Bin:
    start: float
    end: float
    count: int


def _bins(data: ValueTail) -> list[_Bin]:
    if not data.is_wide:
        return _equal_bins(data.values)
    by_power = _equal_bins([log(value) for value in data.values])
    return [_Bin(exp(each.start), exp(each.end), each.count) for each in by_power]


def _equal_bins(values: Sequence[float]) -> list[_Bin]:
    least, most = min(values), max(values)
    width = most / _BINS - least / _BINS
    if width <= 0:
        return [_Bin(least, most, len(values))]
    counts = [0] * _BINS
    for value in values:
        counts[min(int((value / 2 - least / 2) / (width / 2)), _BINS - 1)] += 1
    return [_Bin(least + place * width, least + (place + 1) * width, count) for place, count in enumerate(counts)]


def _histogram(data: ValueTail) -> Trace:
    bins = _bins(data)
    centres = [each.start / 2 + each.end / 2 for each in bins]
    # On a log axis Plotly would make all bars as wide as the narrowest bin.
    widths: dict[str, Any] = {"width": [each.end - each.start for each in bins]} if data.is_wide else {}
    hover = "%{y:,} runs near %{x:.4g}<extra></extra>"
    counts = [each.count for each in bins]
    return bars(centres, counts, "values", palette.MAIN, yaxis="y2", hovertemplate=hover, **widths)


def _seen(data: ValueTail) -> Trace:
    """The share of values that are farther out than each, as they came."""
    ordered = sorted(data.values, reverse=data.is_lower)
    tail = ordered[len(ordered) // 2 :]
    count, most = len(ordered), 200
    step = max(len(tail) // most, 1)
    places = [*range(0, len(tail) - 1, step), len(tail) - 1]
    shares = [(len(tail) - place - 0.5) / count for place in places]
    return scatter(
        x=[tail[place] for place in places],
        y=shares,
        mode="markers",
        name="seen",
        marker={"color": palette.MAIN, "symbol": "circle-open", "size": 5},
        hovertemplate="%{y:.2~%} beyond %{x:.4g}<extra></extra>",
    )


def _fitted(data: ValueTail) -> list[Trace]:
    kept = [place for place, high in enumerate(data.high) if high >= _LEAST_SHARE]
    x = [data.x[place] for place in kept]
    edge = {"mode": "lines", "line": {"width": 0, "color": palette.BAND}, "hoverinfo": "skip", "showlegend": False}
    low = scatter(x=x, y=[max(data.low[place], _LEAST_SHARE) for place in kept], **edge)
    high = scatter(x=x, y=[data.high[place] for place in kept], fill="tonexty", fillcolor=palette.BAND, **edge)
    middle = scatter(
        x=x,
        y=[max(data.share[place], _LEAST_SHARE) for place in kept],
        mode="lines",
        name="fitted tail",
        line={"color": palette.TEXT, "width": 2},
        hovertemplate="%{y:.2~%} beyond %{x:.4g}<extra></extra>",
    )
    return [low, high, middle] if kept else []


def _marks(data: ValueTail) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    shapes, notes = [], []
    present = (data.bound, "present bound", palette.FAILED, "solid", 1.0)
    marks = (present, (data.proposed, "proposed", palette.PASSED, "dash", 0.9))
    for x, name, colour, dash, height in marks:
        if x is None:
            continue
        line = {"color": colour, "width": 2, "dash": dash}
        shapes.append({"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line})
        side = "right" if data.is_lower else "left"
        at = log10(x) if data.is_wide else x  # Plotly's way: lines take the value, words its logarithm
        notes.append(note(f"{name} {x:.4g}", at, height, yref="paper", xanchor=side, yanchor="top"))
    return shapes, notes


def chart(data: ValueTail) -> Figure | None:
    if len(data.values) < 2:
        return None
    shapes, notes = _marks(data)
    side = "below" if data.is_lower else "above"
    return figure(
        [_histogram(data), *_fitted(data), _seen(data)],
        height=420,
        showlegend=False,
        bargap=0.05,
        shapes=shapes,
        annotations=notes,
        xaxis={"title": {"text": "value"}, "anchor": "y", **({"type": "log", "dtick": 1} if data.is_wide else {})},
        yaxis2={"title": {"text": "runs"}, "domain": [0.58, 1], "rangemode": "tozero", "nticks": 5},
        yaxis={
            "title": {"text": f"share of runs {side}"},
            "type": "log",
            "domain": [0, 0.48],
            "tickvals": [1, 0.1, 0.01, 0.001, 0.0001, 0.00001],
            "ticktext": ["all", "1 in 10", "1 in 100", "1 in 1,000", "1 in 10,000", "1 in 100,000"],
        },
    )


def table(data: ValueTail) -> Table:
    headers = ("Values from", "to", "Runs")
    if len(data.values) < 2:
        return Table(headers, ())
    shown = ((f"{each.start:.6g}", f"{each.end:.6g}", f"{each.count:,}") for each in _bins(data) if each.count)
    return Table(headers, tuple(shown))
