"""Shares of failing runs without scipy: the same numbers as scipy's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from flakeboard.why.chances import (
    beta_cdf,
    chance_above,
    chance_worse,
    clopper_pearson,
    falling_curve,
    fisher_greater,
    quantile,
    upper_bound,
)
from scipy import integrate, stats


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.5, 100.5), (30, 70), (3, 1), (1.5, 499.5), (501, 1)])
def test_the_beta_distribution(a: float, b: float) -> None:
    for x in (0, 1e-9, 0.001, 0.03, 0.31, 0.5, 0.97, 1 - 1e-9, 1):
        assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-10)


@pytest.mark.parametrize(("failed", "runs"), [(0, 1), (0, 100), (3, 100), (50, 50), (1, 7), (499, 500)])
def test_exact_intervals(failed: int, runs: int) -> None:
    expected = stats.binomtest(failed, runs).proportion_ci(method="exact")
    assert clopper_pearson(failed, runs) == pytest.approx((expected.low, expected.high), abs=1e-10)
    if failed == 0:
        assert upper_bound(runs) == pytest.approx(expected.high, abs=1e-10)


def test_no_failure_in_a_hundred_means_at_most_3_6_per_cent() -> None:
    assert f"{clopper_pearson(0, 100)[1]:.1%}" == "3.6%"


@pytest.mark.parametrize(
    "counts", [(0, 10, 0, 50), (5, 100, 0, 50), (3, 100, 1, 50), (10, 10, 0, 50), (2, 100, 25, 50), (0, 5, 5, 5)]
)
@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_the_chance_that_one_share_is_worse(counts: tuple[int, int, int, int], margin: float) -> None:
    failed, runs, other, of = counts

    def density(x: float) -> float:
        above = stats.beta.sf(x + margin, failed + 0.5, runs - failed + 0.5)
        return float(stats.beta.pdf(x, other + 0.5, of - other + 0.5) * above)

    expected, _ = integrate.quad(density, 0, 1, limit=500, points=[1e-6, 0.01, 0.1, 0.5, 1 - 1e-6])
    assert chance_worse(failed, runs, other, of, margin) == pytest.approx(expected, abs=1e-6)
    assert chance_above(failed, runs, 0.03) == pytest.approx(stats.beta.sf(0.03, failed + 0.5, runs - failed + 0.5))


def test_fisher_by_counting() -> None:
    for failed, other in itertools.product(range(0, 11, 2), range(0, 16, 3)):
        expected = stats.fisher_exact([[failed, 10 - failed], [other, 15 - other]], alternative="greater").pvalue
        assert fisher_greater(failed, 10, other, 15) == pytest.approx(expected)


def test_a_curve_that_does_not_rise() -> None:
    assert falling_curve([0.9, 0.2, 0.4, 0.0], [10, 10, 30, 50]) == pytest.approx([0.9, 0.35, 0.35, 0.0])
    assert falling_curve([0.1, 0.2, 0.3], [1, 1, 1]) == pytest.approx([0.2, 0.2, 0.2])
    assert falling_curve([], []) == []


def test_quantiles_are_those_of_numpy() -> None:
    values = [3.0, 1.0, 2.0, 10.0]
    for share in (0, 0.25, 0.5, 0.95, 0.99, 1):
        assert quantile(values, share) == pytest.approx(float(np.quantile(values, share)))
