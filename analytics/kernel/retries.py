"""Section 4, for a whole project: what a number of reruns after every failure would clear, and what it would cost."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from analytics.kernel.bursts import Bursts
from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.reruns import Beta


@dataclass(frozen=True, slots=True)
class RetryCurve:
    """For n = 0, 1, ... reruns of every failure."""

    n: Ints
    share: Floats
    low: Floats
    high: Floats
    """The share of flaky failures that n reruns clear, with its interval; NaN where there are no failures."""
    minutes: Floats
    """Machine minutes that these reruns would have taken in the window."""
    untimed: int
    """Failures of tests whose duration is not known: not in the minutes."""
    recommended: int | None
    """The least n after which one more would clear hardly anything; None where there are no failures."""
    exceptions: Flags
    """By test: it failed, and to get past it with confidence takes more than the recommended number."""


def retry_curve(
    bursts: Bursts, prior: Beta, failures: Ints, seconds: Floats, parameters: Parameters = DEFAULTS
) -> RetryCurve:
    """The curve of a project's flaky tests, from each one's `failures` and mean `seconds` (NaN where not known).

    After a failure a rerun fails with q ~ Beta(a, b) of that test, so n reruns clear 1 - E[q^n] of its failures."""
    n = np.arange(parameters.rerun_limit + 1)
    a, b = bursts.again + prior[0], bursts.cleared + prior[1]
    stuck = _moments(a, b, n)
    timed = np.isfinite(seconds)
    executed = np.concatenate([np.zeros((len(a), 1)), np.cumsum(stuck[:, :-1], axis=1)], axis=1)
    minutes = (failures * np.where(timed, seconds, 0.0) / 60) @ executed
    total = int(failures.sum())
    if not total:
        unknown = np.full(len(n), np.nan)
        return RetryCurve(n, unknown, unknown, unknown, minutes, 0, None, np.zeros(len(a), dtype=bool))
    share, low, high = _cleared(stuck, _moments(a, b, 2 * n), failures / total, parameters.confidence)
    recommended = int(np.flatnonzero(np.append(np.diff(share), 0.0) < parameters.retry_gain)[0])
    exceptions = (failures > 0) & (stuck[:, recommended] > 1 - parameters.confidence)
    return RetryCurve(n, share, low, high, minutes, int(failures[~timed].sum()), recommended, exceptions)


def _moments(a: npt.NDArray[np.floating], b: npt.NDArray[np.floating], n: Ints) -> Floats:
    """E[q^n], tests x n: B(a + n, b) / B(a, b)."""
    return np.asarray(np.exp(special.betaln(a[:, None] + n, b[:, None]) - special.betaln(a, b)[:, None]))


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
    low, high = (np.where(known, stats.beta.ppf(end, a, b), share) for end in (tail, 1 - tail))
    return share, low, high
