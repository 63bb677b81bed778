"""Verdicts of a few reports by test, for pages about a run: two queries, however many tests and reports."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Flags, Ints
from ingest.models import Test
from ingest.pgcopy import copied_rows
from ingest.vectors import RETRIED, decode_durations, decode_members, verdicts_of
from ingest.verdict import Verdict

_REPORTS = "SELECT id, roster_id, verdicts, durations FROM ingest_report WHERE id = ANY(%(ids)s)"
_VERDICTS = "SELECT id, roster_id, verdicts, ''::bytea FROM ingest_report WHERE id = ANY(%(ids)s)"
_ROSTERS = "SELECT id, form::bigint, base::bigint, members FROM ingest_roster WHERE id = ANY(%(ids)s)"


@dataclass(frozen=True, slots=True)
class Vectors:
    """What one report says, by row."""

    stored: Ints
    """The number that each row's test has in the report."""
    numbers: Ints
    """The number that it has now: a renamed test is one with what it was called before."""
    bytes: npt.NDArray[np.uint8]
    durations: npt.NDArray[np.uint8]

    @property
    def verdicts(self) -> npt.NDArray[np.uint8]:
        return verdicts_of(self.bytes)

    @property
    def failing(self) -> Flags:
        verdicts = self.verdicts
        return np.asarray((verdicts == Verdict.FAIL) | (verdicts == Verdict.ERROR))

    def retried(self, row: int) -> bool:
        return bool(self.bytes[row] & RETRIED)

    def seconds(self, row: int) -> float | None:
        value = float(decode_durations(self.durations[2 * row : 2 * row + 2].tobytes())[0])
        return None if np.isnan(value) else value


class Renames:
    """By number: what a test is called now."""

    def __init__(self, project_id: int) -> None:
        renamed = Test.objects.filter(project_id=project_id, alias_of__isnull=False).order_by("number")
        pairs = np.array(list(renamed.values_list("number", "alias_of__number")), dtype=np.int64).reshape(-1, 2)
        self._old, self._new = pairs[:, 0], pairs[:, 1]

    def now(self, numbers: Ints) -> Ints:
        if not len(self._old):
            return numbers
        at = np.minimum(np.searchsorted(self._old, numbers), len(self._old) - 1)
        return np.where(self._old[at] == numbers, self._new[at], numbers)


def report_vectors(ids: Collection[int], renames: Renames, *, durations: bool = True) -> Mapping[int, Vectors]:
    """By report id; of one that was deleted there is none. Durations are two thirds of what is read: ask if needed."""
    if not ids:
        return {}
    found = list(copied_rows(_REPORTS if durations else _VERDICTS, {"ids": list(ids)}, "iibb"))
    members = roster_members({row[1] for row in found}, renames)
    return {
        report: Vectors(*members[roster], np.frombuffer(verdicts, np.uint8), np.frombuffer(seconds, np.uint8))
        for report, roster, verdicts, seconds in found
    }


def roster_members(ids: Collection[int], renames: Renames) -> dict[int, tuple[Ints, Ints]]:
    """By roster id: its tests' numbers as they are stored, and as they are called now."""
    members = {}
    for roster, form, base, stored in copied_rows(_ROSTERS, {"ids": list(ids)}, "iiib") if ids else ():
        numbers = decode_members(form, base, stored).astype(np.int64)
        members[roster] = (numbers, renames.now(numbers))
    return members
