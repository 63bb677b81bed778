"""A few tests as a person would run them: `pytest a b`, which collects those files alone."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from flakeboard.detection.execution.outcomes import NOT_RUN, fails
from flakeboard.detection.execution.processes import ProcessExecutor
from flakeboard.detection.execution.records import Collection
from flakeboard.detection.laboratory import Laboratory
from flakeboard.problems import Problem
from flakeboard.runners.pytest import arguments_for
from flakeboard.runners.runner import RunnerCall


class PlainRun:
    def __init__(self, call: RunnerCall, process: ProcessExecutor, collection: Collection) -> None:
        self._call = call
        self._process = process
        self._collection = collection

    def fails(self, lab: Laboratory, names: Sequence[str]) -> bool:
        """Whether the last of them fails, with the others before it and nothing else."""

        def compute() -> Mapping[str, Any]:
            return {"verdict": self._verdict(names, lab.limit())}

        return fails(str(lab.journal.step({"kind": "plain", "names": list(names)}, compute)["verdict"]))

    def _verdict(self, names: Sequence[str], limit: float) -> str:
        arguments = arguments_for(self._call, [self.path_of(name) for name in names])
        try:
            outcome = self._process.run(None, limit, arguments=arguments)
        except Problem:
            return NOT_RUN
        collected = self._process.collection.ids if self._process.collection else []
        ran_so = [_own_name(name) for name in collected] == [_own_name(name) for name in names]
        return outcome.last if ran_so else NOT_RUN

    def path_of(self, name: str) -> str:
        """A node id as it is typed where the command runs, which need not be pytest's rootdir."""
        file, separator, rest = name.partition("::")
        path = os.path.join(self._collection.rootdir, file)
        return os.path.relpath(path, self._collection.folder).replace(os.sep, "/") + separator + rest


def _own_name(name: str) -> str:
    """What the folder that pytest takes for its root does not change."""
    file, _, rest = name.partition("::")
    return f"{os.path.basename(file)}::{rest}"
