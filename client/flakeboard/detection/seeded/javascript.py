"""Jest and Vitest: a seed shuffles the tests within their files."""

from __future__ import annotations

import json
import os
from typing import Sequence

from flakeboard.detection.execution.outcomes import FAIL, PASS, SKIP
from flakeboard.detection.seeded.json_reports import read_report
from flakeboard.detection.seeded.runs import Execution, last_words
from flakeboard.problems import Problem
from flakeboard.runners.runner import RunnerCall, without

_ENDS = {"passed": PASS, "failed": FAIL}


class Jest:
    """Files one after the other, in one process."""

    def command(self, call: RunnerCall, seed: int | None, report: str) -> list[str]:
        kept = [word for word in call.arguments if word not in ("-i", "--runInBand", "--randomize", "-b", "--bail")]
        shuffle = ["--randomize", f"--seed={seed}"] if seed is not None else []
        own = ["--runInBand", *(["--json", f"--outputFile={report}"] if report else [])]
        return [*call.before, *without(kept, ("--seed", "--outputFile")), *own, *shuffle]

    def executions(self, report: str, output: str) -> Sequence[Execution]:
        report_body = read_report(report, output)
        files = sorted(report_body.get("testResults", ()), key=lambda each: each.get("startTime") or 0)
        broken = [each["name"] for each in files if each.get("status") == "failed" and not each["assertionResults"]]
        if broken:
            raise Problem(f"files could not be loaded: {', '.join(map(_relative, broken[:5]))}")
        return [
            Execution(
                f"{_relative(each['name'])}::{test['fullName']}",
                _ENDS.get(test["status"], SKIP),
                float(test.get("duration") or 0.0) / 1_000,
            )
            for each in files
            for test in each["assertionResults"]
        ]


_REPORTER = """
import { appendFileSync } from 'node:fs'
const tell = (line) => appendFileSync(PATH, JSON.stringify(line) + '\\n')
export default class {
  onTestCaseResult(test) {
    const ms = test.diagnostic()?.duration
    tell({ file: test.module.moduleId, name: test.fullName, state: test.result().state, ms })
  }
  onTestModuleEnd(module) {
    if (module.errors().length) tell({ broken: module.moduleId })
  }
}
"""


class Vitest:
    """Its own reports are in the order that tests are written in, so a reporter of ours tells when each ended."""

    def command(self, call: RunnerCall, seed: int | None, report: str) -> list[str]:
        kept = [word for word in call.arguments if not word.startswith(("--bail", "--sequence"))]
        shuffle = ["--sequence.shuffle.tests", f"--sequence.seed={seed}"] if seed is not None else []
        run = [] if "run" in kept else ["run"]
        own = ["--no-file-parallelism", *([f"--reporter={self._reporter(report)}"] if report else [])]
        return [*call.before, *run, *without(kept, ("--reporter", "--outputFile")), *own, *shuffle]

    def _reporter(self, report: str) -> str:
        with open(report + ".mjs", "w", encoding="utf-8") as file:
            file.write(_REPORTER.replace("PATH", json.dumps(report)))
        return file.name

    def executions(self, report: str, output: str) -> Sequence[Execution]:
        try:
            with open(report, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        except FileNotFoundError:
            raise Problem(f"Vitest told nothing (it must be version 3 or newer): {last_words(output)}") from None
        broken = [_relative(line["broken"]) for line in lines if "broken" in line]
        if broken:
            raise Problem(f"files could not be loaded: {', '.join(broken[:5])}")
        return [
            Execution(
                f"{_relative(line['file'])}::{line['name']}",
                _ENDS.get(line["state"], SKIP),
                float(line.get("ms") or 0.0) / 1_000,
            )
            for line in lines
        ]


def _relative(path: str) -> str:
    return os.path.relpath(path).replace(os.sep, "/")
