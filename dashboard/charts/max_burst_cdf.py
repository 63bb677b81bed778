"""How many flaky tests never fail more than so often in a row: the share of them by their longest burst."""

from dataclasses import dataclass
from itertools import accumulate

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, figure, note, scatter, share_axis


@dataclass(frozen=True)
class MaxBurstCdf:
    """Longest burst -> flaky tests with it, by length."""

    tests: tuple[tuple[int, int], ...]


def _steps(data: MaxBurstCdf) -> tuple[list[int], list[float], list[int]]:
    found = sorted((length, count) for length, count in data.tests if count)
    sums = list(accumulate(count for _, count in found))
    return [length for length, _ in found], [total / sums[-1] for total in sums] if sums else [], sums


def chart(data: MaxBurstCdf) -> Figure | None:
    lengths, shares, sums = _steps(data)
    if not lengths:
        return None
    line = scatter(
        x=[*lengths, lengths[-1] * 1.3],
        y=[*shares, 1.0],
        mode="lines",
        line={"shape": "hv", "color": palette.MAIN, "width": 2.5},
        hovertemplate="longest burst at most %{x:,d}: %{y:.1%}<extra></extra>",
    )
    dots = scatter(x=lengths, y=shares, mode="markers", marker={"color": palette.MAIN, "size": 7}, hoverinfo="skip")
    five = max((share for length, share in zip(lengths, shares, strict=True) if length <= 5), default=0.0)
    words = f"{wording.percent(five)} of {wording.counted(sums[-1], 'flaky test')}: at most 5 in a row"
    return figure(
        [line, dots],
        height=340,
        showlegend=False,
        xaxis={
            "title": {"text": "longest burst (failures in a row)"},
            "type": "log",
            "tickformat": ",d",
            "dtick": "D2",
        },
        yaxis=share_axis("share of flaky tests (%)", 1.0),
        annotations=[note(words, 1, 0.06, xref="paper", yref="paper", xanchor="right")],
    )


def table(data: MaxBurstCdf) -> Table:
    lengths, shares, sums = _steps(data)
    counts = dict(data.tests)
    rows = (
        (f"{length:,}", f"{counts[length]:,}", f"{total:,}", wording.percent(share))
        for length, share, total in zip(lengths, shares, sums, strict=True)
    )
    return Table(("Longest burst", "Tests", "Tests up to it", "Share up to it"), tuple(rows))
