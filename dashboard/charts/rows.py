"""Rates one below the other, each with its interval: hosts, environments, orders."""

from collections.abc import Sequence
from dataclasses import dataclass

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, figure, rows, scatter, share_axis
from dashboard.charts.rate import Rate, error_bars, highest, hover, known

_ROW, _FRAME = 48, 70


@dataclass(frozen=True)
class RateRow:
    label: str
    rate: Rate


def rate_rows(given: Sequence[RateRow], title: str) -> Figure | None:
    """A dot for each rate, whiskers for its interval, and "3 of 120" beside its name."""
    shown = [row for row in given if row.rate.total]
    rates = [row.rate for row in shown]
    if not known(rates):
        return None
    dots = scatter(
        x=[rate.share for rate in rates],
        y=list(range(len(rates))),
        mode="markers",
        marker={"color": palette.MAIN, "size": 10},
        error_x=error_bars(rates, palette.MAIN),
        hovertext=[f"{wording.escaped(row.label)}<br>{hover(row.rate)}" for row in shown],
        hoverinfo="text",
    )
    names = [f"{wording.short(row.label, 34)}  ({row.rate.hits:,} of {row.rate.total:,})" for row in shown]
    top = highest(rates)
    axis = share_axis(title, top, range=[-0.015 * top, 1.06 * top or 0.01])
    return figure([dots], height=_ROW * len(shown) + _FRAME, xaxis=axis, showlegend=False, **rows(names))


def rate_table(first: str, given: Sequence[RateRow]) -> Table:
    headers = (first, "Failed", "Executed", "Failure rate", "95 % interval")
    return Table(headers, tuple((wording.plain(row.label), *row.rate.cells) for row in given))
