"""The protocol `reruns`: the suite again and again in fresh environments, in its own order, then in random ones."""

from __future__ import annotations

from collections import defaultdict
from typing import Callable

from flakeboard.detection.crashes import without_crashes
from flakeboard.detection.findings import INFRASTRUCTURE, NOD, OD, Finding
from flakeboard.detection.laboratory import BudgetSpent, Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.reruns.verdicts import Iteration, rerun_kind
from flakeboard.detection.search.partners import isolate
from flakeboard.orders.configurations import ORIGINAL, RANDOM_METHOD, order_of

Say = Callable[[str], None]
SAME, RANDOM = "same", "random"


class RerunProtocol:
    """Runs iterations and joins what they say; `findings` is right at any time."""

    def __init__(self, parameters: Parameters, say: Say) -> None:
        self._parameters = parameters
        self._say = say
        self._seen: dict[int, dict[int, Iteration]] = defaultdict(dict)
        self._isolated: dict[int, Finding] = {}
        self.ended = "orders"

    def run_iteration(self, lab: Laboratory, number: int) -> None:
        """An uninterrupted series: first the same order, then random ones, shuffled across the whole project."""
        parameters = self._parameters
        try:
            for round in range(1, parameters.runs + parameters.random_runs + 1):
                is_same = round <= parameters.runs
                how = ORIGINAL if is_same else RANDOM_METHOD
                seed = "" if is_same else f"{parameters.seed}-{number}"
                self._run(lab, number, round, how, seed, is_same)
        except BudgetSpent:
            self.ended = "budget"
        failed = sum(1 for test in self._seen if self._kind(test))
        self._say(f"iteration {number} of {parameters.iterations}: {failed:,} flaky so far")

    def _run(self, lab: Laboratory, number: int, round: int, how: str, seed: str, is_same: bool) -> None:
        order = [test for test in order_of(lab.suite, how, seed, round) if test not in lab.left_out]
        more = {"iteration": number, "same": SAME if is_same else RANDOM}
        ran, outcome = without_crashes(lab, order, lambda left: lab.order(left, round, how, seed, **more))
        if not lab.reference_seconds:
            lab.reference_seconds = outcome.total
        for test, verdict in zip(ran, outcome.verdicts):
            self._seen[test].setdefault(number, Iteration()).add(verdict, is_same)

    def isolate(self, lab: Laboratory) -> None:
        """Alone, each order-dependent test is a victim or brittle, and mixed is NOD."""
        for finding in self.findings():
            if finding.kind == OD:
                self._isolated[finding.test] = finding
                try:
                    isolate(lab, finding, self._parameters.isolate)
                except BudgetSpent:
                    self.ended = "budget"
                    return

    def _kind(self, test: int) -> str:
        return rerun_kind(list(self._seen[test].values()))

    def findings(self) -> list[Finding]:
        return [self._isolated.get(test) or self._finding(test) for test in sorted(self._seen) if self._kind(test)]

    def _finding(self, test: int) -> Finding:
        iterations, kind = self._seen[test], self._kind(test)
        counts = [sum(each.same[way] for each in iterations.values()) for way in (0, 1)]
        shuffled = [sum(each.random[way] for each in iterations.values()) for way in (0, 1)]
        why = (
            f"failed {counts[1]} of {sum(counts)} runs in the same order and {shuffled[1]} of {sum(shuffled)} in random"
        )
        finding = Finding(test, kind, why=why)
        if kind in (NOD, OD) and len(iterations) == 1:
            finding.notes.append("one iteration cannot tell what the infrastructure does")
        if kind == INFRASTRUCTURE:
            failing = [number for number, each in iterations.items() if each.same[1] + each.random[1]]
            finding.notes.append(f"fails in iterations {', '.join(map(str, failing))} alone")
        return finding
