"""A quarantined test that fails is shown as an expected failure. A crash never is: only what a test itself raised."""

from __future__ import annotations

from typing import Any

import pytest

from flakeboard.plugin.recording import failure_of


def is_masked(call: Any, report: Any) -> bool:
    """Whether this failure is one that a quarantine is for: raised by the test's own code, and not a way to stop."""
    if report.when != "call" or report.outcome != "failed" or call.excinfo is None:
        return False
    value = call.excinfo.value
    if isinstance(value, MemoryError):
        return False
    return isinstance(value, (Exception, pytest.fail.Exception))


def mask(report: Any, reason: str) -> None:
    """Make it an expected failure, and keep what it was for our own report: what is sent is the truth."""
    failure = failure_of(report)
    report.flakeboard_failure = [failure.type, failure.message, failure.text]
    report.outcome = "skipped"
    report.wasxfail = "quarantined" + (": " + reason if reason else "")
