"""Something for every chart to draw: plausible, uneven, with gaps, long names and names that try to be HTML."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import inf, nan, sqrt
from types import ModuleType
from typing import Any

from dashboard.charts import (
    burst_lengths,
    durations,
    exposure,
    heatmap,
    incident_timeline,
    max_burst_cdf,
    order_rates,
    period_bars,
    period_estimates,
    rate_trend,
    rerun_curve,
    retries,
    role_spans,
    run_values,
    runs_per_day,
    savings,
    signature_share,
    time_shares,
    value_tail,
    wait_curve,
)
from dashboard.charts.rate import Rate
from dashboard.charts.rows import RateRow

HOSTILE = '<script>alert(1)</script> <b>bold</b> & "quoted" <a href="https://elsewhere.example">\u202eclick'
LONG = "tests.integration.checkout.test_basket.TestBasketWithVouchers::test_total_is_right[EUR-" + "x" * 300 + "-last]"
START = date(2026, 3, 2)


def rate(hits: int, total: int) -> Rate:
    """With a rough interval: what counts here is that it is drawn."""
    if not total:
        return Rate(0, 0, 0.0, 1.0)
    share = hits / total
    half = 1.96 * sqrt(max(share * (1 - share), 0.5 / total) / total)
    return Rate(hits, total, max(share - half, 0.0), min(share + half, 1.0))


def _days(count: int) -> list[date]:
    return [START + timedelta(days=place) for place in range(count)]


def _run_days() -> runs_per_day.RunsPerDay:
    days = [
        runs_per_day.DayOfRuns(day, 0, 0, 0, 0, 0)
        if day.weekday() == 6
        else runs_per_day.DayOfRuns(
            day, 9 + place * 7 % 11, place * 5 % 4, place % 3 // 2, (60 - place) // 15 + place % 2, 4 * (place == 23)
        )
        for place, day in enumerate(_days(60))
    ]
    return runs_per_day.RunsPerDay(tuple(days))


def _trend() -> rate_trend.RateTrend:
    rates = [
        rate(0, 0) if place in (20, 21, 40) else rate((place * 7 % 5) + 2, 60 + place * 13 % 50) for place in range(60)
    ]
    return rate_trend.RateTrend(tuple(map(rate_trend.DayRate, _days(60), rates)))


def _savings() -> savings.Savings:
    names, saved = [HOSTILE, LONG, *(f"test_{place}" for place in range(20))], 0
    fixes = []
    for place, name in enumerate(names):
        saved += max(36 - place * place, 1)
        fixes.append(savings.Fix(name, saved, saved * 0.8, min(saved * 1.15, 220)))
    return savings.Savings(tuple(fixes), 230)


def _rerun_curve() -> rerun_curve.RerunCurve:
    n = tuple(range(1, 501))
    exposed = tuple(1 - 0.98**one - 0.02**one for one in n)
    numbers = (
        rerun_curve.RerunNumber("get past it", 3, 4.2),
        rerun_curve.RerunNumber("expose it", 149, 208.6),
        rerun_curve.RerunNumber("confirm a fix", 212, 296.8),
    )
    return rerun_curve.RerunCurve(n, exposed, 0.95, numbers)


def _durations() -> durations.Durations:
    passing = tuple(0.3 + (place * 37 % 101) / 90 for place in range(1_200)) + (0.0, 9.0)
    return durations.Durations(passing, tuple(30.0 + (place * 17 % 13) / 20 for place in range(14)))


def _signatures() -> signature_share.SignatureShare:
    weeks = tuple(START + timedelta(weeks=week) for week in range(12))
    names = ["AssertionError: expected <n> to equal <n>", "TimeoutError: page did not load in <n> s", HOSTILE, LONG]
    names += [f"ConnectionRefusedError: [Errno <n>] service {place}" for place in range(5)]
    counts = [tuple((week * (place + 3) + place) % (10 - place) for week in range(12)) for place in range(len(names))]
    return signature_share.SignatureShare(weeks, tuple(map(signature_share.SignatureCounts, names, counts)))


def _heatmap() -> heatmap.Heatmap:
    tests = (LONG, HOSTILE, "test_c", "test_login_with_expired_session", "test_e", "test_f")
    bad = {7, 19, 20, 33}

    def cell(test: int, run: int) -> heatmap.Cell:
        if (test, run) in {(2, 3), (4, 11)} or (test == 5 and run < 10):
            return heatmap.Cell.ABSENT
        return heatmap.Cell.FAILED if run in bad and (test + run) % 7 else heatmap.Cell.PASSED

    cells = tuple(tuple(cell(test, run) for run in range(40)) for test in range(len(tests)))
    runs = tuple(str(1_000 + run) for run in range(40))
    where = {"base": "/charts?only=nothing&cell=", "run_parts": runs, "test_parts": tuple("abcdef")}
    return heatmap.Heatmap(tests, runs, cells, **where)


def _exposure() -> exposure.Exposure:
    n = tuple(range(1, 1_001))
    lines = [
        exposure.ExposureLine(p, n, tuple(1 - (1 + one / scale) ** -1 for one in n))
        for p, scale in ((0.5, 20), (0.95, 90))
    ]
    return exposure.Exposure(tuple(lines), 86)


def _retries() -> retries.Retries:
    cleared = (612, 688, 709, 716, 719)
    steps = [retries.RetryStep(n, rate(hits, 731), 41.0 + 24 * n * n) for n, hits in enumerate(cleared, start=1)]
    return retries.Retries(tuple(steps), 2)


def _incidents() -> incident_timeline.IncidentTimeline:
    first = datetime(2026, 3, 1, tzinfo=UTC)
    found = [
        (3, 5, "runner-eu-west-1-a7f3", "macos, py3.12", 4, 312, "open", HOSTILE),
        (3, 2, "runner-eu-west-1-a7f3", "linux, py3.12", 2, 85, "confirmed", "No space left on device"),
        (19, 1, "runner-eu-west-1-a7f3", "linux, py3.12", 1, 44, "rejected", ""),
        (27, 30, LONG, "windows", 9, 1_450, "confirmed", "ConnectionRefusedError"),
        (41, 1, "", "", 1, 12, "open", "Name or service not known"),
    ]
    incidents = tuple(
        incident_timeline.TimedIncident(first + timedelta(days=day), first + timedelta(days=day, hours=last), *rest)
        for day, last, *rest in found
    )
    return incident_timeline.IncidentTimeline(incidents, first, first + timedelta(days=45))


@dataclass(frozen=True)
class Sample:
    """A chart's module with data that shows it at work, and data that is not enough."""

    module: ModuleType
    data: Any
    empty: Any

    @property
    def name(self) -> str:
        return self.module.__name__.rpartition(".")[2]

    @property
    def chart(self) -> Callable[[Any], dict[str, Any] | None]:
        return self.module.chart


