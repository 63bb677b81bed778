"""For a whole project: what a number of reruns after every failure would clear and cost.

See docs/concepts.md#retries-for-a-whole-project."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.bursts import Bursts
from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.reruns import Beta, Prior, once_each


@dataclass(frozen=True, slots=True)
class RetryCurve:
    """For n = 0, 1, ... reruns of every failure."""

    n: Ints
    share: Floats
    low: Floats
    high: Floats
    """The share of flaky failures that n reruns clear, with its interval; NaN if there are no failures."""
    minutes: Floats
    """Machine minutes that these reruns would have taken in the window, including real failures; NaN if no duration
    is known."""
    untimed: int
    """Failures of tests of unknown duration, which the minutes do not include."""
    recommended: int | None
    """The least n that clears most of what `most_retries` would; None if there are no failures."""
    stuck: float
    """The share of flaky failures in tests that immediate reruns do not clear; rerun these later or elsewhere."""
    exceptions: Flags
    """By test: it failed, and needs more reruns than the recommended number."""


def retry_curve(
    bursts: Bursts,
    prior: Beta | Prior,
    failures: Ints,
    seconds: Floats,
    parameters: Parameters = DEFAULTS,
    *,
    real: Ints | None = None,
) -> RetryCurve:
    """The curve of a project's flaky tests, from each one's `failures` and mean `seconds` (NaN where not known).

    After a failure a rerun fails with q ~ Beta(a, b) of that test, so n reruns clear 1 - E[q^n] of its failures. CI
    retries broken tests too: all n reruns of `real` failures, by test, fail and cost their time."""
    n = np.arange(parameters.rerun_limit + 1)
    a, b = bursts.again + prior[0], bursts.cleared + prior[1]
    stuck = _moments(a, b, n)
    timed = np.isfinite(seconds)
    executed = np.concatenate([np.zeros((len(a), 1)), np.cumsum(stuck[:, :-1], axis=1)], axis=1)
    real = np.zeros(len(a), dtype=np.int64) if real is None else real
    each = np.where(timed, seconds, 0.0) / 60
    minutes = (failures * each) @ executed + float((real * each).sum()) * n
    retried, untimed = int((failures + real).sum()), int((failures + real)[~timed].sum())
    if retried and untimed == retried:
        minutes = np.full(len(n), np.nan)
    total = int(failures.sum())
    if not total:
        unknown = np.full(len(n), np.nan)
        none = np.zeros(len(a), dtype=bool)
        return RetryCurve(n, unknown, unknown, unknown, minutes, untimed, None, float("nan"), none)
    share, low, high = _cleared(stuck, _moments(a, b, 2 * n), failures / total, parameters.confidence)
    enough = share[: parameters.most_retries + 1] >= parameters.retry_share * share[parameters.most_retries]
    recommended = max(int(np.flatnonzero(enough)[0]), 1)
    exceptions = (failures > 0) & (stuck[:, recommended] > 1 - parameters.confidence)
    later = float(failures[stuck[:, -1] > 1 - parameters.confidence].sum()) / total
    return RetryCurve(n, share, low, high, minutes, untimed, recommended, later, exceptions)


def _moments(a: npt.NDArray[np.floating], b: npt.NDArray[np.floating], n: Ints) -> Floats:
    """E[q^n], tests x n: B(a + n, b) / B(a, b)."""
    (a, b), at = once_each(a, b)
    each = np.exp(scipy.special.betaln(a[:, None] + n, b[:, None]) - scipy.special.betaln(a, b)[:, None])
    return np.asarray(each[at])


def _cleared(stuck: Floats, squared: Floats, weight: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
    """The weighted mean of 1 - q^n over tests, and its interval.

    Tests are independent and every q^n has known first and second moments, so the mean's own are exact; between 0 and
    1 the Beta with these two moments stands for it."""
    share = 1 - weight @ stuck
    variance = np.maximum(weight**2 @ (squared - stuck**2), 0.0)
    known = (variance > 0) & (share > 0) & (share < 1)
    spread = np.divide(share * (1 - share), variance, out=np.ones(len(share)), where=known) - 1
    known &= spread > 0
    a, b = np.where(known, share * spread, 1.0), np.where(known, (1 - share) * spread, 1.0)
    tail = (1 - confidence) / 2
    low, high = (np.where(known, scipy.special.betaincinv(a, b, end), share) for end in (tail, 1 - tail))
    return share, low, high
