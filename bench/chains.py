"""The true chances that flaky tests of a simulated history fail after a pass and after a failure."""

from dataclasses import dataclass
from math import log1p

import numpy as np

from analytics.kernel.executions import Ints
from analytics.kernel.window import Window
from analytics.simulation import History
from analytics.simulation.cast import Part, can_fail_at
from analytics.simulation.truth import Kind
from bench import orders

_ORDERED = frozenset({Kind.VICTIM, Kind.BRITTLE})


@dataclass(frozen=True, slots=True)
class Chain:
    onset: float
    """The chance of failing after a pass, in an execution in which it can fail."""
    again: float
    """The chance that a rerun fails after a failure: a retry within the run if the project has them, else a new run."""
    exposure: float
    """The share of executions in which it can fail: the environment and the hour allow it."""

    def clean(self, runs: int) -> float:
        """The chance of so many clean runs in a row without a fix."""
        return float((1 - self.onset) ** (runs * self.exposure))

    def enough(self, confidence: float) -> float:
        """The number of clean runs with a chance of at most 1 - `confidence`; infinite if it cannot fail."""
        if self.onset <= 0 or self.exposure <= 0:
            return float("inf")
        return 1.0 if self.onset >= 1 else max(1.0, log1p(-confidence) / log1p(-self.onset) / self.exposure)


def true_chains(history: History, window: Window) -> dict[int, Chain]:
    """By test number."""
    step, retries = orders.steps(window), history.settings.retries
    return {part.flake.number: _chain(part, window, step, retries) for part in history.ran.cast.parts}


def _chain(part: Part, window: Window, step: Ints, retries: bool) -> Chain:
    """A retry keeps the order and so its effect; a new run draws a new order."""
    flake = part.flake
    if flake.kind in _ORDERED:
        onset = orders.failing_share(flake, step, window.reports.order)
        return Chain(onset, 1.0 if retries else onset, 1.0)
    return Chain(flake.onset, flake.again, _exposure(part, window))


def _exposure(part: Part, window: Window) -> float:
    where = (part.environment < 0) | (window.reports.environment == part.environment)
    possible = np.array([can_fail_at(part, hour) for hour in range(24)])
    return float(np.mean(where & possible[window.reports.started.astype(np.int64) // 3600 % 24]))
