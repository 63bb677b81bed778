"""Which suites take the time: the share of each, the longest first."""

from dataclasses import dataclass

from analytics import wording
from dashboard.charts import palette
from dashboard.charts.figure import Figure, Table, bars, figure, link, linked, rows, share_axis

_ROW, _FRAME = 44, 60
_SHOWN = 10


@dataclass(frozen=True)
class SuiteTime:
    suite: str
    tests: int
    seconds: float
    share: float
    address: str = ""


@dataclass(frozen=True)
class TimeShares:
    suites: tuple[SuiteTime, ...]


def chart(data: TimeShares) -> Figure | None:
    shown = data.suites[:_SHOWN]
    if not shown:
        return None
    names = [f"{wording.short(suite.suite, 40)}  ({wording.seconds(suite.seconds)})" for suite in shown]
    trace = bars(
        [suite.share for suite in shown],
        range(len(shown)),
        "share of test time",
        palette.MAIN,
        orientation="h",
        width=0.35,
        hovertemplate="%{x:.1%}<extra></extra>",
        customdata=[suite.address for suite in shown],
    )
    axis = share_axis("share of test time", shown[0].share)
    drawn = figure([trace], height=_ROW * len(shown) + _FRAME, xaxis=axis, showlegend=False, **rows(names, lift=17))
    return linked(drawn) if any(suite.address for suite in shown) else drawn


def table(data: TimeShares) -> Table:
    headers = ("Suite", "Tests", "Time", "Share of test time")
    return Table(
        headers,
        tuple(
            (
                link(wording.plain(suite.suite), suite.address),
                f"{suite.tests:,}",
                wording.seconds(suite.seconds),
                wording.percent(suite.share),
            )
            for suite in data.suites
        ),
    )
