"""The bound that fails seldom enough: an upper confidence limit of a quantile, or the reason why there is none."""

from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.executions import Floats
from analytics.kernel.tails import pareto
from analytics.kernel.tails.box_cox import BoxCox, box_cox_of
from analytics.kernel.tails.fits import BOUNDED, HEAVY, Tail, fit_tail
from analytics.kernel.tails.parameters import BEYOND_RUNS, BOUNDLESS_SHAPE, CONFIDENCE, FARTHEST
from analytics.kernel.tails.samples import Sample

NO_FIT = "no fit"
WIDE = "wide"
"""Heavy, but light once transformed: there is a bound, far out."""
MORE_RUNS = "more runs"
TOO_FAR = "too far"


@dataclass(frozen=True, slots=True)
class Rung:
    """The bound that fails in a share `tolerated` of runs."""

    tolerated: float
    bound: float | None
    estimate: float | None
    """Where the bound would lie if the fit were the truth."""
    reason: str = ""
    """Why there is no bound: `heavy`, `no fit`, `more runs`, `too far`."""


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """What the tail of a sample allows: the fit of the values, or that of their Box-Cox transforms."""

    sample: Sample
    spread: Floats
    tail: Tail | None
    """The fit of the values themselves."""
    turned: Tail | None
    """The fit of their transforms, if the values' own is heavy or none."""
    box_cox: BoxCox | None

    @property
    def kind(self) -> str:
        if self.turned is not None and self.turned.kind != HEAVY:
            return WIDE
        return NO_FIT if self.tail is None else self.tail.kind

    def rung(self, tolerated: float) -> Rung:
        n = self.sample.n
        if tolerated * BEYOND_RUNS * n < 1 - 1e-9:
            return Rung(tolerated, None, None, MORE_RUNS)
        if self.tail is not None and tolerated * n >= self.tail.count:
            return self._rung(tolerated, *_by_counting(self.spread, tolerated))
        if self.tail is not None and self.tail.kind != HEAVY:
            return self._rung(tolerated, *_by_fit(self.tail, tolerated))
        if self.turned is not None and self.box_cox is not None and self.turned.kind != HEAVY:
            bound, estimate = (self.box_cox.turn_back(end) for end in _by_fit(self.turned, tolerated))
            return self._rung(tolerated, bound, estimate)
        return self._rung(tolerated, *_by_counting(self.spread, tolerated))

    def _rung(self, tolerated: float, bound: float | None, estimate: float | None) -> Rung:
        if bound is None:
            return Rung(tolerated, None, None, NO_FIT if self.tail is None else HEAVY)
        median, farthest = float(np.median(self.spread)), float(self.spread[-1])
        if bound - median > FARTHEST * (farthest - median):
            return Rung(tolerated, None, None, TOO_FAR)
        return Rung(tolerated, max(bound, median), estimate)


def extrapolate(sample: Sample) -> Extrapolation:
    spread = sample.spread()
    tail = fit_tail(spread, sample.seed)
    if tail is not None and (tail.kind != HEAVY or tail.shape > BOUNDLESS_SHAPE):
        return Extrapolation(sample, spread, tail, None, None)
    box_cox = box_cox_of(spread)
    if box_cox is None or box_cox.is_heavy:
        return Extrapolation(sample, spread, tail, None, None)
    turned = fit_tail(box_cox.turn(spread), sample.seed)
    return Extrapolation(sample, spread, tail, turned, box_cox)


def _by_fit(tail: Tail, tolerated: float) -> tuple[float, float]:
    """The bound and the estimate. A tail that may be unbounded is taken to be no lighter than exponential."""
    shapes, scales = tail.shapes, tail.scales
    if tail.kind != BOUNDED:
        scales = np.where(shapes < 0, tail.means, scales)
        shapes = np.maximum(shapes, 0.0)
    bounds = tail.threshold + pareto.quantile(tolerated * tail.n / tail.counts, shapes, scales)
    share = tolerated * tail.n / tail.count
    estimate = tail.threshold + pareto.quantile(share, tail.shape, tail.scale)
    low, bound = (float(end) for end in np.quantile(bounds, (1 - CONFIDENCE, CONFIDENCE)))
    if tail.kind == BOUNDED:
        # Samples drawn from a fit with an end fall short of it, as the values did of theirs: by as much again.
        bound = max(bound, 2 * float(estimate) - low)
    return bound, float(estimate)


def _by_counting(ordered: Floats, tolerated: float) -> tuple[float | None, float]:
    """The order statistic that lies above the quantile with the confidence wanted, if there is one, and the quantile.

    At least 95 % of samples of n have no more than `rank` values below the quantile (binomial distribution). That holds
    for any distribution."""
    n = len(ordered)
    ranks = np.arange(n)
    enough = scipy.special.bdtr(ranks, n, 1 - tolerated) >= CONFIDENCE
    bound = float(ordered[np.argmax(enough)]) if enough.any() else None
    return bound, float(np.quantile(ordered, 1 - tolerated))
