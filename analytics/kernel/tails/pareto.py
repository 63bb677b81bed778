"""The generalized Pareto distribution of what lies above a threshold: its fit, its tail and how well it fits.

P(Y > y) = (1 + shape y / scale) ** (-1 / shape), exp(-y / scale) where the shape is 0; a positive shape is heavy.
The fit is Zhang and Stephens' (Technometrics 51, 2009): a mean over likelihoods, with no iteration that could fail."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Floats
from analytics.kernel.tails.parameters import CRITICAL, SHAPES

Numbers = Floats | float
_LARGEST_EXPONENT = 600.0
_TINY = 1e-6
"""Between minus this and this, log(1 - t y) would be lost in the rounding of 1 - t y."""
_LEAST_QUARTILE = 1e-30
"""Of values whose largest is 1: products of eight factors are finite."""
_GROUP = 8


@dataclass(frozen=True, slots=True)
class Pareto:
    """One distribution an element."""

    shape: Floats
    scale: Floats


def fitted(samples: Floats) -> Pareto:
    """A fit for each row of positive values."""
    largest = samples.max(axis=1)
    y = samples / largest[:, None]
    size = y.shape[1]
    points = 20 + int(np.sqrt(size))
    quartile = np.partition(y, int(size / 4 + 0.5) - 1, axis=1)[:, int(size / 4 + 0.5) - 1]
    steps = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    t = _not_zero(1 + steps / (3 * np.maximum(quartile, _LEAST_QUARTILE)[:, None]))
    k = mean_logs(t, y)
    likelihood = size * (np.log(-t / k) - k - 1)
    weight = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    mean = _not_zero((t * weight).sum(axis=1) / weight.sum(axis=1))
    shape = np.log1p(-mean[:, None] * y).mean(axis=1)
    return Pareto(shape, -shape / mean * largest)


def mean_logs(t: Floats, y: Floats) -> Floats:
    """The mean of log(1 - t y) over each row of y, for each t of the row: the logarithm of products of eight."""
    rows, size = y.shape
    groups = np.zeros((_GROUP, -(-size // _GROUP), rows))  # what is left over is 0, and its factor 1
    groups.reshape(-1, rows)[:size] = y.T
    sums = [np.log(np.multiply.reduce(1 - column * groups)).sum(axis=0) for column in t.T]
    return np.asarray(np.stack(sums, axis=1) / size)


def _not_zero(t: Floats) -> Floats:
    return np.where(np.abs(t) < _TINY, _TINY, t)


def log_survival(y: Numbers, shape: Numbers, scale: Numbers) -> Floats:
    """log P(Y > y); minus infinity beyond the end."""
    y, shape, scale = np.asarray(y), np.asarray(shape), np.asarray(scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside = np.maximum(1 + shape * y / scale, 0.0)
        bent = -np.log1p(np.where(inside > 0, shape * y / scale, -1.0)) / np.where(shape == 0, 1.0, shape)
        found = np.where(shape == 0, -y / scale, bent)
    return np.where(y <= 0, 0.0, np.where(inside > 0, found, -np.inf))


def survival(y: Numbers, shape: Numbers, scale: Numbers) -> Floats:
    return np.asarray(np.exp(log_survival(y, shape, scale)))


def quantile(share: Numbers, shape: Numbers, scale: Numbers) -> Floats:
    """The y that is exceeded with this probability."""
    return excess(np.asarray(-np.log(share)), shape, scale)


def excess(exponential: Numbers, shape: Numbers, scale: Numbers) -> Floats:
    """Standard exponential values turned into values of the distribution."""
    exponential, shape = np.asarray(exponential), np.asarray(shape)
    grown = np.expm1(np.minimum(shape * exponential, _LARGEST_EXPONENT))
    return np.asarray(scale * np.where(shape == 0, exponential, grown / np.where(shape == 0, 1.0, shape)))


def anderson_darling(y: Floats, shape: float, scale: float) -> float:
    """How far the values are from the distribution, with weight on both ends."""
    above = log_survival(np.sort(y), shape, scale)
    least = np.log(np.finfo(float).tiny)
    above = np.clip(above, least, -np.finfo(float).eps)
    below = np.log(-np.expm1(above))
    weights = 2 * np.arange(1, len(y) + 1) - 1
    return float(-len(y) - (weights * (below + above[::-1])).mean())


def is_accepted(distance: float, shape: float) -> bool:
    return distance <= float(np.interp(shape, SHAPES, CRITICAL))
