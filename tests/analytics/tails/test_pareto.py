"""The generalized Pareto distribution against scipy's and against figures worked out beforehand."""

import numpy as np
import pytest
from scipy import stats

from analytics.kernel.executions import Floats
from analytics.kernel.tails import pareto

SCORES = (np.arange(1, 101) - 0.5) / 100


@pytest.mark.parametrize(
    ("shape", "fitted_shape", "fitted_scale"), [(-0.2, -0.1718, 0.9706), (0.0, 0.0222, 0.9752), (0.3, 0.3119, 0.9839)]
)
def test_fit_of_exact_scores_is_the_known_one(shape: float, fitted_shape: float, fitted_scale: float) -> None:
    fit = pareto.fitted(stats.genpareto.ppf(SCORES, shape)[None, :])
    assert fit.shape[0] == pytest.approx(fitted_shape, abs=5e-5)
    assert fit.scale[0] == pytest.approx(fitted_scale, abs=5e-5)


def test_distance_of_exact_scores_is_the_known_one() -> None:
    y = stats.genpareto.ppf(SCORES, -0.2)
    fit = pareto.fitted(y[None, :])
    assert pareto.anderson_darling(y, float(fit.shape[0]), float(fit.scale[0])) == pytest.approx(0.0255, abs=5e-5)


def fitted_plainly(y: Floats) -> tuple[float, float]:
    """Zhang and Stephens' estimator as its paper puts it, in loops."""
    m = len(y)
    points = 20 + int(np.floor(np.sqrt(m)))
    quartile = np.sort(y)[int(np.floor(m / 4 + 0.5)) - 1]
    ts, weights = [], []
    for j in range(1, points + 1):
        t = 1 / y.max() + (1 - np.sqrt(points / (j - 0.5))) / (3 * quartile)
        k = sum(np.log(1 - t * each) for each in y) / m
        ts.append(t)
        weights.append(m * (np.log(-t / k) - k - 1))
    shares = [1 / sum(np.exp(other - own) for other in weights) for own in weights]
    t = sum(a * b for a, b in zip(ts, shares, strict=True))
    shape = sum(np.log(1 - t * each) for each in y) / m
    return shape, -shape / t


@pytest.mark.parametrize("shape", [-0.4, 0.0, 0.4])
def test_fit_of_many_rows_is_the_plain_one_of_each(shape: float) -> None:
    samples = stats.genpareto.rvs(shape, scale=3, size=(4, 60), random_state=np.random.default_rng(1))
    fit = pareto.fitted(samples)
    plain = [fitted_plainly(row) for row in samples]
    np.testing.assert_allclose(np.transpose(plain), [fit.shape, fit.scale], rtol=1e-9)


@pytest.mark.parametrize("shape", [-0.2, 0.0, 0.3])
def test_fit_lies_near_the_one_of_greatest_likelihood(shape: float) -> None:
    y = stats.genpareto.rvs(shape, size=200, random_state=np.random.default_rng(2))
    assert pareto.fitted(y[None, :]).shape[0] == pytest.approx(stats.genpareto.fit(y, floc=0)[0], abs=0.1)


@pytest.mark.parametrize("shape", [-0.5, -1e-3, 0.0, 1e-3, 0.1, 2.0])
def test_tail_and_quantile_are_those_of_scipy(shape: float) -> None:
    y, share = np.linspace(0, 3.9, 40), np.linspace(1e-6, 1, 40)
    np.testing.assert_allclose(
        pareto.survival(y, shape, 2.0), stats.genpareto.sf(y, shape, scale=2.0), rtol=1e-12, atol=0
    )
    np.testing.assert_allclose(
        pareto.quantile(share, shape, 2.0), stats.genpareto.isf(share, shape, scale=2.0), rtol=1e-12, atol=1e-15
    )


def test_nothing_lies_beyond_the_end_and_all_of_it_above_the_threshold() -> None:
    assert pareto.survival(np.array([-1.0, 0.0, 4.0, 5.0]), -0.5, 2.0).tolist() == [1, 1, 0, 0]


def test_distance_of_exponential_values_is_the_textbook_one() -> None:
    """A2 = -n - sum of (2i-1)/n (ln F(y_i) + ln(1 - F(y_n+1-i)))."""
    y = np.sort(np.random.default_rng(3).exponential(size=30))
    f = 1 - np.exp(-y)
    textbook = -30 - sum((2 * i - 1) / 30 * (np.log(f[i - 1]) + np.log(1 - f[30 - i])) for i in range(1, 31))
    assert pareto.anderson_darling(y, 0.0, 1.0) == pytest.approx(textbook, rel=1e-9)


@pytest.mark.parametrize(
    ("shape", "limit"), [(-0.9, 1.06), (-0.5, 1.06), (-0.375, 1.035), (0, 0.97), (0.5, 0.79), (2, 0.79)]
)
def test_limit_of_the_distance_is_interpolated_and_held_at_its_ends(shape: float, limit: float) -> None:
    assert pareto.is_accepted(limit - 1e-9, shape)
    assert not pareto.is_accepted(limit + 1e-9, shape)
