"""Failure rate by hour of day, over how much was executed then: nightly load, midnight bugs, busy machines."""

from dataclasses import dataclass

from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, bars, count_axis, figure, share_axis
from dashboard.charts.rate import Rate, error_bars, highest, hover, known


@dataclass(frozen=True)
class Hours:
    rates: tuple[Rate, ...]
    """24, from midnight."""
    zone: str = "UTC"


def chart(data: Hours) -> Figure | None:
    if not known(data.rates):
        return None
    hour = list(range(len(data.rates)))
    rates = bars(
        hour,
        [rate.share or 0.0 for rate in data.rates],
        "failure rate",
        palette.FAILED,
        error_y=error_bars(data.rates, palette.TEXT),
        hovertext=[hover(rate) for rate in data.rates],
        hoverinfo="text",
    )
    totals = [rate.total for rate in data.rates]
    executed = bars(hour, totals, "executions", palette.QUIET, yaxis="y2", hovertemplate="%{y:,d}<extra></extra>")
    return figure(
        [rates, executed],
        height=400,
        showlegend=False,
        xaxis={"title": {"text": f"hour of day ({data.zone})"}, "anchor": "y2", "dtick": 3, "ticksuffix": " h"},
        yaxis=share_axis("failure rate (%)", highest(data.rates), domain=[0.36, 1]),
        yaxis2=count_axis("executions", max(totals), domain=[0, 0.22], nticks=3, dtick=None),
    )


def table(data: Hours) -> Table:
    headers = (f"Hour ({data.zone})", "Failed", "Executed", "Failure rate", "95 % interval")
    return Table(headers, tuple((f"{hour:02d}:00", *rate.cells) for hour, rate in enumerate(data.rates)))
