"""The procedure of `detect`: reference, rounds, classification, partners (Lam 2021, §2.1)."""

from __future__ import annotations

from typing import Callable, Sequence

from flakeboard.console import duration
from flakeboard.detection.classification import classify
from flakeboard.detection.crashes import without_crashes
from flakeboard.detection.execution.outcomes import PASS, Outcome
from flakeboard.detection.findings import NOD, OD, UNKNOWN, Finding
from flakeboard.detection.laboratory import BudgetSpent, Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.partial_orders import partial_orders
from flakeboard.detection.reference import Reference
from flakeboard.detection.rounds import PARTIAL, TWICE, Round, Rounds
from flakeboard.orders.configurations import ORIGINAL
from flakeboard.orders.seeded import draw
from flakeboard.problems import Problem

Say = Callable[[str], None]


class Procedure:
    """The rounds of an experiment and what they bring to light."""

    def __init__(self, lab: Laboratory, parameters: Parameters, reference: Reference, say: Say) -> None:
        self.lab = lab
        self.parameters = parameters
        self.reference = reference
        self.known: dict[int, Finding] = {finding.test: finding for finding in reference.findings}
        self.passing: dict[int, list[Sequence[int]]] = {}
        """By test: the orders in which it passed, but for the original one."""
        self.ended = "orders"
        self.say = say
        self._began = lab.spent

    @property
    def budget(self) -> float:
        return self.parameters.budget * 60

    def passing_orders(self, test: int) -> list[Sequence[int]]:
        original = [self.lab.tests] if self.reference.verdicts.get(test) == PASS else []
        return [*original, *self.passing.get(test, ())]

    # -- rounds --------------------------------------------------------------------------------------------------

    def run_rounds(self) -> None:
        """All rounds that fit: minimization has at least half of the budget."""
        parameters, seconds = self.parameters, self.reference.seconds
        fit = int((self.budget - self.lab.spent) // seconds) if seconds else parameters.orders
        if fit < 1:
            raise Problem(
                f"the budget of {self.budget:.0f} s leaves no time for another order: the original one took "
                f"{seconds:.1f} s, and {self.lab.spent:.1f} s are spent."
            )
        self.lab.deadline, self._began = self.budget, self.lab.spent
        count = min(parameters.orders, fit)
        rounds = Rounds(self.lab.suite, parameters.how, parameters.seed, count, parameters.reverses)
        try:
            for number, order in enumerate(rounds, 1):
                if number > 1 and self.lab.spent > self.budget / 2:
                    self.ended = "budget"
                    break
                rounds.was_clean = not self._run_round(order, count)
            self._run_parts()
        except BudgetSpent:
            self.ended = "budget"
        if count < parameters.orders and self.ended == "orders":
            self.ended = "budget"

    def _run_round(self, current: Round, count: int) -> list[int]:
        """Run a round, and tell what it brought; returns the tests that were not known before."""
        new, failed = self.run_order(current.order, current.number, current.how, current.seed, current.is_usual)
        if failed is None:
            self.say(f"order {current.number} of {count} is void: --reset failed")
            return []
        about = current.how.replace("-", " ") if current.how.startswith("reverse-of") else current.how
        self.say(
            f"order {current.number} of {count}, {about}: {failed} failed, {len(new)} new{self._left(current, count)}"
        )
        return new

    def _left(self, current: Round, count: int) -> str:
        """About how long the other orders take, which have half of the budget."""
        usual = (self.lab.spent - self._began) / current.number
        left = min(usual * (count - current.number), self.budget / 2 - self.lab.spent)
        return f"; about {duration(left)} left" if current.number < count and left > 0 else ""

    def run_order(
        self, order: Sequence[int], round: int, how: str, seed: str = "", usual: bool = True
    ) -> tuple[list[int], int | None]:
        """Run an order and look at every test that failed in it: those not known before, and how many; None if void."""
        wanted = [place for place in order if place not in self.lab.left_out]
        ran, outcome = without_crashes(self.lab, wanted, lambda left: self.lab.order(left, round, how, seed))
        if outcome.void:
            return [], None
        return self._look(ran, outcome, how, usual, round), len(outcome.failed)

    def _look(self, order: Sequence[int], outcome: Outcome, how: str, usual: bool, round: int) -> list[int]:
        before, parameters = set(self.known), self.parameters
        for step, verdict in enumerate(outcome.verdicts):
            if verdict == PASS:
                self.passing.setdefault(order[step], []).append(order)
        for step in outcome.failed:
            test = order[step]
            if not parameters.is_wanted(self.lab.suite.cases[test].id):
                continue
            if how == ORIGINAL:
                why = "failed in another run of the original order"
                self.conclude(Finding(test, NOD, tuple(order[: step + 1]), why))
            elif self._is_due(test, round):
                finding = classify(self.lab, order[: step + 1], parameters.confirm, parameters.confirm_original)
                finding.after_failure, finding.usual = step > outcome.failed[0], usual
                self.conclude(_survival(finding) if how == TWICE else finding)
        return [test for test in self.known if test not in before]

    def _is_due(self, test: int, round: int) -> bool:
        """Unknown so far, or drawn for a recheck; NOD is for ever."""
        finding = self.known.get(test)
        if finding is None or finding.kind == UNKNOWN:
            return True
        if finding.kind == NOD:
            return False
        return draw(10_000, self.parameters.seed, "recheck", round, test) < self.parameters.recheck * 100

    def conclude(self, finding: Finding) -> None:
        """OD can become NOD at any time, never back; a usual and shorter failing order replaces a longer one."""
        known = self.known.get(finding.test)
        if known is None or known.kind == UNKNOWN:
            self.known[finding.test] = finding
        elif finding.kind == NOD and known.kind == OD:
            known.becomes_nod(finding.why)
        elif finding.kind == OD == known.kind:
            finding.after_failure = finding.after_failure and known.after_failure
            better, other = sorted((known, finding), key=lambda each: (not each.usual, len(each.order)))
            better.others = [*known.others, other.order]
            self.known[finding.test] = better

    def _run_parts(self) -> None:
        """Configurations that run parts of the suite: each failure in them is looked at in the same way."""
        number = self.parameters.orders
        for how in (name for name in self.parameters.how if name in PARTIAL):
            failed = total = 0
            for order in partial_orders(self.lab, how, self.parameters):
                number += 1
                total += 1
                outcome = self.lab.order(order, number, how, self.parameters.seed)
                failed += bool(outcome.failed)
                step = outcome.broke_at
                if step is not None:
                    self.lab.leave_out(order[step], f"ended the process in a part of the suite ({how})")
                elif not outcome.void:
                    self._look(order, outcome, how, usual=True, round=number)
            self.say(f"{how}: {total:,} parts of the suite, {failed:,} with a failure")

    def order_dependent(self) -> list[Finding]:
        return [finding for finding in self.known.values() if finding.kind == OD]


def _survival(finding: Finding) -> Finding:
    """A test that fails when it runs a second time in one process depends on itself and on no order of tests."""
    if finding.kind == OD:
        finding.kind, finding.why = UNKNOWN, "does not survive its own second run in one process"
    return finding
