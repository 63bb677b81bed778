"""Durations of simulated tests: each has its own with some noise, or its timeout if it waits in vain."""

import numpy as np

from analytics.kernel.executions import Floats
from analytics.simulation.machine import SimulatedRuns

_TYPICAL = 0.06
_SPREAD = 1.1
_JITTER = 0.15
_SLOWED_AT, _SLOWED_BY = 0.6, 1.8
"""From this share of the reports on, tests that become slower take so many times as long."""


def draw_durations(ran: SimulatedRuns, rng: np.random.Generator, slowed: int = 0) -> tuple[Floats, Floats]:
    """Seconds, to the millisecond: of every test in every report (reports x tests), and of every noted attempt."""
    tests, reports = len(ran.cast.names.tests), len(ran.reports)
    usual = _TYPICAL * np.exp(_SPREAD * np.clip(rng.standard_normal(tests), -2.5, 2.5))
    slower = np.array([1.0 + 0.2 * report.environment for report in ran.reports])
    every = usual * slower[:, None] * np.exp(_JITTER * rng.standard_normal((reports, tests)))
    every[int(_SLOWED_AT * reports) :, np.argsort(-usual)[:slowed]] *= _SLOWED_BY
    attempt = every[ran.report, ran.number] * np.exp(_JITTER * rng.standard_normal(len(ran.number)))
    timeout = np.array([cause.timeout for cause in ran.causes])[ran.cause] * (ran.cause >= 0)
    attempt = np.where(timeout > 0, timeout * rng.uniform(1.001, 1.03, len(attempt)), attempt)
    quick = np.array([cause.quick for cause in ran.causes])[ran.cause] & (ran.cause >= 0)
    attempt = np.where(quick, rng.uniform(0.005, 0.03, len(attempt)), attempt)
    first = ran.ordinal == 0
    every[ran.report[first], ran.number[first]] = attempt[first]
    every, attempt = (np.maximum(np.round(seconds, 3), 0.001) for seconds in (every, attempt))
    for environment in range(int(ran.cast.skipped.max()) + 1):
        rows = np.flatnonzero(np.array([report.environment == environment for report in ran.reports]))
        every[np.ix_(rows, np.flatnonzero(ran.cast.skipped == environment))] = 0.0
    return every, attempt
