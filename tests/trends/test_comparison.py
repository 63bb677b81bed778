"""Two periods compared: published examples, and what is said where nothing is clear."""

from datetime import date
from math import inf, isnan

import numpy as np
import pytest
import scipy

from analytics.kernel.trends.comparison import (
    Estimate,
    change_of,
    difference,
    pace_change,
    pace_ratio,
    share_of_time,
    wilson,
)
from dashboard.trends.periods import MONTH, WEEK, Span, comparison_of, spans, title_of
from dashboard.trends.query import TrendQuery, days_asked


@pytest.mark.parametrize(
    ("after", "before", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 10), 0.6075, 1.0),
        ((5, 56), (0, 29), -0.0381, 0.1926),
    ],
)
def test_differences_are_those_that_newcombe_published(
    after: tuple[int, int], before: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, table II, method 10."""
    found = difference(wilson(*after), wilson(*before))
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


def test_a_change_is_claimed_only_where_the_interval_says_so() -> None:
    many, few = wilson(300, 1_000), wilson(100, 1_000)
    assert change_of(few, many).word == "better" and change_of(many, few).word == "worse"
    assert change_of(many, few, good=1).word == "better"
    assert change_of(wilson(3, 10), wilson(1, 10)).word == "no clear change"
    assert change_of(wilson(3, 10), wilson(0, 0)).word == "not enough data"


def test_paces_are_compared_by_the_exact_conditional_interval() -> None:
    found = pace_ratio(9, 30, 3, 31)
    assert found.value == pytest.approx(9 / 30 / (3 / 31))
    shares = [ratio * 30 / 31 / (1 + ratio * 30 / 31) for ratio in (found.low, found.high)]
    tails = scipy.stats.binom.sf(8, 12, shares[0]), scipy.stats.binom.cdf(9, 12, shares[1])
    assert tails == pytest.approx((0.025, 0.025))
    assert pace_change(9, 30, 3, 31).word == "no clear change"
    assert pace_change(30, 30, 5, 31).word == "worse" and pace_change(30, 30, 5, 31, good=1).word == "better"
    assert pace_change(0, 30, 0, 31).word == "not enough data"
    assert pace_ratio(4, 30, 0, 31).high == inf and pace_ratio(0, 30, 4, 31).value == 0


def test_a_share_of_time_varies_as_its_days_do() -> None:
    whole = np.full(20, 100.0)
    steady, uneven = np.full(20, 5.0), np.tile([0.0, 10.0], 10)
    assert share_of_time(steady, whole) == Estimate(0.05, 0.05, 0.05)
    found = share_of_time(uneven, whole)
    half = scipy.stats.t.ppf(0.975, 19) * np.std(uneven / 100, ddof=1) / np.sqrt(20)
    assert (found.low, found.high) == pytest.approx((0.05 - half, 0.05 + half))
    assert not share_of_time(steady[:4], whole[:4]).is_known, "four days say nothing of the spread"
    assert isnan(share_of_time(np.zeros(3), np.zeros(3)).value)


def test_periods_cover_every_day_once() -> None:
    shown = Span(date(2026, 9, 30), date(2026, 11, 18))
    for unit in (WEEK, MONTH):
        parts = spans(shown, unit)
        assert sum(part.days for part in parts) == shown.days
        assert (parts[0].first, parts[-1].last) == (shown.first, shown.last)
    assert [title_of(span, MONTH) for span in spans(shown, MONTH)] == ["2026-09", "2026-10", "2026-11"]
    assert {title_of(span, WEEK) for span in spans(shown, WEEK)} >= {"2026-09-28", "2026-10-05"}


@pytest.mark.parametrize(
    ("kind", "after", "before"),
    [
        ("month", ("2026-03-01", "2026-03-10"), ("2026-02-01", "2026-02-28")),
        ("week", ("2026-03-09", "2026-03-10"), ("2026-03-02", "2026-03-08")),
        ("30-days", ("2026-02-09", "2026-03-10"), ("2026-01-10", "2026-02-08")),
        ("range", ("2026-03-04", "2026-03-10"), ("2026-02-25", "2026-03-03")),
    ],
)
def test_this_period_ends_with_the_last_day_that_is_shown(
    kind: str, after: tuple[str, str], before: tuple[str, str]
) -> None:
    found = comparison_of(kind, Span(date(2026, 3, 4), date(2026, 3, 10)))
    assert [(str(span.first), str(span.last)) for span in (found.after, found.before)] == [after, before]


def test_an_address_that_makes_no_sense_is_no_error() -> None:
    query = TrendQuery.read(
        {"from": "2026-13-40", "to": "9999-12-31", "by": "hour", "compare": "\0", "owner": " @a\0 "}
    )
    assert query == TrendQuery(owner="@a")
    known = Span(date(2026, 1, 1), date(2026, 2, 1))
    backwards = days_asked(TrendQuery.read({"from": "2026-05-01", "to": "2026-01-10"}), known)
    assert backwards.shown == Span(date(2026, 1, 10), date(2026, 1, 10))
    assert days_asked(TrendQuery(), known).shown == known


@pytest.mark.parametrize("runs", [1, 10, 27, 50, 100, 156, 381, 1_000])
def test_the_interval_of_none_and_of_all_has_an_exact_end(runs: int) -> None:
    """So that a page spells both in one way: "0–3.7 %" of 0 of 100."""
    assert wilson(0, runs).low == 0 < wilson(0, runs).high
    assert wilson(runs, runs).high == 1 > wilson(runs, runs).low
