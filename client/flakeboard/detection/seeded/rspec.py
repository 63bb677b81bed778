"""RSpec: `--order rand:N`, and its JSON lists examples as they ran."""

from __future__ import annotations

from typing import Sequence

from flakeboard.detection.execution.outcomes import FAIL, PASS, SKIP
from flakeboard.detection.seeded.json_reports import read_report
from flakeboard.detection.seeded.runs import Execution
from flakeboard.problems import Problem
from flakeboard.runners.runner import RunnerCall, without

_REPLACED = ("--order", "--seed", "-f", "--format", "-o", "--out")
_ENDS = {"passed": PASS, "failed": FAIL, "pending": SKIP}


class Rspec:
    def command(self, call: RunnerCall, seed: int | None, report: str) -> list[str]:
        kept = [word for word in without(call.arguments, _REPLACED) if not word.startswith("--fail-fast")]
        order = "defined" if seed is None else f"rand:{seed}"
        own = ["--format", "json", "--out", report] if report else []
        return [*call.before, *kept, "--order", order, *own]

    def executions(self, report: str, output: str) -> Sequence[Execution]:
        report_body = read_report(report, output)
        if report_body.get("summary", {}).get("errors_outside_of_examples_count"):
            raise Problem(f"files could not be loaded: {' / '.join(report_body.get('messages') or ())[-500:]}")
        return [
            Execution(each["id"], _ENDS.get(each["status"], SKIP), float(each.get("run_time") or 0.0))
            for each in report_body.get("examples", ())
        ]

    def bisection(self, call: RunnerCall, seed: int) -> list[str]:
        """The command by which RSpec itself looks for the fewest examples that fail with this seed."""
        kept = [word for word in without(call.arguments, _REPLACED) if not word.startswith("--fail-fast")]
        return [*call.before, *kept, "--seed", str(seed), "--bisect"]


def minimal_command(output: str) -> str:
    """What --bisect recommends; empty if it found nothing."""
    _, found, rest = output.partition("The minimal reproduction command is:")
    return rest.strip().partition("\n")[0].strip() if found else ""
