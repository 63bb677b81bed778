"""The fit against scipy's, the tail and its quantiles against scipy's, and the time an answer takes."""

import time
from collections.abc import Iterable

import numpy as np
from scipy import stats

from analytics.kernel.tails import pareto
from analytics.kernel.tails.answers import Question, answer
from bench.bounds.distributions import drawn
from bench.outcome import Outcome

SITES = 100
"""That an analysis of a project computes."""


def run() -> Iterable[Outcome]:
    yield Outcome("shape of 100 values and more: farthest from scipy's", _farthest_shape(), most=0.1)
    yield Outcome("tail and quantile: farthest from scipy's, relative", _farthest_tail(), most=1e-12)
    values = drawn("normal", 1, 1_000)[0]
    answer(values, Question("<", 1.6))
    began = time.process_time()
    for _ in range(SITES):
        answer(values, Question("<", 1.6))
    seconds = time.process_time() - began
    yield Outcome("one answer of 1,000 values", 1_000 * seconds / SITES, "ms", most=100)
    yield Outcome(f"answers of the {SITES} sites of a project", seconds, "s", most=10)


def _farthest_shape() -> float:
    farthest = 0.0
    for size in (100, 200):
        for shape in (-0.2, 0.0, 0.2, 0.4):
            draw = np.random.default_rng([size, int(100 * (shape + 1))])
            for _ in range(5):
                y = stats.genpareto.rvs(shape, size=size, random_state=draw)
                own = float(pareto.fitted(y[None, :]).shape[0])
                farthest = max(farthest, abs(own - stats.genpareto.fit(y, floc=0)[0]))
    return farthest


def _farthest_tail() -> float:
    y, share = np.linspace(0.01, 3, 50), np.linspace(0.001, 0.999, 50)
    farthest = 0.0
    for shape in (-0.3, -1e-3, 0.0, 1e-3, 0.5, 2.0):
        inside = y[y < -2 / shape] if shape < 0 else y
        tail = pareto.survival(inside, shape, 2.0) / stats.genpareto.sf(inside, shape, scale=2.0)
        quantile = pareto.quantile(share, shape, 2.0) / stats.genpareto.isf(share, shape, scale=2.0)
        farthest = max(farthest, np.abs(tail - 1).max(), np.abs(quantile - 1).max())
    return farthest
