"""The reports of a run: files that match the patterns and are new, and those that our pytest plugin wrote instead.

The plugin leaves a note for each session: where its report is, which of pytest's own reports it replaces (there,
masked failures are skips and reruns are lost), and whether the session stopped early."""

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
    truncated: str = ""
    traces: list[str] = field(default_factory=list)
    reach: list[str] = field(default_factory=list)


class ReportCollection:
    """Remembers the files that exist before a command runs, and finds the new ones afterwards."""

    def __init__(self, patterns: Sequence[str], started: float, notes: str) -> None:
        self._before = Snapshot(patterns, started)
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
        truncated = next((note.truncated for note in notes if note.truncated), "")
        is_counted = bool(own) and not others
        return CollectedReports([*others, *own], matched.stale, matched.missing, truncated, is_counted, traces, reach)


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
    return _Note(_texts(note.get("reports")), _texts(note.get("replaces")), truncated, traces, reach)


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
