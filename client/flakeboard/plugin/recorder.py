"""Records a pytest session in order of execution, a sequence for each worker."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Any

PROPERTY = "flakeboard.value"
_WORKER_LINE = re.compile(r"\A\[gw[0-9]+\] [^\n]*\n")


@dataclass
class Failure:
    kind: str
    """`failure` in the test itself, `error` in its setup or teardown."""
    type: str
    message: str
    text: str


@dataclass
class Attempt:
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    skipped: str | None = None
    """The reason, if the test was skipped or failed as expected."""


@dataclass
class Test:
    node_id: str
    file: str
    line: int | None
    attempts: list[Attempt] = field(default_factory=lambda: [Attempt()])
    properties: list[tuple[str, str]] = field(default_factory=list)
    """Ours alone: those of the user stay in pytest's own report."""


@dataclass
class Sequence:
    """The tests that one process ran, in order."""

    started: float = field(default_factory=time.time)
    ended: float = 0.0
    tests: dict[str, Test] = field(default_factory=dict)
    errors: list[tuple[str, Failure]] = field(default_factory=list)
    """Failures outside of any test: the node and the failure."""


class Recorder:
    """Takes pytest's reports. Under xdist they arrive from all workers, from each in its own order."""

    def __init__(self) -> None:
        self.sequences: dict[str, Sequence] = {}
        """Worker -> its tests; without xdist the worker is empty."""

    def add(self, report: Any) -> None:
        """Add a phase of a test: setup, call or teardown."""
        sequence = self._sequence(worker_of(report))
        sequence.ended = time.time()
        test = self._test(sequence, report)
        test.properties = [(str(a), str(b)) for a, b in getattr(report, "user_properties", ()) if a == PROPERTY]
        attempt = test.attempts[-1]
        attempt.seconds += float(getattr(report, "duration", 0.0) or 0.0)
        hidden = getattr(report, "flakeboard_failure", None)
        if hidden:
            attempt.failures.append(Failure("failure", *hidden))
        elif report.outcome in ("failed", "rerun"):
            attempt.failures.append(failure_of(report))
        elif report.outcome == "skipped":
            attempt.skipped = _skip_reason(report)
        if report.outcome == "rerun":
            test.attempts.append(Attempt())

    def add_error(self, report: Any) -> None:
        """Add a file that could not be collected."""
        failure = failure_of(report, kind="error", message="collection failure")
        self._sequence(worker_of(report)).errors.append((report.nodeid, failure))

    def add_internal(self, text: str) -> None:
        self._sequence("").errors.append(("pytest::internal", Failure("error", "", "internal error", text)))

    def _sequence(self, worker: str) -> Sequence:
        return self.sequences.setdefault(worker, Sequence())

    def _test(self, sequence: Sequence, report: Any) -> Test:
        test = sequence.tests.get(report.nodeid)
        if test is None:
            file, line, _ = getattr(report, "location", None) or ("", None, "")
            test = sequence.tests[report.nodeid] = Test(report.nodeid, file or "", line)
        return test


def worker_of(report: Any) -> str:
    """`gw1`, or empty in a session without workers."""
    node = getattr(report, "node", None)
    return str(getattr(getattr(node, "gateway", None), "id", "") or getattr(report, "worker_id", "") or "")


def failure_of(report: Any, kind: str = "", message: str = "") -> Failure:
    """The failure of a report, without the line that names the worker."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = _WORKER_LINE.sub("", str(getattr(report, "longreprtext", "") or report.longrepr or ""))
    summary = message or str(getattr(crash, "message", "") or text.strip().partition("\n")[0])
    when = getattr(report, "when", "")
    if when == "teardown":
        summary = "failed on teardown with " + summary
    return Failure(kind or ("failure" if when == "call" else "error"), _type(summary), summary, text)


def _type(message: str) -> str:
    """`AssertionError` of `AssertionError: no`."""
    found = re.match(r"[A-Za-z_][\w.]*(?=:|\Z)", message)
    return found.group() if found else ""


def _skip_reason(report: Any) -> str:
    if getattr(report, "wasxfail", None) is not None:
        return str(report.wasxfail) or "xfail"
    longrepr = report.longrepr
    return str(longrepr[2]) if isinstance(longrepr, tuple) and len(longrepr) == 3 else ""
