"""Where to look for flaky tests that nobody knows: how often to run which test, within a budget of seconds. Pure.

After the thesis on call traces: what a test calls, or else how long it takes, says how likely it is to be flaky, and
seconds decide. See docs/reach.md#where-to-look-for-unknown-flaky-tests."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.executions import Floats, Ints

EXPOSED, NOT_EXPOSED = 2.24, 0.131
"""Likelihood ratios of a test that uses one of the telling sources, and of one that does not."""
LONG, SHORT = 2.29, 0.227
"""The same of an untraced test that is among the longest 40 %, and of one that is not."""
LONG_SHARE = 0.40
LEAST = 0.0005
"""No test is surely stable."""
MOST_EXECUTIONS = 10_000
"""Of one test."""
SHORTEST = 0.001
"""Seconds: no execution is free."""
TELLING = frozenset(("async wait", "randomness", "network", "time", "IO", "concurrency"))
"""Categories of the functions by which the thesis exposes tests."""


@dataclass(frozen=True, slots=True)
class Plan:
    executions: Ints
    """By place: how often to run each test."""
    seconds: float
    expected: float
    """Flaky tests that it will show, on average."""
    low: float
    high: float
    """95 % of such plans find so many."""


def chances(share: float, seconds: Floats, exposed: Floats) -> Floats:
    """The chance of each test to be flaky. `share` of the project's tests are; `exposed` is 1 or 0 by what a test
    used, NaN where that is not known: there its length speaks, and only there."""
    odds = share / max(1 - share, 1e-9)
    border = np.quantile(seconds, 1 - LONG_SHARE) if len(seconds) else 0.0
    by_length = np.where(seconds >= border, LONG, SHORT)
    ratio = np.where(np.isnan(exposed), by_length, np.where(exposed > 0, EXPOSED, NOT_EXPOSED))
    return np.asarray(np.maximum(odds * ratio / (1 + odds * ratio), LEAST))


def exposure(rates: Floats, weights: Floats, most: int) -> Floats:
    """U(n) for n = 0 to `most`: the chance that n executions of a flaky test show a pass and a failure."""
    n = np.arange(most + 1)[:, None]
    shown = 1 - (1 - rates) ** n - rates**n
    return np.asarray(np.maximum(shown, 0.0) @ weights)


def detection_plan(pi: Floats, seconds: Floats, rates: Floats, weights: Floats, budget: float) -> Plan:
    """Take the next execution by what it is expected to find a second. The first two of a test are one step, since one
    execution shows nothing."""
    cost = np.maximum(seconds, SHORTEST)
    most = int(min(MOST_EXECUTIONS, max(budget / cost.min(initial=budget or 1.0), 2)))
    shown = np.maximum.accumulate(exposure(rates, weights, most))
    executions = np.zeros(len(pi), dtype=np.int64)
    waiting = [(-pi[place] * shown[2] / (2 * cost[place]), place) for place in range(len(pi))]
    heapq.heapify(waiting)
    left = budget
    while waiting:
        _, place = heapq.heappop(waiting)
        step = 2 if executions[place] == 0 else 1
        if step * cost[place] > left or executions[place] + step > most:
            continue
        left -= step * cost[place]
        executions[place] += step
        n = int(executions[place])
        if n < most:
            heapq.heappush(waiting, (-pi[place] * (shown[n + 1] - shown[n]) / cost[place], place))
    found = pi * shown[executions]
    low, high = _interval(found)
    return Plan(executions, float(np.sum(executions * cost)), float(found.sum()), low, high)


def uniform_plan(seconds: Floats, budget: float) -> Ints:
    """As many executions of each test as of any other, for comparison: whole rounds, then as far as the rest goes."""
    cost = np.maximum(seconds, SHORTEST)
    rounds = int(budget // cost.sum()) if len(cost) else 0
    rest = budget - rounds * cost.sum()
    further = np.cumsum(cost) <= rest
    return np.asarray(np.full(len(cost), rounds) + further)


def _interval(found: Floats) -> tuple[float, float]:
    """Of a sum of independent draws, by a Poisson of the same mean; whole numbers that have the mean between them."""
    mean = float(np.sum(found))
    if mean <= 0:
        return 0.0, 0.0
    low, high = scipy.stats.poisson.interval(0.95, mean)
    return float(low), float(max(high, np.ceil(mean)))


def share_of(flaky: Sequence[bool] | Floats) -> float:
    """The share of flaky tests, with half of one added, so that it is never nothing."""
    known = np.asarray(flaky, dtype=np.float64)
    return float((known.sum() + 0.5) / (len(known) + 1))
