"""An experiment from its first collection to its last dependency."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

from flakeboard import runners
from flakeboard.detection import dependencies, reference
from flakeboard.detection.changes import NEW, TestChanges, changes_since
from flakeboard.detection.crashes import TooManyCrashes
from flakeboard.detection.findings import BRITTLE, Finding
from flakeboard.detection.forks import ForkExecutor
from flakeboard.detection.injection import Injection
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.plain import PlainRun
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.processes import ProcessExecutor
from flakeboard.detection.records import Collection
from flakeboard.detection.suspects import Suspects
from flakeboard.detection.targets import FEW_RUNS, PAIRS, Target, TargetSteps
from flakeboard.orders.seeded import draw
from flakeboard.problems import Problem
from flakeboard.runners.runner import RunnerCall

Say = Callable[[str], None]


_LEAST_LIMIT = 600.0


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
    collection: Collection | None = None
    targets: Sequence[Target] = ()
    """With --changed-since: the tests that were looked at, and how far."""


def runner_call(command: Sequence[str]) -> RunnerCall:
    call = runners.find(command)
    if call is None:
        raise WrongCommand("detect needs the command that starts pytest itself, as in: detect -- pytest tests/")
    if call.runner.name != "pytest":
        raise WrongCommand(f"detect reorders pytest's tests; {call.runner.name} is not supported yet.")
    return call


class Experiment:
    """Holds what the steps share; `result` is right at any time."""

    def __init__(self, parameters: Parameters, journal: Journal, say: Say, suspects: Suspects) -> None:
        self.result = Result()
        self._parameters = parameters
        self._journal = journal
        self._say = say
        self._suspects = suspects
        self._call = runner_call(parameters.command)
        self._folder = tempfile.mkdtemp(prefix="fb-")
        seed = draw(2**31, parameters.seed, "randomly")
        self._injection = Injection(self._call, self._folder, os.environ, seed)
        self._process = ProcessExecutor(self._injection)
        self._fork: ForkExecutor | None = None
        self._changes = changes_since(parameters.changed_since) if parameters.changed_since else None
        self._targets: list[Target] = []
        self._fixtures: dict[int, set[str]] = {}

    def run(self) -> None:
        """Raises Problem where it cannot be done, and KeyboardInterrupt."""
        try:
            self._detect()
        except KeyboardInterrupt:
            self.result.ended = "interrupted"
            raise
        finally:
            self._process.close()
            if self._fork is not None:
                self._fork.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _detect(self) -> None:
        parameters, limit = self._parameters, self._first_limit
        if self._changes and not any(path.endswith(".py") for path in self._changes.files):
            raise NothingToDo
        lab = self._laboratory()
        found = reference.establish(lab, parameters.tries, parameters.without_failing, self._say, limit)
        self.result.tries, self.result.seconds, self.result.findings = found.tries, found.seconds, found.findings
        reference.choose(lab, found, self._fork, self._why_not, parameters.tries, self._say)
        procedure = Procedure(lab, parameters, found, self._say)
        try:
            if self._targets:
                self._look_at_targets(procedure)
            else:
                procedure.run_rounds()
            dependencies.find_dependencies(procedure, self._suspects)
            self._repeat_plainly(lab, procedure.order_dependent())
        except TooManyCrashes as problem:
            procedure.ended = "crash"
            self._say(str(problem))
        finally:
            self.result.findings, self.result.ended = list(procedure.known.values()), procedure.ended

    def _look_at_targets(self, procedure: Procedure) -> None:
        steps = TargetSteps(procedure, self._targets, self._fixtures)
        self.result.targets = steps.targets
        steps.run(FEW_RUNS)
        dependencies.find_dependencies(procedure, self._suspects)  # before the pairs, which may take all the time
        steps.run(PAIRS)

    def _find_targets(self, lab: Laboratory, first: Collection) -> None:
        """New and changed tests; NothingToDo if there are none."""
        tests = TestChanges(self._changes, first.rootdir) if self._changes else None
        if tests is None:
            return
        statuses = {place: tests.status(case.id) for place, case in enumerate(lab.suite.cases)}
        wanted = self._parameters.is_wanted
        self._targets = [
            Target(place, status) for place, status in statuses.items() if status and wanted(lab.suite.cases[place].id)
        ]
        self._fixtures = {place: set(first.tests[case.id][2]) for place, case in enumerate(lab.suite.cases)}
        if not self._targets:
            raise NothingToDo
        new = sum(target.status == NEW for target in self._targets)
        self._say(f"{new:,} new and {len(self._targets) - new:,} changed tests since {self._parameters.changed_since}")

    def _repeat_plainly(self, lab: Laboratory, findings: Sequence[Finding]) -> None:
        """Run each minimal order as a person would type it: the finding says if that shows nothing."""
        for finding in findings:
            if finding.groups or finding.role == BRITTLE:
                told = lab.suite.names(finding.minimal_order)
                finding.only_whole = not self._plain.fails(lab, told)

    @property
    def _first_limit(self) -> float:
        """Seconds for a collection and for the original order, as long as nobody knows how long they take."""
        return self._parameters.order_timeout or max(self._parameters.budget * 60, _LEAST_LIMIT)

    # -- collecting ----------------------------------------------------------------------------------------------

    def _laboratory(self) -> Laboratory:
        parameters, limit = self._parameters, self._first_limit
        resumed = self._journal.replays
        first = self._collect("first", lambda: self._process.collect(limit))
        if resumed and self._process.collect(limit).ids != first.ids:
            raise Problem("the suite is not the one of the experiment: other tests are collected now.")
        self._choose_fork(first, limit)
        second = self._collect("second", self._fork.start if self._fork else lambda: self._process.collect(limit))
        names, unstable = reference.stable_ids(first, second.ids)
        if len(names) < 2:
            raise Problem("there is no order of fewer than two tests.")
        lab = Laboratory(names, self._journal, self._process, parameters.reset, parameters.order_timeout)
        for name in unstable:
            lab.not_run[name] = "its id differs between two collections"
        for name in first.duplicates:
            lab.not_run[name] = "is collected twice; the first one counts"
        self.result.lab, self.result.collection = lab, first
        self._plain = PlainRun(self._call, self._process, first)
        self._find_targets(lab, first)
        self._say(f"{len(names):,} tests are collected")
        for name, why in lab.not_run.items():
            self._say(f"{name}: {why}")
        return lab

    def _collect(self, which: str, collect: Callable[[], Collection]) -> Collection:
        def compute() -> Mapping[str, Any]:
            return {"collection": vars(collect())}

        return Collection(**self._journal.step({"kind": "collection", "which": which}, compute)["collection"])

    def _choose_fork(self, first: Collection, limit: float) -> None:
        """Fork where it can be had: the interpreter that runs the tests forks, with one thread alive."""
        fresh = self._parameters.fresh
        self._why_not = ""
        if fresh == "process":
            self._why_not = "--fresh process"
        elif not first.forks:
            self._why_not = "this system cannot fork"
        elif first.threads > 1:
            self._why_not = f"{first.threads} threads are alive after collection"
        if self._why_not and fresh == "fork":
            raise Problem(f"--fresh fork cannot be used: {self._why_not}.")
        if not self._why_not:
            self._fork = ForkExecutor(self._injection, limit)
