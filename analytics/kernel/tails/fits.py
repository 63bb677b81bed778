"""The fitted tail of a sample, and the doubt about it: samples drawn from the fit and fitted again."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Floats, Ints
from analytics.kernel.tails import pareto
from analytics.kernel.tails.parameters import (
    BOUNDED_SHAPE,
    CONFIDENCE,
    EXCEEDANCES,
    HEAVY_SHAPE,
    LEAST_EXCEEDANCES,
    REFITS,
    TAIL_PARTS,
)

LIGHT, BOUNDED, HEAVY = "light", "bounded", "heavy"
_AT_ONCE = 25_000
"""Values of samples that are fitted in one go."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What is above the threshold: `count` of `n` values."""

    threshold: float
    n: int
    count: int
    shape: float
    scale: float
    distance: float
    """Anderson and Darling's."""
    shapes: Floats
    scales: Floats
    means: Floats
    counts: Ints
    """Of the samples that were drawn from it: their fits, their means, and how many values would lie above."""

    @property
    def kind(self) -> str:
        if np.mean(self.shapes < BOUNDED_SHAPE) >= CONFIDENCE:
            return BOUNDED
        is_heavy = self.shape > HEAVY_SHAPE and np.mean(self.shapes > 0) >= CONFIDENCE
        return HEAVY if is_heavy else LIGHT

    def shares_beyond(self, x: float) -> Floats:
        """P(X > x) by each of the samples' fits."""
        beyond = pareto.survival(x - self.threshold, self.shapes, self.scales)
        return np.asarray(self.counts / self.n * beyond)

    def share_beyond(self, x: float) -> float:
        tail = pareto.survival(x - self.threshold, self.shape, self.scale)
        return self.count / self.n * float(tail)

    def exponential_share_beyond(self, x: float) -> float:
        """The median over the samples of P(X > x), if the tail were exponential."""
        return float(np.median(self.counts / self.n * np.exp(-(x - self.threshold) / self.means)))


def fit_tail(ordered: Floats, seed: int) -> Tail | None:
    """The tail of sorted values by the first cut whose fit is accepted; None if none is."""
    n = len(ordered)
    for part in TAIL_PARTS:
        cut = max(EXCEEDANCES, n // part)
        if cut >= n:
            continue
        threshold = float(ordered[n - cut - 1])
        y = ordered[n - cut :] - threshold
        y = y[y > 0]
        if len(y) < LEAST_EXCEEDANCES:
            continue
        fit = pareto.fitted(y[None, :])
        shape, scale = float(fit.shape[0]), float(fit.scale[0])
        if not (np.isfinite(shape) and np.isfinite(scale) and scale > 0):
            continue
        distance = pareto.anderson_darling(y, shape, scale)
        if pareto.is_accepted(distance, shape):
            return _doubted(threshold, n, len(y), shape, scale, distance, seed)
    return None


def _doubted(threshold: float, n: int, count: int, shape: float, scale: float, distance: float, seed: int) -> Tail:
    draw = np.random.default_rng([seed, 2])
    rows = max(1, _AT_ONCE // count)
    shapes, scales, means = [], [], []
    for start in range(0, REFITS, rows):
        drawn = draw.exponential(size=(min(rows, REFITS - start), count))
        samples = np.maximum(pareto.excess(drawn, shape, scale), np.finfo(float).tiny)
        fit = pareto.fitted(samples)
        shapes.append(fit.shape)
        scales.append(fit.scale)
        means.append(samples.mean(axis=1))
    counts = np.maximum(draw.binomial(n, count / n, REFITS), 1)
    joined = np.concatenate(shapes), np.concatenate(scales), np.concatenate(means)
    return Tail(threshold, n, count, shape, scale, distance, *joined, counts)
