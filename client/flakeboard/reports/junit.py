"""The part of a JUnit report that this client needs: its tests and how each ended."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Iterable

from flakeboard.reports.case import FAILED as FAILED
from flakeboard.reports.case import PASSED as PASSED
from flakeboard.reports.case import SKIPPED as SKIPPED
from flakeboard.reports.case import Case as Case
from flakeboard.reports.crashes import crash_in

_FAILURES = frozenset({"failure", "error", "rerunFailure", "rerunError"})
FAILURE_TAGS = _FAILURES | {"flakyFailure", "flakyError"}
"""What says that an execution failed, also before a final pass."""
_KEPT = 4_000
"""Characters kept at each end of a failure's text."""


def read(paths: Iterable[str]) -> list[Case]:
    """The cases of all files. An unreadable file has none: the server will report it."""
    return [case for path in paths for case in _readable(path)]


def _readable(path: str) -> list[Case]:
    try:
        return _read(path)
    except (ET.ParseError, OSError, ValueError):
        return []


def _read(path: str) -> list[Case]:
    cases: list[Case] = []
    suites: list[str] = []
    for event, element in ET.iterparse(path, events=("start", "end")):  # noqa: S314 - the job's own file
        tag = tag_of(element)
        if tag == "testsuite":
            if event == "start":
                suites.append(element.get("name", ""))
            else:
                suites.pop()
                element.clear()
        elif tag == "testcase" and event == "end":
            cases.append(_case(element, suites[-1] if suites else ""))
            element.clear()
    return cases


def _case(element: ET.Element, suite: str) -> Case:
    get = element.get
    text = _failure_text(element)
    return Case(
        get("classname") or get("class") or "",
        get("name") or "",
        get("file") or "",
        get("line") or "",
        suite,
        _outcome({tag_of(child) for child in element}),
        text if len(text) <= 2 * _KEPT else text[:_KEPT] + "\n" + text[-_KEPT:],
        crash_in(text),
    )


def _failure_text(element: ET.Element) -> str:
    """The message and text of each failure, including those before a final pass: a crash remains a crash."""
    failures = [child for child in element if tag_of(child) in FAILURE_TAGS]
    parts = [part for child in failures for part in (child.get("message") or "", *child.itertext())]
    return "\n".join(part for part in parts if part)


def tag_of(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _outcome(tags: set[str]) -> str:
    if tags & _FAILURES:
        return FAILED
    return SKIPPED if "skipped" in tags else PASSED
