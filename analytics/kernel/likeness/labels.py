"""Which test functions are examples, and of what; and which of them nothing is known of yet."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Flags, Ints
from analytics.kernel.flakiness import State, flaky_or_recovered
from analytics.kernel.parameters import DEMANDS, Demands


@dataclass(frozen=True, slots=True)
class Results:
    """By test: which unit it is of, and what the window says of it."""

    unit: Ints
    state: Ints
    executed: Ints
    failed: Ints
    """Outside incidents."""
    in_incidents: Ints


@dataclass(frozen=True, slots=True)
class Labels:
    """By unit; what is neither is left out: suspect, broken, failed in an incident alone, not executed."""

    flaky: Flags
    stable: Flags
    open: Flags
    """Its own results do not tell yet."""

    @property
    def known(self) -> Flags:
        return np.asarray(self.flaky | self.stable)

    @property
    def representative(self) -> bool:
        """Whether most units that never failed ran often enough to be examples. Flaky tests show within a few runs, so
        that where few ran often nearly all examples would be flaky ones."""
        return bool(self.stable.sum() >= self.open.sum())


def labels(results: Results, units: int, demands: Demands = DEMANDS) -> Labels:
    """A unit is flaky if a test of it is; stable if none of them ever failed and one ran often enough."""
    unit = results.unit

    def any_of(rows: Flags) -> Flags:
        return np.bincount(unit[rows], minlength=units) > 0

    executed = np.zeros(units, dtype=np.int64)
    np.maximum.at(executed, unit, results.executed)
    flaky = any_of(flaky_or_recovered(results.state))
    odd = any_of(~np.isin(results.state, (State.STABLE, State.UNEXECUTED)))
    failed, in_incidents = any_of(results.failed > 0), any_of(results.in_incidents > 0)
    quiet = ~odd & ~failed & (executed > 0)
    often = executed >= demands.stable_executions
    return Labels(flaky=flaky, stable=quiet & often & ~in_incidents, open=quiet & ~often)
