"""The reports of a run: files that match the patterns and are new, and those that our pytest plugin wrote instead.

The plugin leaves a note for each session: where its report is, which of pytest's own reports it replaces (there,
masked failures are skips and reruns are lost), and whether the session stopped early."""

from __future__ import annotations

import glob
import json
import os
from dataclasses import dataclass, field
from typing import Any, Sequence

from flakeboard.reports.freshness import Snapshot

NOTES_FOLDER = "FLAKEBOARD_RUN_NOTES"
"""The environment variable that tells the plugin where to leave its note."""


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


@dataclass(frozen=True)
class _Note:
    reports: list[str] = field(default_factory=list)
    replaces: list[str] = field(default_factory=list)
    truncated: str = ""


class ReportCollection:
    """Remembers the files that exist before a command runs, and finds the new ones afterwards."""

    def __init__(self, patterns: Sequence[str], started: float, notes: str) -> None:
        self._before = Snapshot(patterns, started)
        self._notes = notes
        self._old_notes = set(_paths(notes))

    def collected(self) -> CollectedReports:
        matched = self._before.after()
        notes = [_note(path) for path in _paths(self._notes) if path not in self._old_notes]
        notes = [note for note in notes if note.reports and all(map(os.path.isfile, note.reports))]
        replaced = {os.path.realpath(path) for note in notes for path in (*note.replaces, *note.reports)}
        own = [path for note in notes for path in note.reports]
        others = [path for path in matched.fresh if os.path.realpath(path) not in replaced]
        truncated = next((note.truncated for note in notes if note.truncated), "")
        return CollectedReports([*others, *own], matched.stale, matched.missing, truncated, bool(own) and not others)


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
    return _Note(_texts(note.get("reports")), _texts(note.get("replaces")), str(note.get("truncated") or ""))


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
