"""An experiment with a runner that shuffles by its own seed: order-dependent or not, by repeating the seed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from typing import Any, Callable, Mapping, Sequence

from flakeboard.detection import reference
from flakeboard.detection.execution.children import Child
from flakeboard.detection.execution.outcomes import CRASHED, NOT_RUN, PASS, TIMEOUT, Outcome, fails
from flakeboard.detection.experiment import Result
from flakeboard.detection.findings import NOD, OD, UNKNOWN, Finding
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import BudgetSpent, Laboratory, ShuffledRun
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.seeded.go import GoTest
from flakeboard.detection.seeded.javascript import Jest, Vitest
from flakeboard.detection.seeded.rspec import Rspec, minimal_command
from flakeboard.detection.seeded.runs import Execution, SeededRunner
from flakeboard.detection.seeded.surefire import Surefire
from flakeboard.orders.seeded import draw
from flakeboard.problems import Problem
from flakeboard.runners.runner import RunnerCall

RUNNERS: dict[str, Callable[[], SeededRunner]] = {
    "go": GoTest,
    "rspec": Rspec,
    "jest": Jest,
    "vitest": Vitest,
    "maven": Surefire,
}
_LEAST_LIMIT = 600.0
_MOST_SEED = 2**31 - 1
Say = Callable[[str], None]


class SeededExecutor:
    """Runs the user's command; the order is the runner's own."""

    name = "process"

    def __init__(self, call: RunnerCall, folder: str) -> None:
        self.call = call
        self.runner = RUNNERS[call.runner.name]()
        self._folder = folder

    def run_seed(self, seed: int | None, limit: float) -> ShuffledRun:
        report, log = (os.path.join(self._folder, name) for name in ("report.json", "output.log"))
        if os.path.exists(report):
            os.remove(report)
        began = time.monotonic()
        child = Child(self.runner.command(self.call, seed, report), os.environ, log)
        ended = "" if child.wait(limit) else TIMEOUT
        with open(log, encoding="utf-8", errors="replace") as file:
            output = file.read()
        seen: dict[str, Execution] = {}
        for each in self.runner.executions(report, output):
            seen.setdefault(each.test, each)
        return list(seen.values()), time.monotonic() - began, ended

    def run(self, order: Sequence[str] | None, limit: float, **how: Any) -> Outcome:
        """The order that the tests are written in, told in the order that is asked for."""
        ran, seconds, ended = self.run_seed(None, limit)
        by_name = {each.test: each for each in ran}
        wanted = list(by_name) if order is None else list(order)
        ends = [by_name.get(name, Execution(name, NOT_RUN, 0.0)) for name in wanted]
        crashed = CRASHED if not ran else ""
        return Outcome(
            "".join(each.verdict for each in ends), tuple(each.seconds for each in ends), seconds, ended or crashed
        )

    def close(self) -> None:
        return


class SeededExperiment:
    """Whole orders, each failure classified by repeating its seed; nothing is minimised but by RSpec itself."""

    def __init__(self, parameters: Parameters, journal: Journal, say: Say, call: RunnerCall) -> None:
        self.result = Result()
        self._parameters = parameters
        self._journal = journal
        self._say = say
        self._folder = tempfile.mkdtemp(prefix="fb-")
        self._executor = SeededExecutor(call, self._folder)
        self._known: dict[int, Finding] = {}
        self._seeds: dict[int, int] = {}
        """By order-dependent test: a seed with which it fails."""

    def run(self) -> None:
        """Raises Problem where it cannot be done, and KeyboardInterrupt."""
        try:
            self._detect()
        except BudgetSpent:
            self.result.ended = "budget"
        except KeyboardInterrupt:
            self.result.ended = "interrupted"
            raise
        finally:
            self.result.findings = list(self._known.values())
            shutil.rmtree(self._folder, ignore_errors=True)

    def _detect(self) -> None:
        parameters = self._parameters
        lab = self.result.lab = self._laboratory()
        limit = parameters.order_timeout or max(parameters.budget * 60, _LEAST_LIMIT)
        found = reference.establish(lab, parameters.tries, parameters.without_failing, self._say, limit)
        self.result.tries, self.result.seconds = found.tries, found.seconds
        self._known = {finding.test: finding for finding in found.findings}
        if parameters.budget * 60 - lab.spent < found.seconds:
            raise Problem(
                f"the budget of {parameters.budget * 60:.0f} s leaves no time for another order: the original one took "
                f"{found.seconds:.1f} s, and {lab.spent:.1f} s are spent."
            )
        lab.deadline = parameters.budget * 60
        for number in range(1, parameters.orders + 1):
            self._run_round(lab, number)
        self._bisect(lab)

    def _laboratory(self) -> Laboratory:
        """The suite is what the original order runs."""

        def compute() -> Mapping[str, Any]:
            ran, _, _ = self._executor.run_seed(None, max(self._parameters.budget * 60, _LEAST_LIMIT))
            return {"collection": {"tests": {each.test: ["", None, []] for each in ran}}}

        entry = self._journal.step({"kind": "collection", "which": "first"}, compute)
        names = list(entry["collection"]["tests"])
        if len(names) < 2:
            raise Problem("there is no order of fewer than two tests.")
        self._parameters.check_only(names)
        self._say(f"{len(names):,} tests are collected")
        return Laboratory(names, self._journal, self._executor, self._parameters.reset, self._parameters.order_timeout)

    # -- rounds --------------------------------------------------------------------------------------------------

    def _run_round(self, lab: Laboratory, number: int) -> None:
        seed = 1 + draw(_MOST_SEED, self._parameters.seed, "seeded", number)
        order, outcome = self._shuffled(lab, seed, round=number)
        if outcome.void:
            self._say(f"order {number} of {self._parameters.orders} is void: --reset failed")
            return
        before = len(self._known)
        failed = [order[step] for step in outcome.failed if order[step] not in lab.left_out]
        wanted = [test for test in failed if self._parameters.is_wanted(lab.suite.cases[test].id)]
        due = [test for test in wanted if self._is_due(test, number)]
        if due:
            self._classify(lab, seed, order, due)
        counts = f"{len(failed)} failed, {len(self._known) - before} new"
        self._say(f"order {number} of {self._parameters.orders}, seed {seed}: {counts}")

    def _is_due(self, test: int, round: int) -> bool:
        finding = self._known.get(test)
        if finding is None or finding.kind == UNKNOWN:
            return True
        if finding.kind == NOD:
            return False
        return draw(10_000, self._parameters.seed, "recheck", round, test) < self._parameters.recheck * 100

    def _shuffled(self, lab: Laboratory, seed: int, **what: Any) -> tuple[list[int], Outcome]:
        return lab.shuffled(seed, lambda limit: self._executor.run_seed(seed, limit), **what)

    def _classify(self, lab: Laboratory, seed: int, order: Sequence[int], tests: Sequence[int]) -> None:
        """Repeat the seed: what passes once in the same order does not depend on it."""
        verdicts: dict[int, list[str]] = {test: [] for test in tests}
        same = True
        for _ in range(self._parameters.confirm):
            again, outcome = self._shuffled(lab, seed)
            same = same and list(again) == list(order)
            ends = dict(zip(again, outcome.verdicts))
            for test in tests:
                verdicts[test].append(ends.get(test, NOT_RUN))
        for test in tests:
            self._conclude(self._judged(test, tuple(order[: order.index(test) + 1]), verdicts[test], same), seed)

    def _judged(self, test: int, order: tuple[int, ...], verdicts: Sequence[str], same: bool) -> Finding:
        failed, runs = sum(map(fails, verdicts)), len(verdicts)
        if not same:
            return Finding(test, UNKNOWN, order, "the runner gave another order when its seed was repeated")
        if PASS in verdicts:
            return Finding(test, NOD, order, f"failed in {failed} of {runs} runs of the same seed")
        if failed < runs:
            return Finding(test, UNKNOWN, order, "was skipped or not run when the seed was repeated")
        return Finding(test, OD, order, f"failed in {failed} of {runs} runs of the same seed")

    def _conclude(self, finding: Finding, seed: int) -> None:
        """OD can become NOD at any time, never back."""
        known = self._known.get(finding.test)
        if known is None or known.kind == UNKNOWN:
            self._known[finding.test] = finding
            if finding.kind == OD:
                self._seeds[finding.test] = seed
                command = self._executor.runner.command(self._executor.call, seed, report="")
                finding.notes.append(f"to repeat it: {' '.join(command)}")
        elif finding.kind == NOD and known.kind == OD:
            known.becomes_nod(finding.why)

    # -- RSpec's own bisection -----------------------------------------------------------------------------------

    def _bisect(self, lab: Laboratory) -> None:
        """Once for each seed that showed something."""
        runner = self._executor.runner
        if self._parameters.minimize == "no" or not isinstance(runner, Rspec):
            return
        dependent = {test: seed for test, seed in self._seeds.items() if self._known[test].kind == OD}
        for seed in dict.fromkeys(dependent.values()):
            fewest = self._bisected(
                runner.bisection(self._executor.call, seed), self._parameters.budget * 60 - lab.spent
            )
            for test in (test for test, own in dependent.items() if own == seed and fewest):
                self._known[test].notes.append(f"fewest examples that fail: {fewest}")

    def _bisected(self, command: Sequence[str], seconds: float) -> str:
        if seconds <= 0:
            raise BudgetSpent

        def compute() -> Mapping[str, Any]:
            log = os.path.join(self._folder, "bisection.log")
            Child(command, os.environ, log).wait(seconds)
            with open(log, encoding="utf-8", errors="replace") as file:
                return {"fewest": minimal_command(file.read())}

        return str(self._journal.step({"kind": "bisection", "command": list(command)}, compute)["fewest"])
