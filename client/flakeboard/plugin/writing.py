"""A recorded sequence as a JUnit file: the cases in their order of execution, the attempts of each inside it.

Names are those of pytest's own report: a test keeps its history when a project changes from one to the other."""

from __future__ import annotations

import os
import re
import socket
from datetime import datetime, timezone
from xml.sax.saxutils import escape, quoteattr

from flakeboard.plugin.recording import Attempt, Failure, Sequence, Test

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write(path: str, sequence: Sequence, worker: str, exit_status: int) -> None:
    """Write the file whole or not at all: half of a report is worse than none."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    partial = path + ".part"
    with open(partial, "w", encoding="utf-8", newline="\n") as file:
        file.write(document(sequence, worker, exit_status))
    os.replace(partial, path)


def document(sequence: Sequence, worker: str, exit_status: int) -> str:
    cases = [_error_case(*one) for one in sequence.errors] + [_case(test) for test in sequence.tests.values()]
    started = datetime.fromtimestamp(sequence.started, timezone.utc).isoformat()
    properties = {"flakeboard.order": "executed", "flakeboard.exit_status": str(int(exit_status))}
    if worker:
        properties["flakeboard.worker"] = worker
    head = _tag(
        "testsuite",
        name="pytest",
        tests=str(len(cases)),
        time=_seconds(max(sequence.ended - sequence.started, 0.0)),
        timestamp=started,
        hostname=socket.gethostname(),
    )
    told = [_tag("property", name=name, value=value, close=True) for name, value in properties.items()]
    parts = ['<?xml version="1.0" encoding="utf-8"?>', '<testsuites name="pytest tests">', head]
    return "\n".join([*parts, "<properties>", *told, "</properties>", *cases, "</testsuite>", "</testsuites>", ""])


def names_of(node_id: str) -> tuple[str, str]:
    """Class and name of a node id, as pytest's own report writes them."""
    path, bracket, parameters = node_id.partition("[")
    parts = path.split("::")
    parts[0] = re.sub(r"\.py\Z", "", parts[0].replace("/", "."))
    parts[-1] += bracket + parameters
    return ".".join(parts[:-1]), parts[-1]


def _case(test: Test) -> str:
    classname, name = names_of(test.node_id)
    where = {"file": test.file} if test.file else {}
    if test.line is not None:
        where["line"] = str(test.line + 1)
    last = test.attempts[-1]
    head = _tag("testcase", classname=classname, name=name, time=_seconds(last.seconds), **where)
    return head + "".join(_endings(test.attempts)) + "</testcase>"


def _endings(attempts: list[Attempt]) -> list[str]:
    """Attempts in Surefire's words, which say outright which is which: failed before a pass, or failed again."""
    *earlier, last = attempts
    if not last.failures:
        told = [_ending("flaky", failure, one.seconds) for one in earlier for failure in one.failures[:1]]
        return told + ([] if last.skipped is None else [_tag("skipped", message=last.skipped, close=True)])
    first, *again = attempts
    told = [_ending("", failure) for failure in first.failures]
    return told + [_ending("rerun", failure, one.seconds) for one in again for failure in one.failures[:1]]


def _ending(prefix: str, failure: Failure, seconds: float | None = None) -> str:
    tag = prefix + failure.kind.capitalize() if prefix else failure.kind
    time = {} if seconds is None else {"time": _seconds(seconds)}
    head = _tag(tag, message=failure.message, type=failure.type, **time)
    return f"{head}{escape(_legal(failure.text))}</{tag}>"


def _error_case(where: str, failure: Failure) -> str:
    classname, _, name = where.rpartition("::") if where.startswith("pytest::") else ("", "", where)
    return _tag("testcase", classname=classname, name=name, time="0.000") + _ending("", failure) + "</testcase>"


def _tag(tag: str, close: bool = False, **attributes: str) -> str:
    told = "".join(f" {name}={quoteattr(_legal(value))}" for name, value in attributes.items())
    return f"<{tag}{told}{'/' if close else ''}>"


def _legal(text: str) -> str:
    """Text without what XML forbids, as pytest writes it: #x00."""
    return _FORBIDDEN.sub(lambda found: f"#x{ord(found.group()):02X}", text)


def _seconds(seconds: float) -> str:
    return f"{seconds:.6f}"
