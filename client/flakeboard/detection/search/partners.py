"""Victim or brittle, and the tests that make it so: suspects first, then the smallest part of the order."""

from __future__ import annotations

from typing import Iterator, Sequence

from flakeboard.detection.execution.outcomes import PASS, fails
from flakeboard.detection.findings import BRITTLE, POLLUTER, SETTER, VICTIM, Finding, Group
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.search.ddmin import ddmin

MOST_SUSPECTS = 5


def isolate(lab: Laboratory, finding: Finding, times: int) -> None:
    """Run the test alone: it always passes as a victim and always fails as a brittle test; mixed is NOD."""
    passed = failed = 0
    for _ in range(times):
        verdict = lab.probe([finding.test], "alone").last
        passed, failed = passed + (verdict == PASS), failed + fails(verdict)
        finding.alone = (passed, passed + failed)
        if passed and failed:
            return finding.becomes_nod(f"alone, it passed {passed} and failed {failed} of {passed + failed} runs")
    if passed + failed:
        finding.role = VICTIM if passed else BRITTLE
    else:
        finding.notes.append("alone it was skipped or not run, so its role is not known")
    return None


class PartnerSearch:
    """Finds the groups of one test: polluters of a victim, state-setters of a brittle test."""

    def __init__(self, lab: Laboratory, finding: Finding, passing: Sequence[Sequence[int]]) -> None:
        self._lab = lab
        self._finding = finding
        self._test = finding.test
        self._role = POLLUTER if finding.role == VICTIM else SETTER
        self._passing = passing
        """Orders in which the test passed, the original one first."""

    def shows(self, before: Sequence[int], why: str) -> bool:
        """Whether the test, run after these, ends as its role says: a victim fails, a brittle test passes."""
        verdict = self._lab.probe([*before, self._test], why).last
        return fails(verdict) if self._role == POLLUTER else verdict == PASS

    def first(self, suspects: Sequence[int]) -> None:
        """One group: a suspect if one is right, else by ddmin."""
        for suspect in suspects[:MOST_SUSPECTS]:
            if suspect != self._test and self.shows([suspect], "suspect"):
                self._add([suspect])
                return
        self._minimize(next((self._before(order, set()) for order in self._orders()), []))

    def all(self) -> None:
        """Every single partner, one by one; then groups, as long as the order shows it without what was found."""
        for other in self._lab.tests:
            if other != self._test and self.shows([other], "pair"):
                self._add([other])
        for order in self._orders():
            while True:
                found = {test for group in self._finding.groups for test in group.tests}
                basis = self._before(order, found)
                if not basis or (found and not self.shows(basis, "ddmin")):
                    break
                self._minimize(basis)

    def _orders(self) -> Iterator[Sequence[int]]:
        """Orders that show the dependency: a victim failed in them, a brittle test passed."""
        orders = [self._finding.order, *self._finding.others] if self._role == POLLUTER else self._passing
        return (order for order in orders if self._test in order)

    def _before(self, order: Sequence[int], found: set[int]) -> list[int]:
        """The tests before this one, without what was found."""
        before = list(order[: list(order).index(self._test)])
        return [place for place in before if place not in found and place not in self._lab.left_out]

    def _minimize(self, basis: list[int]) -> None:
        if basis:
            self._add(ddmin(basis, lambda chosen: self.shows(chosen, "ddmin")))
        else:
            self._finding.notes.append("no order is known that shows what it depends on")

    def _add(self, tests: Sequence[int]) -> None:
        self._finding.groups.append(Group(self._role, tuple(tests)))