_ORDERS = [RateRow("a1b2c3d4", rate(14, 1_203)), RateRow(HOSTILE, rate(12, 12)), RateRow(LONG, rate(0, 3))]


def _waits() -> wait_curve.WaitCurve:
    rows = ((0.0, 10, 10), (0.03125, 12, 20), (0.0442, 9, 60), (0.0625, 0, 100), (0.125, 1, 100), (0.5, 0, 62))
    values = [
        wait_curve.WaitValue(seconds, rate(failed, runs), None if failed == runs else 0.1 + seconds)
        for seconds, failed, runs in rows
    ]
    return wait_curve.WaitCurve(tuple(values), 0.5, 0.2)


SAMPLE_WAITS = _waits()


def _value_tail() -> value_tail.ValueTail:
    values = tuple(sqrt(place) * (1 if place % 3 else -1) / 10 for place in range(300))
    x = tuple(1.2 + place / 20 for place in range(60))
    share = tuple(0.1 * 0.8**place for place in range(60))
    band = {"low": tuple(value / 3 for value in share), "high": tuple(min(value * 3, 1.0) for value in share)}
    return value_tail.ValueTail(values, 1.5, 2.75, False, x, share, **band)


_WEEKS = ("2026-08-31", "2026-09-07", "2026-09-14", "2026-09-21")


