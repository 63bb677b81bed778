"""The tests of an experiment out of its journal: their names, files and lines."""

from __future__ import annotations

from typing import Any, NamedTuple

from flakeboard.detection.execution.records import Collection
from flakeboard.detection.journal import Journal
from flakeboard.detection.reference import stable_ids


class Roster(NamedTuple):
    names: list[str]
    places: dict[str, list[Any]]
    """Name -> file, line and names of fixtures."""


def roster_of(journal: Journal) -> Roster | None:
    """None if the experiment ended before its tests were known."""
    found = [Collection(**entry["collection"]) for entry in journal.entries if entry["kind"] == "collection"]
    if len(found) < 2:
        return None
    names, _ = stable_ids(found[0], found[1].ids)
    return Roster(names, found[0].tests)
