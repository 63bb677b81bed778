"""What is said of a tail that is given: its kind, its bound, and how often a bound beyond its threshold fails."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analytics.kernel.rates import clopper_pearson
from analytics.kernel.tails.bounds import Extrapolation, _by_fit, extrapolate
from analytics.kernel.tails.failures import estimate_failures
from analytics.kernel.tails.fits import Tail, fit_tail
from analytics.kernel.tails.samples import sample_of

VALUES = np.linspace(-1, 0, 1_000)
SHORT = Tail(
    threshold=0.0,
    n=1_000,
    count=50,
    shape=-0.4,
    scale=1.0,
    distance=0.0,
    shapes=np.full(100, -0.4),
    scales=np.ones(100),
    means=np.full(100, 1 / 1.4),
    counts=np.full(100, 50),
)
"""P(X > 2) is 0.05 * 0.2 ** 2.5; if it were exponential, 0.05 * e ** -2.8."""


def high(tail: Tail) -> float:
    sample = sample_of(VALUES)
    found = Extrapolation(sample, sample.values, tail, None, None)
    return estimate_failures(found, 2.0, is_strict=True).high


def test_a_light_tail_fails_no_more_seldom_than_an_exponential_one() -> None:
    assert high(SHORT) == pytest.approx(0.05 * np.exp(-2.8))
    assert high(replace(SHORT, shape=-0.6, shapes=np.full(100, -0.6))) == 0.0, "bounded: nothing lies beyond its end"


def test_a_bound_fails_no_more_often_than_counting_says() -> None:
    most = float(clopper_pearson(np.array([0]), np.array([1_000]), 0.95)[1][0])
    assert 0.2 * np.exp(-2.8) > most
    assert high(replace(SHORT, count=200, counts=np.full(100, 200))) == pytest.approx(most)


def test_the_bound_of_a_bounded_tail_makes_up_for_what_samples_fall_short() -> None:
    tail = replace(SHORT, shape=-1.0, shapes=np.full(101, -1.0), scales=np.linspace(0.5, 1.0, 101))
    tail = replace(tail, means=tail.scales / 2, counts=np.full(101, 50))
    bound, estimate = _by_fit(tail, 0.001)
    assert estimate == pytest.approx(0.98)
    assert bound == pytest.approx(2 * 0.98 - 0.525 * 0.98)


@pytest.mark.parametrize(
    ("shape", "drawn", "kind"),
    [(0.3, 0.1, "heavy"), (0.2, 0.1, "light"), (0.3, -0.1, "light"), (-0.7, -0.6, "bounded")],
)
def test_kind_of_a_tail(shape: float, drawn: float, kind: str) -> None:
    assert replace(SHORT, shape=shape, shapes=np.full(100, drawn)).kind == kind


def test_how_many_values_lie_above_the_threshold_is_in_doubt_too() -> None:
    tail = fit_tail(stats.norm.ppf((np.arange(1, 201) - 0.5) / 200), 1)
    assert tail is not None and tail.counts.mean() == pytest.approx(50, abs=1)
    assert tail.counts.std() == pytest.approx(np.sqrt(200 * 0.25 * 0.75), rel=0.15)


@pytest.mark.parametrize(("failed", "is_counted"), [(9, False), (10, True)])
def test_ten_failures_say_more_than_a_fit(failed: int, is_counted: bool) -> None:
    values = stats.norm.ppf((np.arange(1, 1_001) - 0.5) / 1_000)
    sample = sample_of(values)
    tail = fit_tail(sample.values, 1)
    found = estimate_failures(Extrapolation(sample, sample.values, tail, None, None), sample.values[-failed], True)
    assert (found.failed, found.is_counted) == (failed, is_counted)


@pytest.mark.parametrize(
    ("values", "is_discrete"),
    [
        (np.repeat(np.arange(30.0), 10), True),
        (np.repeat(np.sqrt(np.arange(30.0)), 10), False),
        (np.repeat(np.arange(100.0), 3), False),
        (np.repeat(np.sqrt(np.arange(19.0)), 20), True),
    ],
)
def test_discrete_are_few_values_or_a_small_share_on_a_grid(values: np.ndarray, is_discrete: bool) -> None:
    assert (sample_of(values).step > 0) == is_discrete


def test_values_of_a_clearly_negative_power_get_no_bound() -> None:
    """Pareto(2): its transforms are bounded, and no bound of them holds once turned back."""
    found = extrapolate(sample_of(stats.pareto(2).ppf((np.arange(1, 401) - 0.5) / 400)))
    assert found.kind == "heavy" and found.turned is None and found.rung(0.001).reason == "heavy"
