"""Maven's Surefire: its random `runOrder` takes a seed, and moves whole classes."""

from __future__ import annotations

import glob
import os
import time
from typing import Sequence

from flakeboard.detection.execution.outcomes import FAIL, PASS, SKIP
from flakeboard.detection.seeded.runs import Execution, last_words
from flakeboard.problems import Problem
from flakeboard.reports import junit
from flakeboard.runners.jvm import MAVEN
from flakeboard.runners.runner import RunnerCall

_ENDS = {junit.PASSED: PASS, junit.FAILED: FAIL, junit.SKIPPED: SKIP}
_OWN = ("-Dsurefire.runOrder", "-Dmaven.test.failure.ignore", "-Dsurefire.skipAfterFailureCount")


class Surefire:
    """One report a class: they are ordered by when they were written."""

    def __init__(self) -> None:
        self._began = 0.0

    def command(self, call: RunnerCall, seed: int | None, report: str) -> list[str]:
        self._began = time.time()
        kept = [word for word in call.arguments if not word.startswith(_OWN)]
        shuffle = ["-Dsurefire.runOrder=random", f"-Dsurefire.runOrder.random.seed={seed}"] if seed is not None else []
        return [*call.before, *kept, *shuffle, *(["-Dmaven.test.failure.ignore=true"] if report else [])]

    def executions(self, report: str, output: str) -> Sequence[Execution]:
        paths = [path for pattern in MAVEN.reports for path in glob.glob(pattern, recursive=True)]
        written = sorted((os.stat(path).st_mtime_ns, path) for path in paths)
        fresh = [path for at, path in written if at >= self._began * 1e9]
        if not fresh:
            errors = "\n".join([line for line in output.splitlines() if "ERROR" in line][:3])
            raise Problem(f"Maven wrote no report: {last_words(errors)}")
        return [
            Execution(f"{case.classname}::{case.name}", _ENDS[case.outcome], 0.0)
            for path in fresh
            for case in junit.read([path])
        ]
