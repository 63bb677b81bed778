"""Failure rates of tests and suites, with their intervals. See docs/concepts.md#failure-rate."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class Rates:
    """failed / executed with its interval; all three are NaN if nothing was executed."""

    failed: Ints
    executed: Ints
    rate: Floats
    low: Floats
    high: Floats


def clopper_pearson(
    failed: npt.NDArray[np.integer], executed: npt.NDArray[np.integer], confidence: float
) -> tuple[Floats, Floats]:
    """The exact interval of a binomial proportion (Clopper and Pearson 1934), by quantiles of the beta distribution.

    They take long, and many tests have the same counts: each pair of counts is asked for once."""
    bad, ran = np.broadcast_arrays(np.asarray(failed, dtype=np.int64), np.asarray(executed, dtype=np.int64))
    size = int(ran.max(initial=0)) + 1
    pairs, at = np.unique(bad * size + ran, return_inverse=True)
    low, high = _interval(pairs // size, pairs % size, confidence)
    return low[at.reshape(ran.shape)], high[at.reshape(ran.shape)]


def _interval(failed: Ints, executed: Ints, confidence: float) -> tuple[Floats, Floats]:
    tail = (1 - confidence) / 2
    passed = executed - failed
    low = np.where(failed > 0, scipy.special.betaincinv(np.maximum(failed, 1), passed + 1, tail), 0.0)
    high = np.where(passed > 0, scipy.special.betaincinv(failed + 1, np.maximum(passed, 1), 1 - tail), 1.0)
    unknown = executed == 0
    low[unknown] = high[unknown] = np.nan
    return low, high


def rates_of(
    failed: npt.NDArray[np.integer], executed: npt.NDArray[np.integer], parameters: Parameters = DEFAULTS
) -> Rates:
    """Rates from counts."""
    bad, ran = np.asarray(failed, dtype=np.int64), np.asarray(executed, dtype=np.int64)
    low, high = clopper_pearson(bad, ran, parameters.confidence)
    rate = np.divide(bad, ran, out=np.full(bad.shape, np.nan), where=ran > 0)
    return Rates(bad, ran, rate, low, high)


def first_attempts(executions: Executions, run: Ints) -> Flags:
    """Rows that are a test's first attempt in a run (`run` by report), so that each run counts once."""
    first = np.asarray(executions.ordinal == 0)
    if len(np.unique(run)) == len(run):
        return first
    rows = np.flatnonzero(first)
    key = executions.test[rows].astype(np.int64) * (int(run.max(initial=0)) + 1) + run[executions.report[rows]]
    once = np.zeros(len(first), dtype=bool)
    once[rows[np.unique(key, return_index=True)[1]]] = True
    return once


def failure_rates(executions: Executions, parameters: Parameters = DEFAULTS, *, of: Flags | None = None) -> Rates:
    """f = (FAIL + ERROR) / executed, per test, `of` these rows or of all. A skip is not an execution."""
    failed, executed = executions.failing, executions.executed
    if of is not None:
        failed, executed = failed & of, executed & of
    return rates_of(executions.count(failed), executions.count(executed), parameters)
