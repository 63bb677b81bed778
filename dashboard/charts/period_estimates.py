"""A share or a number of days by week or month, with its interval; a click on a point shows what it counts."""

from dataclasses import dataclass
from math import isfinite, isnan

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, figure, horizontal_mark, link, linked, note, scatter, share_axis
from dashboard.charts.period_bars import period_axis


@dataclass(frozen=True)
class PeriodEstimate:
    title: str
    value: float
    low: float
    high: float
    """NaN where there is not enough data."""
    basis: str
    """What it rests on, in words: "12 of 340 runs"."""
    address: str = ""

    @property
    def is_known(self) -> bool:
        return not isnan(self.value)


@dataclass(frozen=True)
class Yardmark:
    """A published value, drawn as a line."""

    value: float
    label: str


@dataclass(frozen=True)
class PeriodEstimates:
    unit: str
    """"week" or "month"."""
    points: tuple[PeriodEstimate, ...]
    axis: str
    is_share: bool = True
    mark: Yardmark | None = None

    def words(self, value: float) -> str:
        if isnan(value):
            return "–"
        if not isfinite(value):
            return "not bounded"
        return wording.percent(value) if self.is_share else f"{value:,.1f}"

    def interval(self, point: PeriodEstimate) -> str:
        """Shares as everywhere else: "0–3.7 %"."""
        if self.is_share and isfinite(point.low) and isfinite(point.high):
            return wording.percents(point.low, point.high)
        return f"{self.words(point.low)} to {self.words(point.high)}"


def chart(data: PeriodEstimates) -> Figure | None:
    known = [point for point in data.points if point.is_known]
    if not known:
        return None
    top = _top(known, data.mark)
    dots = scatter(
        x=[point.title for point in data.points],
        y=[point.value if point.is_known else None for point in data.points],
        mode="lines+markers",
        line={"color": palette.MAIN, "width": 1.5},
        marker={"size": 8, "color": palette.MAIN},
        error_y=_whiskers(data.points, top),
        hovertext=[_hover(data, point) for point in data.points],
        hoverinfo="text",
        customdata=[point.address for point in data.points],
    )
    axis = share_axis(data.axis, top) if data.is_share else {"title": {"text": data.axis}, "range": [0, 1.06 * top]}
    marks = {}
    if data.mark:
        words = note(data.mark.label, 0, data.mark.value, xref="paper", xanchor="left", yshift=10)
        marks = {"shapes": [horizontal_mark(data.mark.value)], "annotations": [words]}
    axes = {"xaxis": period_axis([point.title for point in data.points]), "yaxis": axis}
    drawn = figure([dots], height=320, showlegend=False, **axes, **marks)
    return linked(drawn) if any(point.address for point in data.points) else drawn


def _top(known: list[PeriodEstimate], mark: Yardmark | None) -> float:
    """Room for every value, and for intervals unless one of little data would flatten the others."""
    values = max(max(point.value for point in known), mark.value if mark else 0.0)
    ends = sorted(point.high for point in known if isfinite(point.high))
    usual = ends[(len(ends) - 1) * 9 // 10] if ends else values
    return max(min(ends[-1] if ends else values, 2 * usual, 4 * values or 1.0), 1.2 * values) or 0.01


def _whiskers(points: tuple[PeriodEstimate, ...], top: float) -> dict[str, object]:
    """An interval without an end goes beyond the picture."""
    highs = [min(point.high, 2 * top) if not isnan(point.high) else 0.0 for point in points]
    return {
        "type": "data",
        "array": [high - point.value if point.is_known else 0 for high, point in zip(highs, points, strict=True)],
        "arrayminus": [point.value - point.low if point.is_known else 0 for point in points],
        "color": palette.MAIN,
        "thickness": 1.2,
        "width": 4,
    }


def _hover(data: PeriodEstimates, point: PeriodEstimate) -> str:
    if not point.is_known:
        return f"{point.title}: not enough data"
    return f"{point.title}: {data.words(point.value)}, {point.basis}<br>95 % interval {data.interval(point)}"


def table(data: PeriodEstimates) -> Table:
    headers = (data.unit.capitalize(), data.axis.capitalize(), "95 % interval", "Rests on")
    return Table(headers, tuple(_row(data, point) for point in data.points))


def _row(data: PeriodEstimates, point: PeriodEstimate) -> tuple[str, ...]:
    basis = link(point.basis, point.address)
    if not point.is_known:
        return (point.title, "not enough data", "–", basis)
    return (point.title, data.words(point.value), data.interval(point), basis)
