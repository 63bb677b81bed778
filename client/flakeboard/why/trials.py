"""Trials: a difference is held and forced in turn, and told as tried only if that decides."""

from __future__ import annotations

from typing import NamedTuple

from flakeboard.why.chances import fisher_greater
from flakeboard.why.controls import Control
from flakeboard.why.laboratory import BudgetSpent, Laboratory
from flakeboard.why.parameters import EACH_WAY, HELD_FAILURES, SIGNIFICANT


class Trial(NamedTuple):
    control: Control
    held_failures: int
    held: int
    forced_failures: int
    forced: int

    @property
    def p_value(self) -> float:
        """The chance that so many more of the forced runs fail if forcing does nothing."""
        return fisher_greater(self.forced_failures, self.forced, self.held_failures, self.held)

    @property
    def is_shown(self) -> bool:
        done = min(self.held, self.forced) >= EACH_WAY
        return done and self.held_failures <= HELD_FAILURES and self.p_value <= SIGNIFICANT


def run_trial(lab: Laboratory, control: Control) -> Trial:
    """Held and forced in turn, so that a busy machine harms both alike; ended early once it can show nothing."""
    held = forced = held_failures = forced_failures = 0
    try:
        for _ in range(EACH_WAY):
            held_failures += lab.run(control.hold).failed
            held += 1
            forced_failures += lab.run(control.force).failed
            forced += 1
            if held_failures > HELD_FAILURES or forced - forced_failures > EACH_WAY // 2:
                break
    except BudgetSpent:
        pass
    return Trial(control, held_failures, held, forced_failures, forced)
