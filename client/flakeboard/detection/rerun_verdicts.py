"""The kind of a flaky test from reruns in several environments (Gruber 2021).

Where a test changes between iterations and in random orders too, FlaPy's code and this say order-dependent; the paper,
read literally, says not deterministic."""

from __future__ import annotations

from dataclasses import dataclass, field

from flakeboard.detection.findings import INFRASTRUCTURE, NOD, OD
from flakeboard.detection.outcomes import PASS, fails


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
    """NOD, OD, infrastructure, or empty for a test that is not flaky.

    Both ways in the same order of one iteration is NOD, whatever random orders say. Both ways in random orders of one
    iteration, or always one way in the same order and the other way in random ones, is OD. The rest changes between
    iterations and never within one."""
    same = [sum(each.same[way] for each in iterations) for way in (0, 1)]
    random = [sum(each.random[way] for each in iterations) for way in (0, 1)]
    if not (same[0] + random[0] and same[1] + random[1]):
        return ""
    if any(all(each.same) for each in iterations):
        return NOD
    opposite = bool(sum(same) and sum(random)) and not all(same) and not all(random)
    return OD if opposite or any(all(each.random) for each in iterations) else INFRASTRUCTURE
