"""The life of a flaky test: published shares, the time to a fix against brute force, tests that are gone."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analytics.kernel.lifecycle import (
    MaskedMonth,
    masked_by_month,
    runs_without,
    share_of,
    survival,
    time_to_fix,
)
from tests.analytics.outcomes import of_matrix

P, F, S, ABSENT = 0, 1, 3, -1


@pytest.mark.parametrize(
    ("part", "whole", "percent"),
    [
        (68, 2_127, 3.2),
        (1_133, 13_025, 8.7),
        (22, 2_047, 1.1),
        (35, 9_371, 0.4),
        (302, 847, 35.7),
        (133, 491, 27.1),
        (1_040, 2_089, 49.8),
        (3, 7, 42.9),
        (95, 545, 17.4),
        (21, 85, 24.7),
    ],
)
def test_published_shares_with_their_intervals(part: int, whole: int, percent: float) -> None:
    """Lam 2021, chapter 8: builds, failures, tests and reproductions."""
    share = share_of(part, whole)
    assert round(100 * share.share, 1) == percent
    assert share.low < share.share < share.high
    tails = scipy.stats.binom.sf(part - 1, whole, share.low), scipy.stats.binom.cdf(part, whole, share.high)
    assert tails == pytest.approx((0.025, 0.025))


def test_a_share_of_nothing_is_no_number() -> None:
    assert not share_of(0, 0).is_known and np.isnan(share_of(0, 0).share)


# -- the time to a fix -------------------------------------------------------------------------------------------


def test_the_median_of_those_that_were_fixed_is_too_short() -> None:
    """Published: tickets of flaky tests were closed after 7 days in the median, 18 on average."""
    days = np.array([1, 2, 5, 7, 7, 30, 74], dtype=float)
    closed = time_to_fix(days, np.ones(7, dtype=bool))
    assert (closed.plain_median, closed.plain_mean, closed.median) == (7, 18, 7)
    half_open = time_to_fix(np.append(days, np.full(7, 90.0)), np.arange(14) < 7)
    assert half_open.plain_median == 7 and half_open.median == 74
    mostly_open = time_to_fix(np.append(days, np.full(8, 90.0)), np.arange(15) < 7)
    assert (
        np.isnan(mostly_open.median) and np.isinf(mostly_open.high) and (mostly_open.fixed, mostly_open.open) == (7, 8)
    )


def test_freireichs_remissions_come_out_as_published() -> None:
    """The data of every textbook (Freireich 1963, 21 patients): median 23 weeks, S(10) = 0.753, S(23) = 0.448."""
    weeks = np.array([6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35], dtype=float)
    ended = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
    times, curve, _ = survival(weeks, ended)
    known = dict(zip(times.tolist(), curve.round(3).tolist(), strict=True))
    assert known == {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.69, 16: 0.627, 22: 0.538, 23: 0.448}
    found = time_to_fix(weeks, ended)
    assert found.median == 23 and found.low == 13 and np.isinf(found.high)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=25))
def test_the_curve_is_what_going_day_by_day_gives(lives: list[tuple[int, bool]]) -> None:
    days = np.array([day for day, _ in lives], dtype=float)
    fixed = np.array([is_fixed for _, is_fixed in lives])
    times, curve, _ = survival(days, fixed)
    left, expected = 1.0, []
    for time in sorted({day for day, is_fixed in lives if is_fixed}):
        risk = sum(day >= time for day, _ in lives)
        left *= 1 - sum(day == time and is_fixed for day, is_fixed in lives) / risk
        expected.append(left)
    assert times.tolist() == sorted({day for day, is_fixed in lives if is_fixed})
    assert curve == pytest.approx(expected)


def test_greenwoods_sum_is_that_of_the_textbook() -> None:
    """Five lives: fixed after 1 and twice after 2 days, given up after 3, fixed after 5."""
    days, fixed = np.array([1.0, 2, 2, 3, 5]), np.array([True, True, True, False, True])
    times, curve, greenwood = survival(days, fixed)
    assert (times.tolist(), curve.tolist()) == ([1, 2, 5], pytest.approx([4 / 5, 2 / 5, 0]))
    assert greenwood.tolist() == pytest.approx([1 / (5 * 4), 1 / (5 * 4) + 2 / (4 * 2), np.inf])


def test_without_a_fix_there_is_no_median() -> None:
    nothing = time_to_fix(np.zeros(0), np.zeros(0, dtype=bool))
    assert np.isnan([nothing.median, nothing.low, nothing.high, nothing.plain_median]).all()
    open_only = time_to_fix(np.array([3.0]), np.array([False]))
    assert np.isnan(open_only.median) and open_only.open == 1


# -- gone --------------------------------------------------------------------------------------------------------


def test_absence_and_skips_count_in_runs_that_used_to_execute_it() -> None:
    kind = np.array([0, 1] * 10)
    present = np.where(kind == 0, F, ABSENT)
    stopped = present.copy()
    stopped[10:] = ABSENT
    skipped = present.copy()
    skipped[10:] = np.where(kind[10:] == 0, S, ABSENT)
    outcomes = np.stack([present, stopped, skipped])
    assert runs_without(of_matrix(outcomes), kind).tolist() == [0, 5, 5], "reports of the other job say nothing"


@given(
    st.lists(st.lists(st.sampled_from([ABSENT, P, F, S]), min_size=8, max_size=8), min_size=1, max_size=4),
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
)
def test_runs_without_it_are_what_counting_gives(rows: list[list[int]], kind: list[int]) -> None:
    expected = []
    for row in rows:
        ran = [place for place, outcome in enumerate(row) if outcome in (P, F)]
        kinds = {kind[place] for place in ran}
        expected.append(sum(kind[place] in kinds for place in range(ran[-1] + 1, 8)) if ran else 0)
    assert runs_without(of_matrix(np.array(rows)), np.array(kind)).tolist() == expected


# -- masked ------------------------------------------------------------------------------------------------------


def test_masked_failures_are_counted_by_month_and_each_test_of_a_run_once() -> None:
    january, february = 1_767_225_600.0, 1_769_904_000.0
    started = np.array([january, january + 60, february])
    run = np.array([0, 0, 0, 1, 2, 2])
    test = np.array([5, 5, 6, 5, 6, 7])
    masked = np.array([True, True, False, False, True, True])
    assert masked_by_month(started, run, test, masked) == (
        MaskedMonth("2026-01", failed_runs=2, masked_runs=1, failures=3, masked_failures=1),
        MaskedMonth("2026-02", failed_runs=1, masked_runs=1, failures=2, masked_failures=2),
    )
    nothing = np.zeros(0, dtype=np.int64)
    assert masked_by_month(np.zeros(0), nothing, nothing, np.zeros(0, dtype=bool)) == ()
