"""What each test did in reruns, by environment; its kind is judged where client and server judge alike."""

from __future__ import annotations

from dataclasses import dataclass, field

from flakeboard.detection.execution.outcomes import PASS, fails
from flakeboard.orders.rerun_verdicts import FAILED, PASSED
from flakeboard.orders.rerun_verdicts import rerun_kind as kind_of_bits


@dataclass
class Iteration:
    """The verdicts of one test in one environment: passed and failed, in the same order and in random ones."""

    same: list[int] = field(default_factory=lambda: [0, 0])
    random: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, verdict: str, is_same: bool) -> None:
        """Count a run; skipped and not run are none."""
        counts = self.same if is_same else self.random
        if verdict == PASS:
            counts[0] += 1
        elif fails(verdict):
            counts[1] += 1


def rerun_kind(iterations: list[Iteration]) -> str:
    """NOD, OD, infrastructure, or empty for a test that is not flaky."""
    return kind_of_bits([_bits(each.same) for each in iterations], [_bits(each.random) for each in iterations])


def _bits(counts: list[int]) -> int:
    passed, failed = counts
    return PASSED * bool(passed) | FAILED * bool(failed)
