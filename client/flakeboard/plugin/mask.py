"""Shows the failure of a quarantined test as an expected failure. Only exceptions of the test itself, never a crash."""

from __future__ import annotations

from typing import Any

import pytest

from flakeboard.plugin.recorder import failure_of


def is_masked(call: Any, report: Any) -> bool:
    """Whether a quarantine may mask this failure: raised by the test's own code, and not to stop the session."""
    if report.when != "call" or report.outcome != "failed" or call.excinfo is None:
        return False
    value = call.excinfo.value
    if isinstance(value, MemoryError):
        return False
    return isinstance(value, (Exception, pytest.fail.Exception))


def mask(report: Any, reason: str) -> None:
    """Make the report an expected failure, and keep the real failure for the report that we upload."""
    failure = failure_of(report)
    report.flakeboard_failure = [failure.type, failure.message, failure.text]
    report.outcome = "skipped"
    report.wasxfail = "quarantined" + (": " + reason if reason else "")
