"""Shares of failing runs, without scipy: Fisher's exact test, exact intervals, and posteriors."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Sequence

_TINY = 1e-300
_CLOSE = 1e-14
_STEPS = 400
"""Even, as Simpson's rule needs it."""
_WIDTH = 12.0
"""Standard deviations around the middle of a posterior that are integrated."""


def fisher_greater(failed: int, runs: int, other_failed: int, other_runs: int) -> float:
    """The one-sided chance that so many of the first runs fail, or more, if both sides fail alike."""
    total, all_failed = runs + other_runs, failed + other_failed
    ways = math.comb(total, all_failed)
    most = min(runs, all_failed)
    return sum(math.comb(runs, k) * math.comb(other_runs, all_failed - k) for k in range(failed, most + 1)) / ways


def upper_bound(runs: int, confidence: float = 0.975) -> float:
    """The largest failing share that goes with no failure in so many runs: 3.6 % of 100."""
    return 1.0 if runs == 0 else 1 - (1 - confidence) ** (1 / runs)


# -- the beta distribution ---------------------------------------------------------------------------------------


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    log_front = a * math.log(x) + b * math.log1p(-x) - math.log(a) - _log_beta(a, b)
    return math.exp(log_front) * _continued_fraction(x, a, b)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _continued_fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 10_000):
        for part in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + part * d)
            c = _away_from_zero(1 + part / c)
            fraction *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return fraction


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def beta_quantile(share: float, a: float, b: float) -> float:
    """Where the distribution function reaches a share, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if beta_cdf(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def clopper_pearson(failed: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a failing share (Clopper and Pearson 1934)."""
    tail = (1 - confidence) / 2
    low = 0.0 if failed == 0 else beta_quantile(tail, failed, runs - failed + 1)
    high = 1.0 if failed == runs else beta_quantile(1 - tail, failed + 1, runs - failed)
    return low, high


# -- posteriors --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=100_000)
def chance_above(failed: int, runs: int, bound: float) -> float:
    """The chance that a share is above a bound, by the posterior of Jeffreys' prior."""
    return 1 - beta_cdf(bound, failed + 0.5, runs - failed + 0.5)


@lru_cache(maxsize=100_000)
def chance_worse(failed: int, runs: int, other_failed: int, other_runs: int, margin: float) -> float:
    """The chance that the first share is above the other by more than a margin, by both posteriors.

    The other's density is integrated over t with share = sin(t)^2, which has no poles at 0 and 1."""
    a, b = other_failed + 0.5, other_runs - other_failed + 0.5
    middle, spread = math.asin(math.sqrt(a / (a + b))), 0.5 / math.sqrt(a + b)
    low, high = max(0.0, middle - _WIDTH * spread), min(math.pi / 2, middle + _WIDTH * spread)
    step = (high - low) / _STEPS
    total = weights = 0.0
    log_beta = _log_beta(a, b)
    for number in range(_STEPS + 1):
        t = low + number * step
        weight = (1 if number in (0, _STEPS) else 4 if number % 2 else 2) * _density(t, a, b, log_beta)
        if weight:
            weights += weight
            total += weight * (1 - beta_cdf(math.sin(t) ** 2 + margin, failed + 0.5, runs - failed + 0.5))
    return total / weights


def _density(t: float, a: float, b: float, log_beta: float) -> float:
    """Of the beta distribution, over t."""
    sine, cosine = max(math.sin(t), _TINY), max(math.cos(t), _TINY)
    return math.exp(math.log(2) - log_beta + (2 * a - 1) * math.log(sine) + (2 * b - 1) * math.log(cosine))


# -- curves ------------------------------------------------------------------------------------------------------


def falling_curve(shares: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The closest curve that does not rise (pooled adjacent violators)."""
    blocks: list[list[float]] = []
    for share, weight in zip(shares, weights):
        blocks.append([share, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            right, left = blocks.pop(), blocks.pop()
            both = left[1] + right[1]
            blocks.append([(left[0] * left[1] + right[0] * right[1]) / both, both, left[2] + right[2]])
    return [block[0] for block in blocks for _ in range(int(block[2]))]


def quantile(values: Sequence[float], share: float) -> float:
    """Of a sample, between its neighbours in proportion."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
