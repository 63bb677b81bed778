"""What is found is shown three times in new processes, each way, before it is reported."""

from __future__ import annotations

from typing import Sequence

from flakeboard.detection.execution.outcomes import PASS, fails
from flakeboard.detection.findings import BRITTLE, Finding, Group
from flakeboard.detection.laboratory import Laboratory

TIMES = 3


class Verification:
    """Of one finding: its minimal order and its counter-order."""

    def __init__(self, lab: Laboratory, finding: Finding) -> None:
        self._lab = lab
        self._finding = finding

    def verify_alone(self) -> bool:
        brittle = self._finding.role == BRITTLE
        return self._agrees([], passes=not brittle) is not None

    def verify_group(self, group: Group) -> bool:
        shown = self._agrees(group.tests, passes=self._finding.role == BRITTLE)
        if shown is None:
            return False
        group.shown = group.of = shown
        return True

    def verify_cleaners(self, group: Group) -> bool:
        return all(self._agrees([*group.tests, cleaner], passes=True) is not None for cleaner in group.cleaners)

    def _agrees(self, before: Sequence[int], passes: bool) -> int | None:
        """The number of runs that all ended as expected; None if one did not, which makes the test NOD.

        A run in which the test was skipped, or which broke off before it, says nothing: no partner is reported then."""
        for number in range(TIMES):
            verdict = self._lab.probe([*before, self._finding.test], "verify", confirms=True).last
            if verdict != PASS and not fails(verdict):
                self._finding.groups = []
                self._finding.notes.append("was skipped or not run when its partners were verified")
                return None
            if verdict != PASS if passes else not fails(verdict):
                names = self._lab.suite.names(before)
                after = f"after {', then '.join(names)}" if names else "alone"
                expected = "pass" if passes else "fail"
                self._finding.becomes_nod(
                    f"{after} it should {expected}, and did so in {number} of {number + 1} runs in new processes"
                )
                return None
        return TIMES
