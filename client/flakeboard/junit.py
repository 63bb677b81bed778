"""What a report file says, as far as this client needs it: which tests there are, and how each ended."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Iterable

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_ENDED = frozenset({"failure", "error", "rerunFailure", "rerunError"})


@dataclass(frozen=True)
class Case:
    classname: str
    name: str
    file: str
    line: str
    suite: str
    outcome: str

    @property
    def key(self) -> tuple[str, str]:
        return self.classname, self.name


def read(paths: Iterable[str]) -> list[Case]:
    """The cases of all files; a file that cannot be read has none, which is for the server to tell."""
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
        tag = element.tag.rpartition("}")[2]
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
    return Case(
        get("classname") or get("class") or "",
        get("name") or "",
        get("file") or "",
        get("line") or "",
        suite,
        _outcome({child.tag.rpartition("}")[2] for child in element}),
    )


def _outcome(tags: set[str]) -> str:
    if tags & _ENDED:
        return FAILED
    return SKIPPED if "skipped" in tags else PASSED