def _period_bars() -> period_bars.PeriodBars:
    series = (
        period_bars.PeriodSeries("new", (3, 0, 7, 1), addresses=("/a", "/b", "/c", "/d")),
        period_bars.PeriodSeries("flaky at the end", (5, 5, 12, 11), is_line=True),
    )
    return period_bars.PeriodBars("week", _WEEKS, series, "tests")


def _period_estimates() -> period_estimates.PeriodEstimates:
    values = ((0.12, 0.08, 0.17), (nan, nan, nan), (0.3, 0.01, 0.9), (0.05, 0.04, inf))
    points = [
        period_estimates.PeriodEstimate(title, *value, "4 of 33 runs", "/a")
        for title, value in zip(_WEEKS, values, strict=True)
    ]
    mark = period_estimates.Yardmark(0.054, "published: 5.4 %")
    return period_estimates.PeriodEstimates("week", tuple(points), "runs failed by flakiness", mark=mark)


SAMPLES = [
    Sample(
        time_shares,
        time_shares.TimeShares(
            (
                time_shares.SuiteTime(HOSTILE, 12, 640.0, 0.7, "/a"),
                time_shares.SuiteTime("unit", 80, 250.0, 0.28, "/b"),
                time_shares.SuiteTime(LONG, 3, 9.5, 0.02),
            )
        ),
        time_shares.TimeShares(()),
    ),
    Sample(period_bars, _period_bars(), period_bars.PeriodBars("week", (), (), "tests")),
    Sample(period_estimates, _period_estimates(), period_estimates.PeriodEstimates("week", (), "share")),
    Sample(runs_per_day, _run_days(), runs_per_day.RunsPerDay(())),
    Sample(rate_trend, _trend(), rate_trend.RateTrend((rate_trend.DayRate(START, rate(0, 0)),))),
    Sample(
        max_burst_cdf,
        max_burst_cdf.MaxBurstCdf(((1, 52), (2, 14), (3, 5), (5, 3), (7, 2), (12, 1), (41, 1))),
        max_burst_cdf.MaxBurstCdf(()),
    ),
    Sample(savings, _savings(), savings.Savings((), 0)),
    Sample(rerun_curve, _rerun_curve(), rerun_curve.RerunCurve((), (), 0.95, ())),
    Sample(durations, _durations(), durations.Durations((), ())),
    Sample(burst_lengths, burst_lengths.BurstLengths(((1, 9), (2, 3), (3, 0), (8, 1))), burst_lengths.BurstLengths(())),
    Sample(signature_share, _signatures(), signature_share.SignatureShare((START,), ())),
    Sample(heatmap, _heatmap(), heatmap.Heatmap((), (), ())),
    Sample(exposure, _exposure(), exposure.Exposure((), 0)),
    Sample(retries, _retries(), retries.Retries(())),
    Sample(
        incident_timeline,
        _incidents(),
        incident_timeline.IncidentTimeline((), datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)),
    ),
    Sample(
        run_values,
        run_values.RunValues(failing=(0.51, 0.52, 0.5), passing=(0.02, 0.021, 0.03, 0.04), unit="s"),
        run_values.RunValues((), ()),
    ),
    Sample(
        run_values,
        run_values.RunValues(failing=(1.0,) * 9, passing=(0.0,) * 40 + (1.0,), is_yes_no=True),
        run_values.RunValues((), ()),
    ),
    Sample(
        role_spans,
        role_spans.RoleSpans(
            (
                role_spans.Span(f"`time.sleep` ({HOSTILE})", "main", True, 0.01, 50.0),
                role_spans.Span("`end of thread`", f"main/{LONG}#1", True, 80.0, 80.1),
                role_spans.Span("`time.sleep`", "main", False, 0.01, 50.0),
                role_spans.Span("`end of thread`", "main/flush#1", False, 20.0, 20.1),
            )
        ),
        role_spans.RoleSpans(()),
    ),
    Sample(order_rates, order_rates.OrderRates(tuple(_ORDERS)), order_rates.OrderRates(())),
    Sample(wait_curve, SAMPLE_WAITS, wait_curve.WaitCurve((), 0.5, None)),
    Sample(value_tail, _value_tail(), value_tail.ValueTail((), None, None, False)),
]
