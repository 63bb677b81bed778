"""What it says of a failure that it does, or does not, touch the change: likelihood ratios. Pure.

By Bell 2018 (DeFlaker): 95.5 % of flaky failures do not cover the change, and 1.5 % of others. Once enough failures of
the project itself are judged, its own counts are taken. See docs/reach.md#what-touching-says-of-a-failure."""

from collections.abc import Iterable
from dataclasses import dataclass

from analytics.reach.touches import Answer

PUBLISHED = {Answer.NO: 64.0, Answer.YES: 0.046, Answer.UNKNOWN: 1.0}
ENOUGH = 50
"""Judged failures after which the project's own counts replace the published ones; and judged failures without touch
that it takes before such a failure is evidence."""
PRECISION = 0.95
"""Share of judged failures without touch that must be flaky before such a failure is taken for evidence."""


@dataclass(frozen=True, slots=True)
class JudgedFailure:
    """A failure of which it is known what it was."""

    touches: Answer
    flaky: bool


@dataclass(frozen=True, slots=True)
class Ratios:
    no: float
    yes: float
    judged: int
    own: bool
    """By the project's own failures, and not by the published ones."""
    untouched: int = 0
    """Judged failures that do not touch their change."""
    untouched_flaky: int = 0

    def of(self, answer: Answer) -> float:
        return {Answer.NO: self.no, Answer.YES: self.yes, Answer.UNKNOWN: 1.0}[answer]

    @property
    def is_evidence(self) -> bool:
        """Whether failures without touch may be called flaky for that alone: enough of them were judged, and nearly all
        were. Never by the gate."""
        return self.untouched >= ENOUGH and self.untouched_flaky >= PRECISION * self.untouched - 1e-9


def ratios(failures: Iterable[JudgedFailure]) -> Ratios:
    """P(answer | flaky) / P(answer | other), with 1/2 added to each cell of the project's own table."""
    cells = dict.fromkeys([(flaky, answer) for flaky in (True, False) for answer in (Answer.NO, Answer.YES)], 0)
    for failure in failures:
        if (failure.flaky, failure.touches) in cells:
            cells[failure.flaky, failure.touches] += 1
    judged = sum(cells.values())
    untouched = cells[True, Answer.NO] + cells[False, Answer.NO], cells[True, Answer.NO]
    if judged < ENOUGH:
        return Ratios(PUBLISHED[Answer.NO], PUBLISHED[Answer.YES], judged, False, *untouched)

    def ratio(answer: Answer) -> float:
        shares = []
        for flaky in (True, False):
            total = cells[flaky, Answer.NO] + cells[flaky, Answer.YES] + 1
            shares.append((cells[flaky, answer] + 0.5) / total)
        return shares[0] / shares[1]

    return Ratios(ratio(Answer.NO), ratio(Answer.YES), judged, True, *untouched)
