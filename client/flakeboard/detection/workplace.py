"""Where an experiment works: a folder of its own, the injected command, executors, and the suite as it is collected."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Callable, Mapping

from flakeboard.detection.execution.forks import ForkExecutor
from flakeboard.detection.execution.injection import Injection
from flakeboard.detection.execution.processes import ProcessExecutor
from flakeboard.detection.execution.records import Collection
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.reference import stable_ids
from flakeboard.orders.seeded import draw
from flakeboard.problems import Problem
from flakeboard.runners.runner import RunnerCall

Say = Callable[[str], None]
_LEAST_LIMIT = 600.0


class Workplace:
    """Made for one environment; whoever makes it closes it."""

    def __init__(
        self,
        parameters: Parameters,
        call: RunnerCall,
        journal: Journal,
        environ: Mapping[str, str] | None = None,
        working_folder: str | None = None,
    ) -> None:
        self.call = call
        self._parameters = parameters
        self._journal = journal
        self._folder = tempfile.mkdtemp(prefix="fb-")
        seed = draw(2**31, parameters.seed, "randomly")
        given = os.environ if environ is None else environ
        self._injection = Injection(call, self._folder, given, seed, working_folder)
        self.process = ProcessExecutor(self._injection)
        self.fork: ForkExecutor | None = None
        self.why_not = ""
        """Why no fork is used."""

    @property
    def first_limit(self) -> float:
        """Seconds for a collection and for the original order, as long as nobody knows how long they take."""
        return self._parameters.order_timeout or max(self._parameters.budget * 60, _LEAST_LIMIT)

    def laboratory(self, say: Say, may_fork: bool = True) -> tuple[Laboratory, Collection]:
        """Collect twice: ids that differ are named and take no part."""
        parameters, limit = self._parameters, self.first_limit
        first = self.collect("first", lambda: self.process.collect(limit))
        if self._journal.is_resumed and self.process.collect(limit).ids != first.ids:
            raise Problem("the suite is not the one of the experiment: other tests are collected now.")
        self._choose_fork(first, may_fork)
        second = self.collect("second", self.fork.start if self.fork else lambda: self.process.collect(limit))
        names, unstable = stable_ids(first, second.ids)
        if len(names) < 2:
            raise Problem("there is no order of fewer than two tests.")
        parameters.check_only(names)
        lab = Laboratory(names, self._journal, self.process, parameters.reset, parameters.order_timeout)
        lab.not_run.update(dict.fromkeys(unstable, "its id differs between two collections"))
        lab.not_run.update(dict.fromkeys(first.duplicates, "is collected twice; the first one counts"))
        say(f"{len(names):,} tests are collected")
        for name, why in lab.not_run.items():
            say(f"{name}: {why}")
        return lab, first

    def collect(self, which: str, collect: Callable[[], Collection]) -> Collection:
        def compute() -> Mapping[str, Any]:
            return {"collection": vars(collect())}

        return Collection(**self._journal.step({"kind": "collection", "which": which}, compute)["collection"])

    def _choose_fork(self, first: Collection, may_fork: bool) -> None:
        """Fork where it can be had: the interpreter that runs the tests forks, with one thread alive."""
        fresh = self._parameters.fresh
        if fresh == "process" or not may_fork:
            self.why_not = "--fresh process" if may_fork else "reruns are of whole processes"
        elif not first.forks:
            self.why_not = "this system cannot fork"
        elif first.threads > 1:
            self.why_not = f"{first.threads} threads are alive after collection"
        if self.why_not and fresh == "fork":
            raise Problem(f"--fresh fork cannot be used: {self.why_not}.")
        if not self.why_not:
            self.fork = ForkExecutor(self._injection, self.first_limit)

    def close(self) -> None:
        self.process.close()
        if self.fork is not None:
            self.fork.close()
        shutil.rmtree(self._folder, ignore_errors=True)
