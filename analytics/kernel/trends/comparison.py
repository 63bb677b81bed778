"""Two periods compared: rates, shares of time and counts, each difference with its interval.

See docs/concepts.md#two-periods-compared."""

from dataclasses import dataclass
from functools import cache
from math import inf, isfinite, isnan, nan, sqrt

import scipy

from analytics.kernel.executions import Floats
from analytics.kernel.parameters import DEFAULTS, Parameters

LEAST_DAYS = 5
"""Fewer days than this say nothing about how much a share of time varies from day to day: our choice."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; NaN where nothing is known of it."""

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        return not isnan(self.value)

    @property
    def excludes_zero(self) -> bool:
        return self.is_known and (self.low > 0 or self.high < 0)


UNKNOWN = Estimate(nan, nan, nan)


@cache
def _normal_quantile(share: float) -> float:
    return float(scipy.stats.norm.ppf(share))


def wilson(part: int, whole: int, confidence: float = DEFAULTS.confidence) -> Estimate:
    """The score interval of a proportion (Wilson 1927)."""
    if not whole:
        return UNKNOWN
    z = _normal_quantile((1 + confidence) / 2)
    rate, weight = part / whole, z * z / whole
    middle = rate + weight / 2
    half = z * sqrt(rate * (1 - rate) / whole + weight / (4 * whole))
    # Of none and of all one end is exact; arithmetic would miss it by the last digit, and a page show "<0.001".
    low = (middle - half) / (1 + weight) if part else 0.0
    high = (middle + half) / (1 + weight) if part < whole else 1.0
    return Estimate(rate, max(low, 0.0), min(high, 1.0))


def difference(after: Estimate, before: Estimate) -> Estimate:
    """after - before from the intervals of both; with Wilson's it is Newcombe's hybrid score interval (1998, method
    10), in general the method of variance estimates recovery (Zou and Donner 2008)."""
    if not (after.is_known and before.is_known):
        return UNKNOWN
    change = after.value - before.value
    low = sqrt((after.value - after.low) ** 2 + (before.high - before.value) ** 2)
    high = sqrt((after.high - after.value) ** 2 + (before.value - before.low) ** 2)
    return Estimate(change, change - low, change + high)


def share_of_time(part: Floats, whole: Floats, parameters: Parameters = DEFAULTS) -> Estimate:
    """The sum of `part` by that of `whole`, both by day, as a ratio estimator with days as clusters (Cochran 1977)."""
    ran = whole > 0
    part, whole = part[ran], whole[ran]
    days, total = len(whole), float(whole.sum())
    if days < LEAST_DAYS:
        return UNKNOWN
    share = float(part.sum()) / total
    spread = sqrt(days / (days - 1) * float(((part - share * whole) ** 2).sum())) / total
    half = float(scipy.stats.t.ppf((1 + parameters.confidence) / 2, days - 1)) * spread
    return Estimate(share, max(share - half, 0.0), min(share + half, 1.0))


def pace_ratio(
    after: int, days_after: int, before: int, days_before: int, confidence: float = DEFAULTS.confidence
) -> Estimate:
    """How many times as often something happened a day: two Poisson counts, by the exact conditional interval
    (Przyborowski and Wilenski 1940). Without a count before the ratio is infinite, without any at all not known."""
    total = after + before
    if not (total and days_after and days_before):
        return UNKNOWN
    tail, scale = (1 - confidence) / 2, days_before / days_after
    low = float(scipy.special.betaincinv(after, before + 1, tail)) if after else 0.0
    high = float(scipy.special.betaincinv(after + 1, before, 1 - tail)) if before else 1.0

    def odds(share: float) -> float:
        return scale * share / (1 - share) if share < 1 else inf

    return Estimate(odds(after / total), odds(low), odds(high))


@dataclass(frozen=True, slots=True)
class Change:
    """What a comparison comes to: better, worse, no clear change, or not enough data."""

    word: str
    difference: Estimate
    """For counts, the ratio of both paces."""


BETTER, WORSE, UNCLEAR, TOO_LITTLE = "better", "worse", "no clear change", "not enough data"


def change_of(after: Estimate, before: Estimate, *, good: int = -1) -> Change:
    """Whether an estimate moved; `good` is the direction that is better, 0 where neither is."""
    found = difference(after, before)
    if not found.is_known:
        return Change(TOO_LITTLE, found)
    if not found.excludes_zero or not good:
        return Change(UNCLEAR, found)
    return Change(BETTER if (found.value > 0) == (good > 0) else WORSE, found)


def pace_change(after: int, days_after: int, before: int, days_before: int, *, good: int = -1) -> Change:
    """The same of two counts."""
    found = pace_ratio(after, days_after, before, days_before)
    if not found.is_known:
        return Change(TOO_LITTLE, found)
    apart = found.low > 1 or found.high < 1
    if not apart:
        return Change(UNCLEAR, found)
    return Change(BETTER if (found.low > 1) == (good > 0) else WORSE, found)


def bounded(median: float, low: float, high: float) -> Estimate:
    """An estimate of a median; without a finite interval nothing can be compared with it."""
    known = all(isfinite(value) for value in (median, low, high))
    return Estimate(median, low, high) if known else UNKNOWN
