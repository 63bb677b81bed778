"""The benchmark of bounds in small: its figures are those of the spread of values that it names."""

import numpy as np
import pytest

from analytics.kernel.tails import pareto
from bench.bounds import formulas, intervals, published
from bench.bounds.distributions import LIGHT, drawn
from bench.bounds.promises import bounds_of, kept


def test_promises_are_judged_by_the_truth() -> None:
    law = LIGHT["exponential"]
    found = kept("exponential", [law.isf(0.0005), law.isf(0.002), None, law.isf(0.001)], 0.001)
    assert found.without == 0.25
    assert found.coverage == pytest.approx(2 / 3)
    assert found.median == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["normal", "exponential", "uniform"])
def test_our_bounds_keep_their_promise_where_published_ones_do_not(name: str) -> None:
    values = drawn(name, 8, 100, seed=2)
    ours = kept(name, bounds_of(values, (1e-3,))[0], 1e-3)
    assert ours.coverage >= 0.85
    if name != "uniform":
        theirs = kept(name, [published.bound_of(row, 1e-3, seed) for seed, row in enumerate(values)], 1e-3)
        assert theirs.coverage < ours.coverage


def test_intervals_hold_the_truth() -> None:
    assert min(intervals.coverage("normal", 100, samples=20)) >= 0.85


def test_samples_are_the_same_in_every_run() -> None:
    assert np.array_equal(drawn("normal", 2, 5), drawn("normal", 2, 5))
    assert not np.array_equal(drawn("normal", 2, 5), drawn("normal", 2, 5, seed=1))


def test_published_fit_is_the_one_of_greatest_likelihood() -> None:
    from scipy import stats

    y = stats.genpareto.rvs(0.2, size=200, random_state=np.random.default_rng(1))
    shape, _ = published.most_likely(y[None, :])
    assert shape[0] == pytest.approx(stats.genpareto.fit(y, floc=0)[0], abs=0.02)


def test_distances_of_many_samples_are_those_of_each() -> None:
    samples = np.random.default_rng(3).exponential(size=(4, 60))
    shape, scale = published.most_likely(samples)
    expected = [pareto.anderson_darling(*row) for row in zip(samples, shape, scale, strict=True)]
    assert published.distances(samples, shape, scale) == pytest.approx(expected, rel=1e-12)


def test_tail_is_compared_with_that_of_scipy() -> None:
    assert formulas._farthest_tail() < 1e-12
