"""The pictures of a trend, each with the same numbers as a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from django.conf import settings

from analytics.kernel.trends.comparison import Estimate
from analytics.wording import counted
from dashboard.charts import palette, period_bars, period_estimates
from dashboard.charts.figure import Chart, draw
from dashboard.charts.period_bars import PeriodBars, PeriodSeries
from dashboard.charts.period_estimates import PeriodEstimate, PeriodEstimates, Yardmark
from dashboard.trends.periods import Span
from dashboard.trends.trend import Trend, TrendPeriod

Address = Callable[[str, Span], str]
"""What is counted and when -> where its tests or runs are listed."""
Row = tuple[Any, ...]
FLAKY_RUNS_PUBLISHED = Yardmark(0.054, "published: 5.4 %")
FIX_DAYS_PUBLISHED = Yardmark(7.0, "published: median 7 days")


@dataclass(frozen=True, slots=True)
class TrendChart:
    """A chart with its words, and its numbers for a file."""

    id: str
    title: str
    caption: str
    chart: Chart
    headers: Sequence[str]
    rows: Sequence[Row]


def charts_of(trend: Trend, address: Address) -> list[TrendChart]:
    return [
        _flaky_runs(trend, address),
        _flaky_tests(trend, address),
        _blocked(trend, address),
        _saved(trend, address),
        *([] if trend.query.by_test else [_reruns(trend)]),
        _fix_time(trend, address),
    ]


def _made(
    id: str, title: str, caption: str, module: ModuleType, data: Any, file: tuple[Sequence[str], Any]
) -> TrendChart:
    headers, rows = file
    return TrendChart(id, title, caption, draw(module, data), ("period", "first", "last", *headers), list(rows))


def _file(trend: Trend, headers: Sequence[str], cells: Callable[[TrendPeriod], Row]) -> tuple[Sequence[str], list[Row]]:
    rows = []
    for period in trend.periods:
        span = period.counts.span
        rows.append((period.title, span.first.isoformat(), span.last.isoformat(), *cells(period)))
    return headers, rows


def _known(estimate: Estimate) -> Row:
    """For a file: nothing where it is not known."""
    return (estimate.value, estimate.low, estimate.high) if estimate.is_known else (None, None, None)


# -- shares and times --------------------------------------------------------------------------------------------


def _flaky_runs(trend: Trend, address: Address) -> TrendChart:
    def point(period: TrendPeriod) -> PeriodEstimate:
        counts = period.counts
        rate, basis = counts.flaky_rate, f"{counts.flaky:,} of {counted(counts.runs, 'run')}"
        return PeriodEstimate(period.title, rate.value, rate.low, rate.high, basis, address("flaky", counts.span))

    data = PeriodEstimates(
        trend.query.unit, tuple(map(point, trend.periods)), "runs failed by flakiness", mark=FLAKY_RUNS_PUBLISHED
    )
    headers = ("runs", "failed", "failed_by_flakiness", "share", "low", "high")
    file = _file(
        trend,
        headers,
        lambda period: (
            *(period.counts.runs, period.counts.failed, period.counts.flaky),
            *_known(period.counts.flaky_rate),
        ),
    )
    caption = "Share of runs that failed by flaky tests alone, with its 95 % interval."
    return _made("flaky-runs", "Runs failed by flakiness", caption, period_estimates, data, file)


def _fix_time(trend: Trend, address: Address) -> TrendChart:
    def point(period: TrendPeriod) -> PeriodEstimate:
        time = period.counts.time
        basis = f"{time.fixed:,} fixed, {time.open:,} open"
        return PeriodEstimate(
            period.title, time.median, time.low, time.high, basis, address("fixed", period.counts.span)
        )

    data = PeriodEstimates(
        trend.query.unit, tuple(map(point, trend.periods)), "days to fix", is_share=False, mark=FIX_DAYS_PUBLISHED
    )
    headers = ("fixed", "open", "median_days", "low_days", "high_days")
    file = _file(
        trend,
        headers,
        lambda period: (
            *(period.counts.time.fixed, period.counts.time.open),
            *_known(Estimate(period.counts.time.median, period.counts.time.low, period.counts.time.high)),
        ),
    )
    caption = (
        "Median days from a test's first flaky failure to its last one; tests that are still flaky count as longer."
    )
    return _made("fix-time", "Time to fix", caption, period_estimates, data, file)


def _reruns(trend: Trend) -> TrendChart:
    def point(period: TrendPeriod) -> PeriodEstimate:
        share, counts = period.counts.rerun_share, period.counts
        basis = f"{counts.rerun_seconds / 3600:,.1f} of {counts.seconds / 3600:,.1f} hours"
        return PeriodEstimate(period.title, share.value, share.low, share.high, basis)

    data = PeriodEstimates(trend.query.unit, tuple(map(point, trend.periods)), "test time spent in reruns")
    headers = ("seconds", "rerun_seconds", "share", "low", "high")
    file = _file(
        trend,
        headers,
        lambda period: (period.counts.seconds, period.counts.rerun_seconds, *_known(period.counts.rerun_share)),
    )
    caption = "Share of test time in later attempts and in runs that repeat one. Google published 2 to 16 %."
    return _made("rerun-share", "Time spent in reruns", caption, period_estimates, data, file)


# -- counts ------------------------------------------------------------------------------------------------------


def _flaky_tests(trend: Trend, address: Address) -> TrendChart:
    kinds = (
        ("new", "new", palette.FAILED, ""),
        ("reopened", "flaky again", palette.FLAKY, "/"),
        ("fixed", "fixed", palette.PASSED, ""),
        ("stock", "flaky at the end", palette.TEXT, ""),
    )
    caption = "Tests by when they turned flaky, and by when they had been clean for long enough to count as fixed."
    return _bars(trend, address, "flaky-tests", "Flaky tests", caption, kinds, "tests", line="stock")


def _blocked(trend: Trend, address: Address) -> TrendChart:
    kinds = (
        ("blocked", "blocked by flaky tests", palette.FLAKY, "/"),
        ("masked", "with a masked failure", palette.OTHER, ""),
        ("saved", "saved by quarantine", palette.PASSED, ""),
    )
    caption = "Runs that flaky tests blocked, runs in which a quarantine masked a failure, and those that it saved."
    return _bars(trend, address, "blocked-runs", "Blocked and masked runs", caption, kinds, "runs")


def _bars(
    trend: Trend,
    address: Address,
    id: str,
    title: str,
    caption: str,
    kinds: Sequence[tuple[str, str, str, str]],
    axis: str,
    line: str = "",
) -> TrendChart:
    series = tuple(
        PeriodSeries(
            name,
            tuple(getattr(period.counts, kind) for period in trend.periods),
            colour,
            hatching,
            tuple(address(kind, period.counts.span) for period in trend.periods),
            is_line=kind == line,
        )
        for kind, name, colour, hatching in kinds
    )
    data = PeriodBars(trend.query.unit, tuple(period.title for period in trend.periods), series, axis)
    headers = [kind for kind, *_ in kinds]
    file = _file(trend, headers, lambda period: tuple(getattr(period.counts, kind) for kind in headers))
    return _made(id, title, caption, period_bars, data, file)


def _saved(trend: Trend, address: Address) -> TrendChart:
    addresses = tuple(address("saved", period.counts.span) for period in trend.periods)
    series = (
        PeriodSeries("of people", tuple(period.saved.person_hours for period in trend.periods), addresses=addresses),
        PeriodSeries(
            "of machines",
            tuple(period.saved.machine_hours for period in trend.periods),
            palette.OTHER,
            ".",
            addresses,
        ),
    )
    titles = tuple(period.title for period in trend.periods)
    data = PeriodBars(trend.query.unit, titles, series, "hours saved", decimals=1)
    headers = ("runs_saved", "person_hours", "machine_hours", "money")
    file = _file(
        trend,
        headers,
        lambda period: (
            *(period.saved.runs, period.saved.person_hours, period.saved.machine_hours),
            " ".join(f"{amount:.2f} {currency}" for currency, amount in period.saved.money.items()),
        ),
    )
    minutes = f"{settings.DEVELOPER_MINUTES:g}"
    caption = (
        f"Each saved run spares a person {minutes} minutes of looking into it, and machines the run that repeats it."
    )
    return _made("saved-hours", "Hours saved by quarantine", caption, period_bars, data, file)
