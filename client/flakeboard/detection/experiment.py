"""An experiment on orders, from its first collection to its last dependency."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Callable, Sequence

from flakeboard import runners
from flakeboard.detection import reference
from flakeboard.detection.changed.advice import runs_advised
from flakeboard.detection.changed.changes import NEW, TestChanges, changes_since
from flakeboard.detection.changed.targets import FEW_RUNS, PAIRS, Target, TargetSteps
from flakeboard.detection.crashes import TooManyCrashes
from flakeboard.detection.execution.plain import PlainRun
from flakeboard.detection.execution.records import Collection
from flakeboard.detection.findings import BRITTLE, Finding
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import BudgetSpent, Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.search.dependencies import find_dependencies
from flakeboard.detection.search.reset_fixture import propose_fixture
from flakeboard.detection.search.suspects import Suspects
from flakeboard.detection.seeded.runs import SEEDED
from flakeboard.detection.workplace import Workplace
from flakeboard.problems import Problem
from flakeboard.runners.pytest import PYTEST
from flakeboard.runners.runner import RunnerCall
from flakeboard.server.api import Api

Say = Callable[[str], None]


class WrongCommand(Problem):
    """The command is none that `detect` can reorder."""


class NothingToDo(Exception):
    """No test is new or changed."""


@dataclass
class Result:
    """What is known at the end, or when the experiment was interrupted."""

    ended: str = "orders"
    lab: Laboratory | None = None
    tries: int = 0
    seconds: float = 0.0
    """Of the original order that counts."""
    findings: list[Finding] = field(default_factory=list)
    targets: Sequence[Target] = ()
    """With --changed-since: the tests that were looked at, and how far."""
    iterations: int = 0
    """Of reruns, in all; 0 for orders."""


def runner_call(command: Sequence[str]) -> RunnerCall:
    call = runners.find(command)
    if call is None:
        raise WrongCommand("detect needs the command that starts pytest itself, as in: detect -- pytest tests/")
    if call.runner is PYTEST or call.runner in SEEDED:
        return call
    names = ", ".join(dict.fromkeys(runner.name for runner in SEEDED))
    raise WrongCommand(f"detect reorders tests of pytest, and by their own seeds those of {names}.")


class OrderExperiment:
    """Holds what the steps share; `result` is right at any time."""

    def __init__(
        self, parameters: Parameters, journal: Journal, say: Say, suspects: Suspects, api: Api | None = None
    ) -> None:
        self.result = Result()
        self._api = api
        self._parameters = parameters
        self._say = say
        self._suspects = suspects
        self._changes = changes_since(parameters.changed_since) if parameters.changed_since else None
        self._workplace = Workplace(parameters, runner_call(parameters.command), journal)

    def run(self) -> None:
        """Raises Problem where it cannot be done, and KeyboardInterrupt."""
        try:
            self._detect()
        except KeyboardInterrupt:
            self.result.ended = "interrupted"
            raise
        finally:
            self._workplace.close()

    def _detect(self) -> None:
        parameters, workplace, result = self._parameters, self._workplace, self.result
        if self._changes and not any(path.endswith(".py") for path in self._changes.files):
            raise NothingToDo
        lab, first = workplace.laboratory(self._say)
        result.lab = lab
        targets = self._targets(lab, first)
        limit = workplace.first_limit
        found = reference.establish(lab, parameters.tries, parameters.without_failing, self._say, limit)
        result.tries, result.seconds, result.findings = found.tries, found.seconds, found.findings
        reference.choose(lab, found, workplace.fork, workplace.why_not, parameters.tries, self._say)
        procedure = Procedure(lab, parameters, found, self._say)
        try:
            if targets:
                self._look_at_targets(procedure, targets, first)
            else:
                procedure.run_rounds()
            find_dependencies(procedure, self._suspects)
            self._repeat_plainly(lab, procedure.order_dependent(), first)
            lab.deadline = procedure.budget
            with contextlib.suppress(BudgetSpent):
                for finding in procedure.order_dependent():
                    propose_fixture(lab, finding, first.rootdir)
        except TooManyCrashes as problem:
            procedure.ended = "crash"
            self._say(str(problem))
        finally:
            result.findings, result.ended = list(procedure.known.values()), procedure.ended

    def _repeat_plainly(self, lab: Laboratory, findings: Sequence[Finding], first: Collection) -> None:
        """Run each minimal order as a person would type it: the finding says if that shows nothing."""
        plain = PlainRun(self._workplace.call, self._workplace.process, first)
        for finding in findings:
            if finding.groups or finding.role == BRITTLE:
                finding.only_whole = not plain.fails(lab, lab.suite.names(finding.minimal_order))

    # -- new and changed tests -----------------------------------------------------------------------------------

    def _targets(self, lab: Laboratory, first: Collection) -> list[Target]:
        """New and changed tests; NothingToDo if there should be some and are none."""
        if self._changes is None:
            return []
        tests = TestChanges(self._changes, first.rootdir)
        names = [case.id for case in lab.suite.cases]
        statuses = {place: tests.status(name) for place, name in enumerate(names) if self._parameters.is_wanted(name)}
        targets = [Target(place, status) for place, status in statuses.items() if status]
        if not targets:
            raise NothingToDo
        self._advise([target for target in targets if target.status == NEW], names, first.rootdir)
        new = sum(target.status == NEW for target in targets)
        self._say(f"{new:,} new and {len(targets) - new:,} changed tests since {self._parameters.changed_since}")
        return targets

    def _advise(self, targets: Sequence[Target], names: Sequence[str], rootdir: str) -> None:
        if self._api is None:
            return
        advised = runs_advised(self._api, rootdir, [names[target.test] for target in targets], self._say)
        for target in targets:
            target.runs = advised.get(names[target.test], 0)
        if advised:
            self._say(f"{len(advised):,} of the new tests look like flaky ones: they are run as often as advised")

    def _look_at_targets(self, procedure: Procedure, targets: Sequence[Target], first: Collection) -> None:
        fixtures = {place: set(first.tests[case.id][2]) for place, case in enumerate(procedure.lab.suite.cases)}
        steps = TargetSteps(procedure, targets, fixtures)
        self.result.targets = steps.targets
        steps.run(FEW_RUNS)
        find_dependencies(procedure, self._suspects)  # before the pairs, which may take all the time
        steps.run(PAIRS)
