"""How often the present bound fails: counted where it fails often enough, else by the fitted tail."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Floats
from analytics.kernel.rates import clopper_pearson
from analytics.kernel.tails.bounds import Extrapolation
from analytics.kernel.tails.fits import BOUNDED, Tail
from analytics.kernel.tails.parameters import BEYOND_RUNS, CONFIDENCE, COUNTED


@dataclass(frozen=True, slots=True)
class FailureShare:
    """The share of runs in which a bound fails, with its interval."""

    failed: int
    of: int
    """Values that were beyond the bound."""
    estimate: float
    low: float
    high: float
    is_counted: bool
    """By the values alone, without a fit."""

    @property
    def is_below_claim(self) -> bool:
        """Whether all that can be said is "less than 1 in ..."."""
        return self.high < 1 / (BEYOND_RUNS * self.of)


def count_failures(values: Floats, bound: float, is_strict: bool) -> FailureShare:
    """`is_strict`: the assertion is `<`, so that a value equal to the bound fails."""
    failed = int((values >= bound).sum() if is_strict else (values > bound).sum())
    n = len(values)
    low, high = clopper_pearson(np.array([failed]), np.array([n]), CONFIDENCE)
    return FailureShare(failed, n, failed / n, float(low[0]), float(high[0]), True)


def estimate_failures(found: Extrapolation, bound: float, is_strict: bool) -> FailureShare:
    """`bound` as the sample is, divided by its unit."""
    counted = count_failures(found.sample.values, bound, is_strict)
    fit = _fit_at(found, bound, is_strict)
    if fit is None or counted.failed >= COUNTED:
        return counted
    tail, x = fit
    if x <= tail.threshold:
        return counted
    shares = tail.shares_beyond(x)
    low, high = (float(end) for end in np.quantile(shares, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)))
    if tail.kind != BOUNDED:
        high = max(high, tail.exponential_share_beyond(x))
    high = min(high, counted.high)
    estimate = min(tail.share_beyond(x), high)
    return FailureShare(counted.failed, counted.of, estimate, min(low, estimate), high, False)


def _fit_at(found: Extrapolation, bound: float, is_strict: bool) -> tuple[Tail, float] | None:
    """The fit that speaks for this bound, and where the bound lies in it."""
    x = _between_steps(found, bound, is_strict)
    if found.turned is not None and found.box_cox is not None and found.tail is None:
        has_sign = x * found.box_cox.sign > 0
        return (found.turned, float(found.box_cox.turn(np.array([x]))[0])) if has_sign else None
    return (found.tail, x) if found.tail is not None else None


def _between_steps(found: Extrapolation, bound: float, is_strict: bool) -> float:
    """Of discrete values: the middle between the last that passes and the first that fails."""
    step = found.sample.step
    if step == 0:
        return bound
    origin = float(found.sample.values[-1])
    steps = (bound - origin) / step
    nearest = round(steps)
    if abs(steps - nearest) < 1e-6:
        steps = nearest
        first_failing = steps if is_strict else steps + 1
    else:
        first_failing = int(np.ceil(steps))
    return origin + (first_failing - 0.5) * step
