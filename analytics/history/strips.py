"""The last executions of the tests on a page, from the newest reports: two queries, however many tests."""

from collections.abc import Sequence

import numpy as np

from ingest.models import Report, Roster
from ingest.vectors import decode_members, verdicts_of
from ingest.verdict import Verdict

REPORTS_READ = 40
STRIP_LENGTH = 20


def strips(project_id: int, numbers: Sequence[int]) -> dict[int, tuple[bool | None, ...]]:
    """Test -> its last executions in the newest reports, oldest first: True passed, False failed, None skipped."""
    if not numbers:
        return {}
    tests = np.array(sorted(numbers))
    newest = Report.counted.filter(project_id=project_id).order_by("-placed_at", "-pk")
    reports = list(newest.values_list("roster_id", "verdicts")[:REPORTS_READ])
    places = _places({roster for roster, _ in reports}, tests)
    seen: dict[int, list[bool | None]] = {number: [] for number in tests.tolist()}
    for roster, vector in reports:
        inside, at = places[roster]
        verdicts = verdicts_of(np.frombuffer(vector, dtype=np.uint8)[at])
        for number, verdict in zip(tests[inside].tolist(), verdicts.tolist(), strict=True):
            if len(seen[number]) < STRIP_LENGTH:
                seen[number].append(_MEANS[verdict])
    return {number: tuple(reversed(verdicts)) for number, verdicts in seen.items()}


_MEANS = {Verdict.PASS: True, Verdict.FAIL: False, Verdict.ERROR: False, Verdict.SKIP: None}


def _places(rosters: set[int], tests: "np.ndarray") -> dict[int, tuple["np.ndarray", "np.ndarray"]]:
    """Roster -> which of the tests it holds, and the rows of those."""
    found = Roster.objects.filter(pk__in=rosters).values_list("pk", "form", "base", "members")
    return {roster: _within(decode_members(form, base, members), tests) for roster, form, base, members in found}


def _within(members: "np.ndarray", tests: "np.ndarray") -> tuple["np.ndarray", "np.ndarray"]:
    inside = np.isin(tests, members, assume_unique=True)
    return inside, np.searchsorted(members, tests[inside])
