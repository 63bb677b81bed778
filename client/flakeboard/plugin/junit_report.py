"""A recorded sequence as a JUnit file: the cases in order of execution, each with its attempts.

Names are those of pytest's own report, so that a test keeps its history if a project switches between the two."""

from __future__ import annotations

import os
import re
import socket
from datetime import datetime, timezone
from typing import Mapping
from xml.sax.saxutils import escape, quoteattr

from flakeboard.node_names import names_of
from flakeboard.plugin.recorder import Attempt, Failure, Sequence, Test

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write(
    path: str,
    sequence: Sequence,
    worker: str,
    exit_status: int,
    truncated: str = "",
    more: Mapping[str, str] | None = None,
) -> None:
    """Write the whole file or none: half a report is worse than none."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    partial = path + ".part"
    with open(partial, "w", encoding="utf-8", newline="\n") as file:
        file.write(document(sequence, worker, exit_status, truncated, more))
    os.replace(partial, path)


def document(
    sequence: Sequence, worker: str, exit_status: int, truncated: str = "", more: Mapping[str, str] | None = None
) -> str:
    """The file's text; `more` are further properties of its suite."""
    cases = [_error_case(*error) for error in sequence.errors] + [_case(test) for test in sequence.tests.values()]
    started = datetime.fromtimestamp(sequence.started, timezone.utc).isoformat()
    properties = {"flakeboard.order": "executed", "flakeboard.exit_status": str(int(exit_status))}
    if worker:
        properties["flakeboard.worker"] = worker
    if truncated:
        properties["flakeboard.truncated"] = truncated
    properties.update(more or {})
    head = _tag(
        "testsuite",
        name="pytest",
        tests=str(len(cases)),
        time=_seconds(max(sequence.ended - sequence.started, 0.0)),
        timestamp=started,
        hostname=socket.gethostname(),
    )
    tags = [_tag("property", name=name, value=value, close=True) for name, value in properties.items()]
    start = ['<?xml version="1.0" encoding="utf-8"?>', '<testsuites name="pytest tests">', head]
    return "\n".join([*start, "<properties>", *tags, "</properties>", *cases, "</testsuite>", "</testsuites>", ""])


def _case(test: Test) -> str:
    classname, name = names_of(test.node_id)
    where = {"file": test.file} if test.file else {}
    if test.line is not None:
        where["line"] = str(test.line + 1)
    last = test.attempts[-1]
    head = _tag("testcase", classname=classname, name=name, time=_seconds(last.seconds), **where)
    return head + _properties(test) + "".join(_endings(test.attempts)) + "</testcase>"


def _properties(test: Test) -> str:
    tags = [_tag("property", name=name, value=value, close=True) for name, value in test.properties]
    return f"<properties>{''.join(tags)}</properties>" if tags else ""


def _endings(attempts: list[Attempt]) -> list[str]:
    """Attempts as Surefire writes them: its elements tell a failure before a pass from a failed rerun."""
    *earlier, last = attempts
    if not last.failures:
        skipped = [] if last.skipped is None else [_tag("skipped", message=last.skipped, close=True)]
        return _failed_attempts("flaky", earlier) + skipped
    first, *later = attempts
    return [_ending("", failure) for failure in first.failures] + _failed_attempts("rerun", later)


def _failed_attempts(prefix: str, attempts: list[Attempt]) -> list[str]:
    return [_ending(prefix, failure, attempt.seconds) for attempt in attempts for failure in attempt.failures[:1]]


def _ending(prefix: str, failure: Failure, seconds: float | None = None) -> str:
    tag = prefix + failure.kind.capitalize() if prefix else failure.kind
    time = {} if seconds is None else {"time": _seconds(seconds)}
    head = _tag(tag, message=failure.message, type=failure.type, **time)
    return f"{head}{escape(_legal(failure.text))}</{tag}>"


def _error_case(where: str, failure: Failure) -> str:
    classname, _, name = where.rpartition("::") if where.startswith("pytest::") else ("", "", where)
    return _tag("testcase", classname=classname, name=name, time="0.000") + _ending("", failure) + "</testcase>"


def _tag(tag: str, close: bool = False, **attributes: str) -> str:
    pairs = "".join(f" {name}={quoteattr(_legal(value))}" for name, value in attributes.items())
    return f"<{tag}{pairs}{'/' if close else ''}>"


def _legal(text: str) -> str:
    """Replace characters that XML forbids, as pytest does: #x00."""
    return _FORBIDDEN.sub(lambda found: f"#x{ord(found.group()):02X}", text)


def _seconds(seconds: float) -> str:
    return f"{seconds:.6f}"
