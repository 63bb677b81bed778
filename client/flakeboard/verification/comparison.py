"""Two sides of runs compared: whether the test fails less after a fix, and what could have been seen. Pure."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from flakeboard.why.chances import clopper_pearson, fisher_greater, upper_bound

EFFECTIVE, NO_EFFECT, NOT_REPRODUCED = "effective", "no effect shown", "not reproduced"
SIGNIFICANT = 0.05
MOST = 500
"""Runs of one side."""
LEAST = 20
USUAL = 100
"""Runs of one side where nobody knows how often it fails."""
POWER = 0.9
CONFIDENCE = 0.95
"""By which the server counts the runs that expose a test."""


class Comparison(NamedTuple):
    """How often the test failed before and after the fix."""

    before_failed: int
    before: int
    after_failed: int
    after: int

    @property
    def p_value(self) -> float:
        """The chance that so many more of the runs before fail if the fix does nothing; Fisher's exact, one-sided."""
        return fisher_greater(self.before_failed, self.before, self.after_failed, self.after)

    @property
    def outcome(self) -> str:
        if self.before_failed == 0:
            return NOT_REPRODUCED
        return EFFECTIVE if self.p_value <= SIGNIFICANT else NO_EFFECT

    @property
    def most_after(self) -> int | None:
        """The most failures after the fix that would have shown an effect; None if none at all would not."""
        fits = [
            failed
            for failed in range(self.before_failed + 1)
            if failed <= self.after
            and fisher_greater(self.before_failed, self.before, failed, self.after) <= SIGNIFICANT
        ]
        return max(fits, default=None)

    @property
    def sentence(self) -> str:
        before = f"{self.before_failed} of {self.before} runs failed before"
        after, chance = f"{self.after_failed} of {self.after} after", _shown(self.p_value)
        if self.outcome == NOT_REPRODUCED:
            bound = upper_bound(self.before)
            failed = f"; after it, {self.after_failed} of {self.after} failed" if self.after_failed else ""
            return (
                f"Not reproduced: none of {self.before} runs before the fix failed (at most {bound:.1%} would){failed}."
            )
        if self.outcome == EFFECTIVE:
            high = clopper_pearson(self.after_failed, self.after)[1]
            return f"The fix is effective: {before}, {after} (at most {high:.1%}; p {chance})."
        if self.most_after is None:
            needed = least_failures(self.before, self.after)
            return (
                f"No effect shown: {before}, {after} (p {chance}). It failed too rarely for any effect to "
                f"show: that takes {needed} failures before."
            )
        smallest = self.before_failed / self.before - self.most_after / self.after
        return (
            f"No effect shown: {before}, {after} (p {chance}). A fall by {smallest:.1%} of the runs, to "
            f"{self.most_after} of {self.after}, would have been seen."
        )

    def as_json(self) -> dict[str, Any]:
        most = self.most_after
        return {
            "outcome": self.outcome,
            "before": {"failed": self.before_failed, "runs": self.before},
            "after": {"failed": self.after_failed, "runs": self.after},
            "p": self.p_value,
            "smallest_effect": None if most is None else round(self.before_failed / self.before - most / self.after, 6),
        }


def _shown(p_value: float) -> str:
    return f"{p_value:.2g}" if p_value >= 1e-4 else "< 0.0001"


def least_failures(before: int, after: int) -> int:
    """How many runs must fail before a fix so that none after it shows an effect."""
    for failed in range(1, before + 1):
        if fisher_greater(failed, before, 0, after) <= SIGNIFICANT:
            return failed
    return before + 1


def runs_for(to_expose: int | None) -> int:
    """Runs of a side so that a fix which mends everything is told as effective in nine of ten cases.

    The server knows how many reruns expose the test with its confidence; they make about three failures, and Fisher's
    test needs five."""
    if to_expose is None:
        return USUAL
    rate = 1 - (1 - CONFIDENCE) ** (1 / to_expose)
    runs = max(to_expose, LEAST)
    while runs < MOST and _at_least(least_failures(runs, runs), runs, rate) < POWER:
        runs += max(1, runs // 20)
    return min(runs, MOST)


def _at_least(failures: int, runs: int, rate: float) -> float:
    """The chance of so many failures or more."""
    if rate >= 1:
        return 1.0
    fewer = sum(math.comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(min(failures, runs + 1)))
    return 1 - fewer
