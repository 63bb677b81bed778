"""The reports of a run: files that match the patterns and are new, and those that our pytest plugin or reporters wrote.

The plugin leaves a note for each session: where its report is, which of pytest's own reports it replaces (there,
masked failures are skips and reruns are lost), and whether the session stopped early. Reporters of the npm package
leave one too; where nobody said which files are reports, theirs replace one that was guessed and counts the same."""

from __future__ import annotations

import glob
import json
import os
from dataclasses import dataclass, field
from typing import Any, Sequence

from flakeboard.plugin_names import NOTES_FOLDER as NOTES_FOLDER
from flakeboard.reports.freshness import Snapshot


@dataclass(frozen=True)
class CollectedReports:
    fresh: list[str]
    stale: list[str]
    missing: list[str]
    """Patterns that match no fresh file."""
    truncated: str = ""
    """Why a session with our plugin ended before its last test."""
    is_counted: bool = False
    """Our plugin counted the tests of every report's session."""
    traces: list[str] = field(default_factory=list)
    """Traces of tests, which are no reports and travel beside them."""
    reach: list[str] = field(default_factory=list)
    """Files in which our plugin says what each test used."""


@dataclass(frozen=True)
class _Note:
    reports: list[str] = field(default_factory=list)
    replaces: list[str] = field(default_factory=list)
    reporter: str = ""
    """The runner that one of our npm reporters was of; empty for the pytest plugin."""
    truncated: str = ""
    traces: list[str] = field(default_factory=list)
    reach: list[str] = field(default_factory=list)


class ReportCollection:
    """Remembers the files that exist before a command runs, and finds the new ones afterwards."""

    def __init__(self, patterns: Sequence[str], started: float, notes: str, guessed: bool = False) -> None:
        self._before = Snapshot(patterns, started)
        self._guessed = guessed
        self._notes = notes
        self._old_notes = set(_paths(notes))

    def collected(self) -> CollectedReports:
        matched = self._before.after()
        notes = [_note(path) for path in _paths(self._notes) if path not in self._old_notes]
        traces = [path for note in notes for path in note.traces if os.path.isfile(path)]
        reach = [path for note in notes for path in note.reach if os.path.isfile(path)]
        notes = [note for note in notes if note.reports and all(map(os.path.isfile, note.reports))]
        replaced = {os.path.realpath(path) for note in notes for path in (*note.replaces, *note.reports)}
        own = [path for note in notes for path in note.reports]
        others = [path for path in matched.fresh if os.path.realpath(path) not in replaced]
        reporters = [note for note in notes if note.reporter]
        if self._guessed and reporters and _counts(others) == _counts(own):
            others = []  # another reporter of the same session; anything else may hold failures of its own
        truncated = next((note.truncated for note in notes if note.truncated), "")
        is_counted = bool(own) and not others and not reporters
        return CollectedReports([*others, *own], matched.stale, matched.missing, truncated, is_counted, traces, reach)


def _counts(reports: Sequence[str]) -> tuple[int, int]:
    """Tests, and those that failed."""
    from flakeboard.reports import junit  # loaded when a report is read: collecting begins before the command

    cases = junit.read(reports)
    return len(cases), sum(case.outcome == junit.FAILED for case in cases)


def _paths(folder: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.json")))


def _note(path: str) -> _Note:
    try:
        with open(path, encoding="utf-8") as file:
            note = json.load(file)
    except (OSError, ValueError):
        return _Note()
    if not isinstance(note, dict):
        return _Note()
    truncated, traces, reach = str(note.get("truncated") or ""), _texts(note.get("traces")), _texts(note.get("reach"))
    reporter = str(note.get("reporter") or "")
    return _Note(_texts(note.get("reports")), _texts(note.get("replaces")), reporter, truncated, traces, reach)


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
