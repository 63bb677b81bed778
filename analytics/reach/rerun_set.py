"""Which failing tests are worth a rerun, within a budget of seconds. Pure. See docs/reach.md#what-to-rerun."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.reruns import Beta, expected_reruns
from analytics.reach.touches import Answer

LEAST_CHANCE = 0.05
"""Below it a rerun is no use: look at the change."""
UNKNOWN_SECONDS = 1.0
"""Of a test whose duration no report states."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A failing test."""

    number: int
    odds: float
    """That its failure is flaky, by the failures of tests in its state."""
    ratio: float
    """What its touch of the change says, as a likelihood ratio."""
    times: int
    """How often it is worth a rerun."""
    again: Beta
    """Of the chance that a rerun fails too."""
    seconds: float
    touches: Answer = Answer.UNKNOWN
    excluded: str = ""
    """Why it is not to be rerun, whatever its chance."""

    @property
    def chance(self) -> float:
        """That its failure is flaky."""
        odds = self.odds * self.ratio
        return odds / (1 + odds)

    @property
    def clears(self) -> float:
        """The chance that one of its reruns passes, if it is flaky: 1 - E[q^times]."""
        a, b = self.again
        return float(-np.expm1(scipy.special.betaln(a + self.times, b) - scipy.special.betaln(a, b)))

    @property
    def expected_seconds(self) -> float:
        """Of its reruns: a flaky one ends with the first pass, any other takes all of them."""
        a, b = self.again
        flaky = expected_reruns(self.times, a / (a + b))
        return (self.chance * flaky + (1 - self.chance) * self.times) * self.seconds

    @property
    def gain(self) -> float:
        """Flaky failures that are cleared a second."""
        return self.chance * self.clears / max(self.expected_seconds, 1e-9)


@dataclass(frozen=True, slots=True)
class Choice:
    candidate: Candidate
    why: str


@dataclass(frozen=True, slots=True)
class RerunSet:
    chosen: Sequence[Choice]
    left_out: Sequence[Choice]
    seconds: float
    """That its reruns are expected to take."""


def rerun_set(candidates: Sequence[Candidate], budget: float) -> RerunSet:
    """Take by gain until the budget is used; what does not fit is passed over for what does."""
    chosen, left_out, used = [], [], 0.0
    for candidate in sorted(candidates, key=lambda candidate: (-candidate.gain, candidate.number)):
        why = _left_out(candidate)
        if not why and used + candidate.expected_seconds > budget:
            why = "the budget is used"
        if why:
            left_out.append(Choice(candidate, why))
            continue
        used += candidate.expected_seconds
        chosen.append(Choice(candidate, _why(candidate)))
    return RerunSet(chosen, left_out, used)


def _left_out(candidate: Candidate) -> str:
    if candidate.excluded:
        return candidate.excluded
    if candidate.chance < LEAST_CHANCE:
        return "look at the change: it is hardly flaky"
    return "" if candidate.times else "no number of reruns helps"


def _why(candidate: Candidate) -> str:
    touch = {Answer.NO: ", and it does not touch the change", Answer.YES: ", though it touches the change"}
    return f"flaky with {candidate.chance:.0%}{touch.get(candidate.touches, '')}"
