"""The life of a flaky test: shares with their intervals, the time to a fix, and tests that are gone.

See docs/concepts.md#the-life-of-a-flaky-test."""

from dataclasses import dataclass
from math import isnan

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Floats, Ints, distinct
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import by_part
from analytics.kernel.rates import rates_of


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, with its interval; all three numbers are NaN where the whole is nothing."""

    part: int
    whole: int
    share: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        return self.whole > 0


def share_of(part: int, whole: int, parameters: Parameters = DEFAULTS) -> Share:
    """By Clopper and Pearson, as failure rates."""
    rates = rates_of(np.array([part]), np.array([whole]), parameters)
    return Share(part, whole, float(rates.rate[0]), float(rates.low[0]), float(rates.high[0]))


# -- the time to a fix -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimeToFix:
    """Days from found to fixed. Medians are NaN where there is none."""

    fixed: int
    open: int
    """Not fixed so far, or ended otherwise: all that is known is that it took longer."""
    median: float
    """By Kaplan and Meier; NaN where fewer than half were fixed by the longest time that was watched."""
    low: float
    high: float
    """Its interval; `high` is infinite where the data does not bound it."""
    plain_median: float
    """Of those that were fixed alone: too short, since slow ones are still open."""
    plain_mean: float


def time_to_fix(days: Floats, fixed: npt.NDArray[np.bool_], parameters: Parameters = DEFAULTS) -> TimeToFix:
    """From how long each was watched, and whether it ended with a fix (Kaplan and Meier 1958).

    The interval of the median is where the log-log interval of the curve crosses one half (Brookmeyer and Crowley)."""
    days, fixed = np.asarray(days, dtype=np.float64), np.asarray(fixed, dtype=bool)
    done = days[fixed]
    median, low, high = _crossings(*survival(days, fixed), parameters.confidence)
    plain = (float(np.median(done)), float(done.mean())) if len(done) else (float("nan"), float("nan"))
    return TimeToFix(len(done), len(days) - len(done), median, low, high, *plain)


def survival(days: Floats, fixed: npt.NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """The times of fixes, the share that is open after each, and Greenwood's sum for its variance."""
    times = np.unique(days[fixed])
    at_risk = len(days) - np.searchsorted(np.sort(days), times, side="left")
    ended = np.array([np.count_nonzero(days[fixed] == time) for time in times], dtype=np.int64)
    open_share: Floats = np.cumprod(1 - ended / np.maximum(at_risk, 1)).astype(np.float64)
    left = at_risk - ended
    with np.errstate(divide="ignore"):
        terms = np.where(left > 0, ended / (at_risk * np.maximum(left, 1)), np.inf)
    return times, open_share, np.cumsum(terms)


def _crossings(times: Floats, open_share: Floats, greenwood: Floats, confidence: float) -> tuple[float, float, float]:
    """When the curve, and the ends of its interval, fall to one half."""
    if not len(times):
        return float("nan"), float("nan"), float("nan")
    z = float(scipy.stats.norm.ppf((1 + confidence) / 2))
    inside = (open_share > 0) & (open_share < 1)
    log = np.log(np.where(inside, open_share, 0.5))
    width = z * np.sqrt(np.where(inside, greenwood, 0.0)) / np.abs(log)
    upper = np.where(inside, np.exp(log * np.exp(-width)), open_share)
    lower = np.where(inside, np.exp(log * np.exp(width)), open_share)
    median = _first(times, open_share, float("nan"))
    if isnan(median):
        return median, _first(times, lower, float("nan")), float("inf")
    return median, _first(times, lower, median), _first(times, upper, float("inf"))


def _first(times: Floats, curve: Floats, none: float) -> float:
    below = np.flatnonzero(curve <= 0.5 + 1e-12)
    return float(times[below[0]]) if len(below) else none


# -- tests that are gone -----------------------------------------------------------------------------------------

GONE_AFTER = 20
"""Whole runs in a row without an execution, absent or skipped, after which a test is deleted or disabled."""


def runs_without(executions: Executions, kind: Ints) -> Ints:
    """By test: whole reports since its last execution, of the kinds that it was executed in (`kind` by report).

    A skip is no execution; reports of other jobs say nothing of it."""
    return by_part(executions, lambda part: _runs_without(part.executions, kind))


def _runs_without(executions: Executions, kind: Ints) -> Ints:
    ran = executions.where(executions.executed)
    reports = len(kind)
    last = np.full(executions.tests, -1, dtype=np.int64)
    last[ran.test] = ran.report  # reports rise within a test, so the last one wins
    kinds = int(kind.max(initial=0)) + 1
    pairs = distinct(ran.test.astype(np.int64) * kinds + kind[ran.report])
    test, which = pairs // kinds, pairs % kinds
    keys = np.sort(kind.astype(np.int64) * (reports + 1) + np.arange(reports))
    after = np.searchsorted(keys, (which + 1) * (reports + 1)) - np.searchsorted(
        keys, which * (reports + 1) + last[test], side="right"
    )
    return np.bincount(test, weights=after, minlength=executions.tests).astype(np.int64)


# -- what quarantines masked -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MaskedMonth:
    month: str
    """As in 2026-01."""
    failed_runs: int
    masked_runs: int
    """Failed runs in which a quarantine masked a failure of a flaky test."""
    failures: int
    """Failing results: a test in a run."""
    masked_failures: int


def masked_by_month(started: Floats, run: Ints, test: Ints, masked: npt.NDArray[np.bool_]) -> tuple[MaskedMonth, ...]:
    """From failing cells, a run and a test each, and whether a quarantine masked them (`started` by run)."""
    if not len(run):
        return ()
    size = int(test.max()) + 1
    cells, first = np.unique(run.astype(np.int64) * size + test, return_index=True)
    where, hidden = cells // size, masked[first]
    month = started[where].astype("datetime64[s]").astype("datetime64[M]")
    return tuple(
        MaskedMonth(
            str(name),
            len(np.unique(where[month == name])),
            len(np.unique(where[(month == name) & hidden])),
            int(np.count_nonzero(month == name)),
            int(np.count_nonzero((month == name) & hidden)),
        )
        for name in np.unique(month)
    )
