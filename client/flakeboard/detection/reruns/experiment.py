"""An experiment of reruns: iterations in fresh environments, here or on several machines."""

from __future__ import annotations

import os
import tempfile
from typing import Callable

from flakeboard.detection.crashes import TooManyCrashes
from flakeboard.detection.experiment import Result, runner_call
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.reruns.environments import FreshEnvironment
from flakeboard.detection.reruns.protocol import RerunProtocol
from flakeboard.detection.workplace import Workplace

Say = Callable[[str], None]


class RerunExperiment:
    def __init__(self, parameters: Parameters, journal: Journal, say: Say) -> None:
        self.result = Result(iterations=parameters.iterations)
        self._parameters = parameters
        self._journal = journal
        self._say = say
        self._call = runner_call(parameters.command)
        self._protocol = RerunProtocol(parameters, say)

    def run(self) -> None:
        """Raises Problem where it cannot be done, and KeyboardInterrupt."""
        only = int(self._journal.head.get("iteration") or 0)
        try:
            for number in [only] if only else range(1, self._parameters.iterations + 1):
                if self._protocol.ended == "orders":
                    self._run_iteration(number, is_last=bool(only) or number == self._parameters.iterations)
        except TooManyCrashes as problem:
            self._protocol.ended = "crash"
            self._say(str(problem))
        except KeyboardInterrupt:
            self._protocol.ended = "interrupted"
            raise
        finally:
            self.result.ended, self.result.findings = self._protocol.ended, self._protocol.findings()

    def _run_iteration(self, number: int, is_last: bool) -> None:
        with tempfile.TemporaryDirectory(prefix="fb-") as folder:
            environment = FreshEnvironment(
                os.path.join(folder, str(number)), self._parameters.environment_command, os.environ
            )
            workplace = Workplace(
                self._parameters, self._call, self._journal, environment.environ, environment.working_folder
            )
            try:
                lab = self._laboratory(workplace)
                self._protocol.run_iteration(lab, number)
                if is_last and self._protocol.ended == "orders":
                    self._protocol.isolate(lab)
            finally:
                workplace.close()

    def _laboratory(self, workplace: Workplace) -> Laboratory:
        """The suite is that of the first iteration here; what a later one does not collect is not run in it."""
        earlier = self.result.lab
        if earlier is None:
            lab, _ = workplace.laboratory(self._say, may_fork=False)
            lab.deadline = self._parameters.budget * 60 if self._parameters.has_budget else None
            self.result.lab = lab
            return lab
        earlier.process = earlier.executor = workplace.process
        return earlier
