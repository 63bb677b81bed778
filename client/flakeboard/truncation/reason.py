"""Why a run may have been cut short: tests that never ran might fail too, so the gate must not let it pass."""

from __future__ import annotations

from typing import Mapping, Sequence

from flakeboard.reports.collection import CollectedReports
from flakeboard.reports.junit import Case
from flakeboard.runners.process import CommandResult
from flakeboard.truncation.build_modules import modules_left_out
from flakeboard.truncation.fail_fast import stopping_option
from flakeboard.truncation.jvm_classes import class_without_report

_SHELL, _SIGNALS = 128, 64


def why_truncated(
    command: Sequence[str],
    environ: Mapping[str, str],
    result: CommandResult,
    collected: CollectedReports,
    cases: Sequence[Case],
) -> str:
    """The reason as a sentence without its full stop; empty if the run succeeded or nothing suggests it.

    Our plugin's count is exact, so options are examined only without it."""
    if result.code == 0:
        return ""
    return (
        _signal(result)
        or _crash(cases)
        or collected.truncated
        or ("" if collected.is_counted else stopping_option(command, environ))
        or modules_left_out(command, collected.fresh)
        or class_without_report(command, collected.fresh, cases)
    )


def _signal(result: CommandResult) -> str:
    if result.cancelled:
        return "the job was cancelled while the command ran"
    number = -result.code if result.code < 0 else result.code - _SHELL
    return f"the runner was ended by signal {number}" if 0 < number <= _SIGNALS else ""


def _crash(cases: Sequence[Case]) -> str:
    """A crash that a report mentions: what the process would have run after it is unknown."""
    return next((f"{case.crash} in {case.name}" for case in cases if case.crash), "")
