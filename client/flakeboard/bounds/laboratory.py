"""Runs of one test or of all: up to 25 in a process, each with its own seeds, fixtures torn down after each."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from typing import Sequence

from flakeboard.bounds.parameters import PER_PROCESS, SLOWEST, Parameters
from flakeboard.bounds.series import Measurement, read_measurements
from flakeboard.detection.execution.injection import Injection
from flakeboard.detection.execution.processes import ProcessExecutor
from flakeboard.problems import Problem
from flakeboard.runners.pytest import arguments_for
from flakeboard.runners.runner import RunnerCall


class Laboratory:
    """Whoever makes it closes it."""

    def __init__(self, parameters: Parameters, call: RunnerCall) -> None:
        self._parameters = parameters
        self._call = call
        self._folder = tempfile.mkdtemp(prefix="fb-bounds-")
        self._executor = ProcessExecutor(Injection(call, self._folder, os.environ, 0))
        self._deadline = time.monotonic() + parameters.budget
        self._number = 0
        self._processes = 0
        self.root = self._started_in = ""

    @property
    def left(self) -> float:
        return self._deadline - time.monotonic()

    def collect(self, paths: Sequence[str]) -> list[str]:
        """The tests of these files; all that the command collects without any."""
        limit = max(1.0, min(self.left, SLOWEST))
        collection = self._executor.collect(limit, arguments_for(self._call, list(paths)) if paths else None)
        self.root, self._started_in = collection.rootdir, collection.folder
        return list(collection.ids)

    def find(self, wanted: str) -> str:
        """The test by its id, also where it is typed from another folder than pytest's rootdir."""
        file = wanted.partition("::")[0]
        ids = self.collect([file])
        path = "/" + wanted.replace(os.sep, "/")
        found = [name for name in ids if f"/{name}".endswith(path) or path.endswith("/" + name)]
        if len(found) != 1:
            function = wanted.partition("::")[2].partition("[")[0]
            near = [name for name in ids if function and name.partition("[")[0].endswith(function)]
            more = f" Did you mean {near[0]}?" if near else ""
            raise Problem(f"{wanted} is not among the {len(ids):,} tests of {file}.{more}")
        return found[0]

    def run(self, test: str, count: int, per_process: int = PER_PROCESS) -> list[Measurement]:
        """Run a test so many times, or as often as there is time for."""
        return self.run_all([test], count, per_process)

    def run_all(self, tests: Sequence[str], count: int, per_process: int = PER_PROCESS) -> list[Measurement]:
        found: list[Measurement] = []
        done = 0
        while done < count and self.left > 0:
            rounds = min(per_process, count - done)
            numbers = [self._number + 1 + each for each in range(rounds)]
            self._number += rounds
            done += rounds
            found += self._process(tests, numbers)
        return found

    def _process(self, tests: Sequence[str], numbers: Sequence[int]) -> list[Measurement]:
        self._processes += 1
        path = os.path.join(self._folder, f"values-{self._processes}.jsonl")
        each = [number for number in numbers for _ in tests]
        job = {"file": path, "numbers": each, "keep_seeds": self._parameters.keep_seeds}
        files = list(dict.fromkeys(self._path_of(test) for test in tests))
        self._executor.run(
            [test for _ in numbers for test in tests],
            max(1.0, min(self.left, SLOWEST)),
            environ={"PYTHONHASHSEED": str(self._processes)},
            arguments=arguments_for(self._call, files),
            values=job,
        )
        return read_measurements(path, self._processes)

    def _path_of(self, name: str) -> str:
        """A node id as it is typed where the command runs."""
        file, separator, rest = name.partition("::")
        path = os.path.relpath(os.path.join(self.root, file), self._started_in).replace(os.sep, "/")
        return path + separator + rest

    def close(self) -> None:
        self._executor.close()
        shutil.rmtree(self._folder, ignore_errors=True)
