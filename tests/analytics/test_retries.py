"""The project's retry curve: against simulation and sums, and where there is nothing to retry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from analytics.kernel import retries
from analytics.kernel.bursts import Bursts
from analytics.kernel.parameters import Parameters

JEFFREYS = (0.5, 0.5)


def bursts_of(again: list[int], cleared: list[int]) -> Bursts:
    fail_fail, fail_pass = np.array(again, dtype=np.int64), np.array(cleared, dtype=np.int64)
    none = np.zeros(len(again), dtype=np.int64)
    return Bursts(none, none, np.zeros(len(again)), none, none, fail_fail, fail_pass, *[none] * 6)


def slow_moment(again: int, cleared: int, n: int) -> float:
    """E[q^n] by integrating the posterior."""
    known = stats.beta(again + 1.0, cleared + 1.0)
    return float(integrate.quad(lambda q: q**n * known.pdf(q), 0, 1)[0])


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=3))
def test_the_curve_is_what_integrating_gives(drawn: list[tuple[int, int, int]]) -> None:
    again, cleared, failures = (list(column) for column in zip(*drawn, strict=True))
    seconds = np.arange(1.0, len(drawn) + 1)
    parameters = Parameters(rerun_limit=4)
    curve = retries.retry_curve(bursts_of(again, cleared), (1.0, 1.0), np.array(failures), seconds, parameters)
    assert curve.n.tolist() == [0, 1, 2, 3, 4]
    total = sum(failures)
    for n in curve.n.tolist():
        stuck = [slow_moment(a, c, n) for a, c, _ in drawn]
        reruns = [sum(slow_moment(a, c, k) for k in range(n)) for a, c, _ in drawn]
        minutes = sum(f * s * r for f, s, r in zip(failures, seconds, reruns, strict=True)) / 60
        assert curve.minutes[n] == pytest.approx(minutes)
        if total:
            share = sum(f * (1 - q) for f, q in zip(failures, stuck, strict=True)) / total
            assert curve.share[n] == pytest.approx(share, abs=1e-9)
            assert curve.low[n] - 1e-9 <= curve.share[n] <= curve.high[n] + 1e-9
    if total:
        enough = [n for n in range(1, 4) if curve.share[n] >= 0.95 * curve.share[3]]
        assert curve.recommended == enough[0]
    else:
        assert curve.recommended is None


@pytest.mark.parametrize("tests", [1, 3, 40])
def test_the_interval_is_what_drawing_from_the_posteriors_gives(tests: int) -> None:
    rng = np.random.default_rng(tests)
    again, cleared = rng.integers(0, 12, tests), rng.integers(1, 30, tests)
    failures = again + cleared
    curve = retries.retry_curve(bursts_of(again.tolist(), cleared.tolist()), JEFFREYS, failures, np.ones(tests))
    q = rng.beta(again + 0.5, cleared + 0.5, size=(40_000, tests))
    for n in (1, 2, 5):
        drawn = (1 - q**n) @ (failures / failures.sum())
        assert (curve.low[n], curve.high[n]) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.012)


def test_the_recommended_number_is_for_most_and_the_rest_are_exceptions() -> None:
    alone, sticky = ([2] * 9, [98] * 9), (90, 10)
    bursts = bursts_of([*alone[0], sticky[0]], [*alone[1], sticky[1]])
    failures = np.array([100] * 9 + [20])
    curve = retries.retry_curve(bursts, JEFFREYS, failures, np.full(10, 60.0))
    assert curve.recommended == 1, "it clears 97 % of what three would"
    assert curve.stuck == pytest.approx(20 / 920), "nothing at once gets past the sticky one"
    assert curve.exceptions.tolist() == [False] * 9 + [True]
    assert curve.minutes[0] == 0
    assert curve.minutes[1] == pytest.approx(920)
    assert (np.diff(curve.share) >= 0).all()
    assert curve.share[1] > 0.9


def test_a_test_that_never_failed_is_no_exception_and_has_no_weight() -> None:
    curve = retries.retry_curve(bursts_of([5, 0], [5, 0]), JEFFREYS, np.array([10, 0]), np.array([1.0, 1.0]))
    alone = retries.retry_curve(bursts_of([5], [5]), JEFFREYS, np.array([10]), np.array([1.0]))
    assert curve.share == pytest.approx(alone.share)
    assert not curve.exceptions[1]


def test_failures_of_unknown_duration_are_counted_and_not_priced() -> None:
    curve = retries.retry_curve(bursts_of([0, 0], [9, 9]), JEFFREYS, np.array([6, 4]), np.array([60.0, np.nan]))
    assert curve.untimed == 4
    assert curve.minutes[1] == pytest.approx(6.0)
    assert np.isfinite(curve.minutes).all()


def test_where_no_duration_is_known_the_time_is_not_known_either() -> None:
    curve = retries.retry_curve(bursts_of([0], [9]), JEFFREYS, np.array([6]), np.array([np.nan]))
    assert np.isnan(curve.minutes).all() and curve.untimed == 6


def test_no_more_than_three_retries_are_advised_whatever_more_would_clear() -> None:
    curve = retries.retry_curve(bursts_of([80], [20]), JEFFREYS, np.array([50]), np.array([1.0]))
    assert curve.recommended == 3 and curve.share[10] > 1.5 * curve.share[3]


def test_what_is_broken_is_retried_too_and_costs_its_time() -> None:
    both = bursts_of([0, 0], [9, 0]), JEFFREYS, np.array([6, 0]), np.array([60.0, 120.0])
    curve, without = retries.retry_curve(*both, real=np.array([0, 5])), retries.retry_curve(*both)
    assert (curve.minutes - without.minutes)[:4] == pytest.approx([0, 10, 20, 30])
    assert curve.share.tolist() == without.share.tolist()


@pytest.mark.parametrize("tests", [0, 2])
def test_without_failures_nothing_is_recommended(tests: int) -> None:
    none = np.zeros(tests, dtype=np.int64)
    curve = retries.retry_curve(bursts_of([0] * tests, [0] * tests), JEFFREYS, none, np.zeros(tests))
    assert curve.recommended is None
    assert np.isnan(curve.share).all()
    assert not curve.minutes.any()
    assert not curve.exceptions.any()
