"""Failure rate per host or environment, with intervals."""

from dataclasses import dataclass

from dashboard.charts.figure import Figure, Table
from dashboard.charts.rows import RateRow, rate_rows, rate_table


@dataclass(frozen=True)
class HostRates:
    rows: tuple[RateRow, ...]
    what: str = "Host"
    """What a row is: "Host" or "Environment"."""


def chart(data: HostRates) -> Figure | None:
    return rate_rows(data.rows, "failure rate (% of executions, 95 % interval)")


def table(data: HostRates) -> Table:
    return rate_table(data.what, data.rows)
