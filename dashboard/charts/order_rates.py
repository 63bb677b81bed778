"""One test's failure rate in each order it ran in, with intervals: 0 % here and 100 % there says order dependence."""

from dataclasses import dataclass

from dashboard.charts.figure import Figure, Table
from dashboard.charts.rows import RateRow, rate_rows, rate_table


@dataclass(frozen=True)
class OrderRates:
    rows: tuple[RateRow, ...]


def chart(data: OrderRates) -> Figure | None:
    return rate_rows(data.rows, "failure rate in this order (%, 95 % interval)")


def table(data: OrderRates) -> Table:
    return rate_table("Order", data.rows)
