"""Go: `-shuffle` takes a seed, and `-json` tells when each test began and how it ended."""

from __future__ import annotations

import json
from typing import Any, Iterator, Sequence

from flakeboard.detection.execution.outcomes import FAIL, PASS, SKIP
from flakeboard.detection.seeded.runs import Execution, last_words
from flakeboard.problems import Problem
from flakeboard.runners.runner import RunnerCall, without

_REPLACED = ("-shuffle", "-count", "-p", "-parallel", "--shuffle", "--count", "--p", "--parallel")
_ENDS = {"pass": PASS, "fail": FAIL, "skip": SKIP}


class GoTest:
    """Functions are shuffled within their package; one package runs after the other, or there would be no order."""

    def command(self, call: RunnerCall, seed: int | None, report: str) -> list[str]:
        kept = [word for word in without(call.arguments, _REPLACED) if word.lstrip("-") not in ("failfast", "json")]
        shuffle = "off" if seed is None else str(seed)
        own = ["-json"] if report else []
        return [*call.before, *own, f"-shuffle={shuffle}", "-count=1", "-p=1", "-parallel=1", *kept]

    def executions(self, report: str, output: str) -> Sequence[Execution]:
        began: dict[str, Execution] = {}
        packages: dict[str, str] = {}
        for event in _events(output):
            action, package, test = event.get("Action"), str(event.get("Package", "")), str(event.get("Test", ""))
            name = f"{package}::{test}"
            if not test:
                packages[package] = str(action)
            elif "/" in test:
                continue  # a part of its test
            elif action == "run":
                began[name] = Execution(name, FAIL, 0.0)
            elif action in _ENDS and name in began:
                began[name] = Execution(name, _ENDS[action], float(event.get("Elapsed") or 0.0))
        if not packages and not began:
            raise Problem(f"go test told nothing: {last_words(output)}")
        tested = {name.partition("::")[0] for name in began}
        broken = [package for package, action in packages.items() if action == "fail" and package not in tested]
        if broken:
            raise Problem(f"these packages could not be built or set up: {', '.join(broken[:5])}")
        return list(began.values())


def _events(output: str) -> Iterator[dict[str, Any]]:
    """The JSON lines; what else programs print among them is none."""
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                yield event
