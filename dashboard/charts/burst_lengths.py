"""How many failures in a row: bursts of one test by their length."""

from dataclasses import dataclass
from typing import Any

from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, bars, count_axis, figure


@dataclass(frozen=True)
class BurstLengths:
    """Length -> bursts of it."""

    bursts: tuple[tuple[int, int], ...]


def _found(data: BurstLengths) -> list[tuple[int, int]]:
    return sorted((length, count) for length, count in data.bursts if count)


def chart(data: BurstLengths) -> Figure | None:
    found = _found(data)
    if not found:
        return None
    lengths, counts = [f"{length:,}" for length, _ in found], [count for _, count in found]
    marks: dict[str, Any] = {"text": [f"{count:,}" for count in counts], "textposition": "outside", "cliponaxis": False}
    drawn = bars(
        lengths, counts, "bursts", palette.FAILED, hovertemplate="%{y:,d} bursts of %{x}<extra></extra>", **marks
    )
    axis = {"type": "category", "title": {"text": "failures in a row"}}
    return figure([drawn], height=300, showlegend=False, xaxis=axis, yaxis=count_axis("bursts", max(counts)))


def table(data: BurstLengths) -> Table:
    return Table(
        ("Failures in a row", "Bursts"), tuple((f"{length:,}", f"{count:,}") for length, count in _found(data))
    )
