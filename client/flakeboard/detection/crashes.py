"""Tests that kill or hang the process: each is run alone once, named, and left out of further orders."""

from __future__ import annotations

from typing import Callable, Sequence

from flakeboard.detection.execution.outcomes import CRASHED, NOT_RUN, TIMEOUT, Outcome, fails
from flakeboard.detection.laboratory import Laboratory
from flakeboard.problems import Problem

_MOST_SHARE = 0.1
_MOST = 5
"""More of them, or more than that share of the suite, and what is left is no longer this suite."""
_WORDS = {CRASHED: "killed the process"}


class TooManyCrashes(Problem):
    """So many tests end the process that orders of the others say little."""


def without_crashes(
    lab: Laboratory, order: Sequence[int], run: Callable[[Sequence[int]], Outcome]
) -> tuple[list[int], Outcome]:
    """Run an order; whenever a test ends the process, leave it out and run the rest again."""
    left = list(order)
    while True:
        outcome = run(left)
        step = outcome.broke_at
        if step is None:
            if outcome.ended:
                raise Problem(f"pytest {outcome.ended} outside of any test")
            return left, outcome
        place = left[step]
        if outcome.ended == TIMEOUT and sum(outcome.seconds) > outcome.total / 2:
            raise Problem(
                f"an order did not end within {outcome.total:.0f} s, by no fault of one test: set --order-timeout."
            )
        alone = lab.probe([place], "alone", confirms=True)
        lab.leave_out(place, f"{_WORDS.get(outcome.ended, 'ran into the time limit')}; {_alone(alone)}")
        left.remove(place)
        crashed = sum(1 for why in lab.left_out.values() if why.startswith(("killed", "ran into")))
        if crashed > max(_MOST, _MOST_SHARE * len(lab.suite)) or len(left) < 2:
            raise TooManyCrashes(f"{crashed:,} tests kill or hang the process, so there is no suite to reorder.")


def _alone(outcome: Outcome) -> str:
    if outcome.ended:
        return "alone it does so too"
    if outcome.last == NOT_RUN:
        return "alone it did not run"
    return "alone it fails" if fails(outcome.last) else "alone it passes"
