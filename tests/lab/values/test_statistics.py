"""Bounds of tests that are really random, with numpy's and scipy's assertions, against failure rates known exactly."""

from math import pi
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bench.bounds.whole_way import Workplace
from tests.lab.values.forking import forked_sessions

__all__ = ["forked_sessions"]

TESTS = """
import numpy as np
import pytest
from scipy import stats

def test_statistics():
    sample = np.random.gamma(2.0, size=200)
    statistic = stats.kstest(sample, stats.gamma(2.0).cdf).statistic
    mean = stats.expon.rvs(size=500, random_state=3).mean()
    x, y = np.random.default_rng().random((2, 1000))
    np.testing.assert_allclose(4 * np.mean(x * x + y * y < 1), np.pi, rtol=0.04)
    assert mean == pytest.approx(1.0, rel=0.1)
    assert statistic < 0.1
"""
RUNS = 110


def beyond(share: float) -> list[float]:
    """By assertion: how often so many times its present bound are exceeded."""
    inside = np.arange(1_001)
    inside = inside[np.abs(4 * inside / 1_000 - pi) <= 0.04 * share * pi]
    mean = stats.gamma(500, scale=1 / 500)
    return [
        1 - float(stats.binom(1_000, pi / 4).pmf(inside).sum()),
        float(mean.sf(1 + 0.1 * share) + mean.cdf(1 - 0.1 * share)),
        float(stats.kstwo.sf(0.1 * share, 200)),
    ]


@pytest.mark.usefixtures("forked_sessions")
def test_failure_rates_and_bounds_are_those_of_the_mathematics(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    place = Workplace(tmp_path)
    found = place.ran("test_it.py::test_statistics", RUNS)
    assert len(found.runs) == RUNS and found.answer is not None
    assert found.seeds == ["test_it.py:9"], "scipy's seed is varied, and named where the test gives it"
    conclusions = [site["conclusion"] for site in found.answer["sites"]]
    assert [each["kind"] for each in conclusions] == ["share", "share", "upper"]
    assert len(found.series[0].values) == RUNS and len(found.series[2].values) > 0.9 * RUNS
    for conclusion, truth in zip(conclusions, beyond(1.0), strict=True):
        assert conclusion["present"]["low"] <= truth <= conclusion["present"]["high"]
    for place_of, conclusion in enumerate(conclusions):
        times = conclusion["proposal"]["bound"] / conclusion["bound"]
        assert beyond(times)[place_of] <= 0.001, "what is proposed keeps its promise"
    assert place.patched(found)
    text = (tmp_path / "test_it.py").read_text()
    assert all(old not in text for old in ("rtol=0.04", "rel=0.1)", "statistic < 0.1\n"))
