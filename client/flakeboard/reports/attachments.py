"""Files to send beside reports: those that match a pattern, and those that failing tests of the reports name.

Whatever a report says, only files below the current folder are sent: tests write reports, and so may a stranger's."""

from __future__ import annotations

import glob
import json
import os
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Sequence

from flakeboard.console import plain
from flakeboard.reports.junit import FAILURE_TAGS, tag_of

REPORTED = "reported"
"""In place of a pattern: the files that failing tests name."""
FILES = 200
LARGEST = 20_000_000
TOTAL = 100_000_000
"""What a server takes of one upload by default (LIMIT_ATTACHMENTS, LIMIT_ATTACHMENT_BYTES, LIMIT_ATTACHMENTS_BYTES)."""
_MARK = re.compile(r"\[\[ATTACHMENT\|([^\]\r\n]{1,2000})\]\]")
_FAILING = frozenset({"failed", "timedOut", "interrupted", "broken", "error"})
_LARGEST_JSON = 100_000_000
_DEEPEST = 40


@dataclass
class Attachments:
    """Paths with the names that they are sent by, and a line for each file that is left out."""

    files: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    _size: int = 0

    def add(self, path: str, name: str) -> None:
        real, here = os.path.realpath(path), os.path.realpath(os.curdir)
        if any(known == real for known, _ in self.files):
            return
        why = _why_left_out(real, here)
        size = 0 if why else os.path.getsize(real)
        if not why and len(self.files) >= FILES:
            why = f"more than {FILES} files"
        elif not why and self._size + size > TOTAL:
            why = f"more than {TOTAL // 1_000_000} MB together"
        if why:
            self.left_out.append(plain(f"{name}: {why}"))
        else:
            self.files.append((real, name))
            self._size += size


def _why_left_out(real: str, here: str) -> str:
    if not real.startswith(os.path.join(here, "")):
        return "outside the current folder"
    if not os.path.isfile(real):
        return "there is no such file"
    return f"larger than {LARGEST // 1_000_000} MB" if os.path.getsize(real) > LARGEST else ""


def find(wanted: Sequence[str], reports: Sequence[str]) -> Attachments:
    """The files that `--attach` asks for; those that tests name come first."""
    found = Attachments()
    if REPORTED in wanted:
        for report in reports:
            for name in _reported(report):
                found.add(_resolved(name, report), name)
    for pattern in wanted:
        if pattern != REPORTED:
            matched = _matching(pattern)
            for path in matched:
                found.add(path, os.path.relpath(path).replace(os.sep, "/"))
            if not matched:
                found.left_out.append(plain(f"{pattern} matched nothing"))
    return found


def _matching(pattern: str) -> list[str]:
    if os.path.isfile(pattern):
        return [pattern]
    if os.path.isdir(pattern):
        pattern = os.path.join(glob.escape(pattern), "**", "*")
    return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def _resolved(name: str, report: str) -> str:
    """A path as the report means it: from the current folder, or from where the report is."""
    path = name.replace("\\", os.sep)
    beside = os.path.join(os.path.dirname(report), path)
    return beside if not os.path.isfile(path) and os.path.isfile(beside) else path


# -- what reports name -------------------------------------------------------------------------------------------


def _reported(report: str) -> list[str]:
    """Names of files of failing tests, in the order of the report; none of a report that cannot be read."""
    try:
        with open(report, "rb") as file:
            is_json = file.read(64).lstrip().startswith(b"{")
        return list(dict.fromkeys(_of_json(report) if is_json else _of_junit(report)))
    except (ET.ParseError, OSError, ValueError, RecursionError):
        return []


def _of_junit(report: str) -> Iterator[str]:
    for _, element in ET.iterparse(report):  # noqa: S314 - the job's own file
        if tag_of(element) != "testcase":
            continue
        if any(tag_of(child) in FAILURE_TAGS for child in element):
            yield from _of_case(element)
        element.clear()


def _of_case(case: ET.Element) -> Iterator[str]:
    for element in case.iter():
        if tag_of(element) == "property" and element.get("name") == "attachment":
            yield element.get("value") or element.text or ""
        for found in _MARK.findall(element.text or ""):
            from html import unescape  # it has a large table

            yield unescape(found)


def _of_json(report: str) -> Iterable[str]:
    """Of Playwright's and CTRF's form: a result with a status and a list of attachments."""
    if os.path.getsize(report) > _LARGEST_JSON:
        return []
    with open(report, encoding="utf-8") as file:
        return _of_results(json.load(file), 0)


def _of_results(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _of_results(part, depth + 1)
    elif isinstance(value, dict):
        listed = value.get("attachments")
        if isinstance(listed, list) and value.get("status") in _FAILING:
            paths = (entry.get("path") for entry in listed if isinstance(entry, dict))
            yield from (path for path in paths if isinstance(path, str) and path)
        for part in value.values():
            if isinstance(part, (list, dict)):
                yield from _of_results(part, depth + 1)
