"""Shows the failure of a quarantined test as an expected failure. Only exceptions of the test itself, never a crash."""

from __future__ import annotations

import errno
from typing import Any, Iterator

import pytest

from flakeboard.plugin.recorder import failure_of

_EXHAUSTED = frozenset({errno.ENOMEM, errno.ENOSPC, errno.EDQUOT})


def is_masked(call: Any, report: Any) -> bool:
    """Whether a quarantine may mask this failure: raised by the test's own code, and not to stop the session."""
    if report.when != "call" or report.outcome != "failed" or call.excinfo is None:
        return False
    value = call.excinfo.value
    return isinstance(value, (Exception, pytest.fail.Exception)) and not any(map(_is_exhaustion, _chain(value)))


def _is_exhaustion(error: BaseException) -> bool:
    """Whether the machine, and not the test, is out of memory or disk space."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _EXHAUSTED)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those behind it, as pytest prints them."""
    left: list[BaseException] = [error]
    seen: set[int] = set()
    while left:
        error = left.pop()
        if id(error) in seen:
            continue
        seen.add(id(error))
        yield error
        behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        left += [] if behind is None else [behind]
        left += getattr(error, "exceptions", ())  # of an exception group


def mask(report: Any, reason: str) -> None:
    """Make the report an expected failure, and keep the real failure for the report that we upload."""
    failure = failure_of(report)
    report.flakeboard_failure = [failure.type, failure.message, failure.text]
    report.outcome = "skipped"
    report.wasxfail = "quarantined" + (": " + reason if reason else "")
