"""Runs of one test: each a fresh process of the user's own command, with a recipe, and its trace."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from flakeboard.detection.execution.injection import Injection
from flakeboard.detection.execution.outcomes import PASS, TIMEOUT, fails
from flakeboard.detection.execution.processes import ProcessExecutor
from flakeboard.differences.runs import Interned, Run, run_of
from flakeboard.problems import Problem
from flakeboard.runners.pytest import arguments_for
from flakeboard.runners.runner import RunnerCall
from flakeboard.traces.reader import Refusal, read_traces
from flakeboard.traces.trace import Function
from flakeboard.traces.writer import PREFIX
from flakeboard.why.parameters import LEAST_LIMIT, SLOWER, Parameters


class BudgetSpent(Exception):
    """The time is up."""


@dataclass
class Execution:
    """One run of the test."""

    failed: bool
    recipe: Mapping[str, Any]
    run: Run | None
    """What was recorded; None if the process died first."""
    failure: tuple[str, str] = ("", "")
    """Type and message."""
    output: str = field(default="", repr=False)
    seconds: float = 0.0
    """Set-up, call and teardown of the test, as pytest counts them."""
    functions: Sequence[Function] = ()
    """Functions of the project that it ran, where these were watched."""


class Laboratory:
    """Whoever makes it closes it."""

    def __init__(
        self,
        parameters: Parameters,
        call: RunnerCall,
        working_folder: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._parameters = parameters
        self._call = call
        self._folder = tempfile.mkdtemp(prefix="fb-why-")
        injection = Injection(call, self._folder, os.environ if environ is None else environ, 0, working_folder)
        self._executor = ProcessExecutor(injection)
        self._interned = Interned()
        self._key = secrets.token_hex(32)
        self._deadline = time.monotonic() + parameters.budget
        self._limit = max(parameters.budget, LEAST_LIMIT)
        self.test = parameters.test
        self.neighbours: list[str] = []
        """The tests of its file that come before it."""
        self.root = self._started_in = ""

    def collect(self) -> None:
        """Find the test, and the tests of its file."""
        file = self.test.partition("::")[0]
        collection = self._executor.collect(self._limit, arguments_for(self._call, [file]))
        self.root, self._started_in = collection.rootdir, collection.folder
        wanted = self.test.replace(os.sep, "/")
        path = "/" + wanted
        found = [name for name in collection.ids if f"/{name}".endswith(path) or path.endswith("/" + name)]
        if len(found) != 1:
            near = [name for name in collection.ids if name.partition("[")[0].endswith(wanted.partition("::")[2])]
            more = f" Did you mean {near[0]}?" if near else ""
            raise Problem(f"{self.test} is not among the {len(collection.ids):,} tests of {file}.{more}")
        self.test = found[0]
        own = collection.ids.index(self.test)
        self.neighbours = [name for name in collection.ids if name != self.test]
        self._before = collection.ids[:own] if self._parameters.in_suite else []

    @property
    def left(self) -> float:
        return self._deadline - time.monotonic()

    def run(self, recipe: Mapping[str, Any], slower_by: float = 0.0) -> Execution:
        """Run the test once; raises BudgetSpent when the time is up. A recipe may make it slower by so many seconds."""
        if self.left <= 0:
            raise BudgetSpent
        before = list(recipe.get("before") or self._before)
        names = [*before, self.test]
        environ = {}
        if recipe.get("hash") is not None:
            environ["PYTHONHASHSEED"] = str(recipe["hash"])
        if recipe.get("zone"):
            environ["TZ"] = str(recipe["zone"])
        traces = os.path.join(self._folder, "traces")
        shutil.rmtree(traces, ignore_errors=True)
        os.makedirs(traces)
        job = {"folder": traces, "level": self._parameters.level, "key": self._key, "test": self.test, "recipe": recipe}
        began = time.monotonic()
        outcome = self._executor.run(
            names,
            min(self._limit + slower_by, max(1.0, self.left)),
            texts=True,
            environ=environ,
            arguments=arguments_for(self._call, [self._path_of(name) for name in names]),
            trace=job,
        )
        self._limit = min(self._limit, max(LEAST_LIMIT, SLOWER * (time.monotonic() - began)))
        verdict = outcome.last
        if outcome.ended == TIMEOUT and self.left <= 0:
            raise BudgetSpent
        if verdict != PASS and not fails(verdict):
            raise Problem(f"{self.test} did not run: it was skipped, or not collected.")
        texts = outcome.failures.get(len(names) - 1) or [["", "", "", ""]]
        _, kind, message, text = texts[0]
        run, functions = self._recorded(traces)
        output = text if fails(verdict) else ""
        seconds = outcome.seconds[-1] if outcome.seconds else 0.0
        return Execution(fails(verdict), recipe, run, (kind, message[:300]), output, seconds, functions)

    def _path_of(self, name: str) -> str:
        """A node id as it is typed where the command runs, which need not be pytest's rootdir."""
        file, separator, rest = name.partition("::")
        return os.path.relpath(os.path.join(self.root, file), self._started_in).replace(os.sep, "/") + separator + rest

    def _recorded(self, folder: str) -> tuple[Run | None, Sequence[Function]]:
        path = os.path.join(folder, PREFIX + ".jsonl")
        try:
            with open(path, "rb") as file:
                traces = read_traces(file.read())
        except (OSError, Refusal):
            return None, ()
        own = [trace for trace in traces.traces if trace.test == self.test]
        if not own:
            return None, ()
        functions = [traces.functions[number] for number in own[-1].reach or ()]
        return run_of(traces, own[-1], self._interned), functions

    def close(self) -> None:
        self._executor.close()
        shutil.rmtree(self._folder, ignore_errors=True)
