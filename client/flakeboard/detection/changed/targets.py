"""New and changed tests, looked at step by step until the budget ends (Lam 2020a).

Steps 1, 2, 4 and 6 are the study's; 3 and 5 are ours, since polluters are added after their victims too."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Callable, Iterator, Sequence

from flakeboard.detection.changed.changes import NEW
from flakeboard.detection.execution.outcomes import PASS, fails
from flakeboard.detection.findings import ID, NOD, OD, Finding
from flakeboard.detection.laboratory import BudgetSpent
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.search.state import leftovers

ALONE, HASH_SEEDS, ENDS, BEFORE, AFTER = (
    "alone",
    "hash seeds",
    "first and last",
    "after each other",
    "before each other",
)
FEW_RUNS, PAIRS = (ALONE, HASH_SEEDS, ENDS), (BEFORE, AFTER)
"""What needs a few runs a target, and what needs one for each other test."""
STEPS = (*FEW_RUNS, *PAIRS)
_TIMES = 10
_TIMES_NEW = 100
_SHARE_NEW = 0.2
"""Of the budget, for the many runs of new tests alone."""
_SEEDS = 10


@dataclass
class Target:
    test: int
    status: str
    done: list[str] = field(default_factory=list)
    pairs: int = 0
    runs: int = 0
    """How often the server advises to run it, where it predicts something; 0 where it does not."""
    leaves: list[str] = field(default_factory=list)
    """What it leaves behind, whether or not anything depends on it yet."""


class TargetSteps:
    """The steps over all targets: each step for every target before the next, new ones first, quick ones first."""

    def __init__(self, procedure: Procedure, targets: Sequence[Target], fixtures: dict[int, set[str]]) -> None:
        self._procedure = procedure
        self._lab = procedure.lab
        self._fixtures = fixtures
        self._round = 0
        self.targets = sorted(
            targets, key=lambda target: (target.status != NEW, self._seconds(target.test), target.test)
        )

    def _seconds(self, test: int) -> float:
        return self._procedure.reference.durations.get(test, 0.0)

    def run(self, names: Sequence[str]) -> None:
        steps: dict[str, Callable[[Target], None]] = {
            ALONE: self._alone,
            HASH_SEEDS: self._hash_seeds,
            ENDS: self._ends,
            BEFORE: self._before,
            AFTER: self._after,
        }
        self._lab.deadline = self._procedure.budget
        try:
            for name in self._cheap_first(names):
                for target in self.targets:
                    steps[name](target)
                    target.done.append(name)
        except BudgetSpent:
            self._procedure.ended = "budget"

    def _cheap_first(self, names: Sequence[str]) -> list[str]:
        """Ten new processes cost ten starts, two whole orders their tests: which is dearer depends on the suite."""
        reference = self._procedure.reference
        tests = sum(reference.durations.values())
        costs = {ALONE: 0.0, HASH_SEEDS: _SEEDS * max(reference.seconds - tests, 0.0), ENDS: 2 * tests}
        return sorted(names, key=lambda name: costs.get(name, math.inf))

    # -- 1 -------------------------------------------------------------------------------------------------------

    def _alone(self, target: Target) -> None:
        """Always fails: brittle; mixed: NOD. A new test is run more often, as long as a share of the budget lasts; one
        that looks flaky to the server as often as that advises."""
        first = self._lab.probe([target.test], "alone", state=True)
        target.leaves = leftovers(first, 0)
        passed, failed = int(first.last == PASS), int(fails(first.last))
        for number in range(1, target.runs or (_TIMES_NEW if target.status == NEW else _TIMES)):
            share = 1.0 if target.runs else _SHARE_NEW
            if number >= _TIMES and self._lab.spent > share * self._procedure.budget:
                break
            verdict = self._lab.probe([target.test], "alone").last
            passed, failed = passed + (verdict == PASS), failed + fails(verdict)
        if passed and failed:
            why = f"alone, it failed {failed} of {passed + failed} runs"
            self._procedure.conclude(Finding(target.test, NOD, (target.test,), why, alone=(passed, passed + failed)))
        elif failed:
            self._procedure.conclude(Finding(target.test, OD, (target.test,), "fails alone"))

    # -- 2 -------------------------------------------------------------------------------------------------------

    def _hash_seeds(self, target: Target) -> None:
        """Alone with ten hash seeds: what fails for one of them again and again depends on the implementation."""
        if target.test in self._procedure.known:
            return
        for seed in range(_SEEDS):
            if not self._fails_with(target.test, seed):
                continue
            failed = sum(self._fails_with(target.test, seed) for _ in range(_TIMES))
            why = f"alone with PYTHONHASHSEED={seed} it failed {failed} of {_TIMES} runs"
            kind = ID if failed == _TIMES else NOD
            self._procedure.conclude(Finding(target.test, kind, (target.test,), why, hash_seed=seed))
            return

    def _fails_with(self, test: int, seed: int) -> bool:
        return fails(self._lab.probe([test], "alone", environ={"PYTHONHASHSEED": str(seed)}).last)

    # -- 3 -------------------------------------------------------------------------------------------------------

    def _ends(self, target: Target) -> None:
        """Target first, then all others: as polluter of the old tests. All others, then target: as their victim."""
        others = [test for test in self._lab.tests if test != target.test]
        for order in ([target.test, *others], [*others, target.test]):
            self._round += 1
            self._procedure.run_order(order, self._round, "target-" + ("first" if order[0] == target.test else "last"))

    # -- 4 and 5 -------------------------------------------------------------------------------------------------

    def _before(self, target: Target) -> None:
        for other in self._near_first(target.test):
            if target.test in self._procedure.known:
                return
            self._look_at_pair(target, (other, target.test))

    def _after(self, target: Target) -> None:
        for other in self._near_first(target.test):
            if other not in self._procedure.known:
                self._look_at_pair(target, (target.test, other))

    def _near_first(self, test: int) -> Iterator[int]:
        """Others of the same file, then those with a fixture in common, then all."""
        file = self._lab.suite.cases[test].units[:1]
        own = self._fixtures.get(test, set())

        def distance(other: int) -> int:
            if self._lab.suite.cases[other].units[:1] == file:
                return 0
            return 1 if own & self._fixtures.get(other, set()) else 2

        return iter(sorted((other for other in self._lab.tests if other != test), key=distance))

    def _look_at_pair(self, target: Target, pair: tuple[int, int]) -> None:
        """A pair that fails is run ten times: always is a victim, else NOD."""
        target.pairs += 1
        if not fails(self._lab.probe(pair, "pair").last):
            return
        failed = sum(fails(self._lab.probe(pair, "pair").last) for _ in range(_TIMES))
        name = self._lab.suite.cases[pair[0]].id
        why = f"after {name} it failed {failed} of {_TIMES} runs"
        self._procedure.conclude(Finding(pair[1], OD if failed == _TIMES else NOD, pair, why))
