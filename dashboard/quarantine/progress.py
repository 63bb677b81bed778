"""How far quarantines are from their end: clean runs, and what they kept from blocking; so many queries for any number.

A byte a report is read of each test, within the time that its quarantine holds."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

import numpy as np
from django.db import connection
from django.utils import timezone

from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.scope import branch_name, covers
from ingest.models import REPORT_COUNTS, Project, Report, Roster, Run, Test
from ingest.vectors import RETRIED, Numbers, decode_members, verdict_of
from ingest.verdict import Verdict

Tests = Mapping[int, Sequence[Test]]
"""By quarantine: its tests."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Clean runs since it holds, of those that it takes to leave; and what it kept from blocking."""

    clean: int
    needed: int | None
    masked: int

    @property
    def enough(self) -> bool:
        return self.needed is not None and self.clean >= self.needed


@dataclass(frozen=True, slots=True)
class _TestResult:
    """What one report said of one test."""

    run: int
    verdict: Verdict
    retried: bool


@dataclass(frozen=True, slots=True)
class _TestSpan:
    """A test of a quarantine, by a number that reports know it by, and the time that is asked about."""

    quarantine: int
    test: int
    number: int
    since: datetime
    until: datetime


def progress_of(quarantine: Quarantine, tests: Sequence[Test]) -> Progress:
    return progresses([quarantine], {quarantine.pk: tests})[quarantine.pk]


def progresses(quarantines: Collection[Quarantine], tests: Tests) -> dict[int, Progress]:
    """Progress by quarantine, decided by its worst test, because a cluster is released as a whole."""
    now = timezone.now()
    seen = _seen(list(_test_spans(quarantines, tests, lambda held: (held.activated_at, held.ended_at or now))))
    inside = _scopes(quarantines, seen)
    progress_by_quarantine: dict[int, Progress] = {}
    for quarantine in quarantines:
        histories = [seen.get((quarantine.pk, test.pk), []) for test in tests.get(quarantine.pk, ())]
        failed = {each.run for history in histories for each in history if each.verdict.failing}
        clean = min((_clean(history) for history in histories), default=0)
        progress_by_quarantine[quarantine.pk] = Progress(
            clean, quarantine.needed, len(failed & inside[quarantine.pk] if quarantine.pk in inside else failed)
        )
    return progress_by_quarantine


def clean_since_end(quarantines: Collection[Quarantine], tests: Tests) -> dict[int, int]:
    """By quarantine that ended: clean runs of its worst test since then."""
    now = timezone.now()
    seen = _seen(list(_test_spans(quarantines, tests, lambda ended: (ended.ended_at, now))))
    return {
        quarantine.pk: min(
            (_clean(seen.get((quarantine.pk, test.pk), [])) for test in tests.get(quarantine.pk, ())), default=0
        )
        for quarantine in quarantines
    }


def _clean(history: Sequence[_TestResult]) -> int:
    """Count clean passes since the last failure; a pass after a retry is not clean."""
    ran = (result for result in history if result.verdict is not Verdict.SKIP)
    return sum(1 for _ in takewhile(lambda result: result.verdict is Verdict.PASS and not result.retried, ran))


# -- what reports said -------------------------------------------------------------------------------------------


def _test_spans(
    quarantines: Collection[Quarantine], tests: Tests, span: Callable[[Quarantine], tuple[datetime | None, datetime]]
) -> Iterator[_TestSpan]:
    """The span of each quarantined test, under every number it ever had; none where the span has no start."""
    every = {test.pk for quarantine in quarantines for test in tests.get(quarantine.pk, ())}
    older: dict[int, list[int]] = defaultdict(list)
    for alias_of, number in Test.objects.filter(alias_of__in=every).values_list("alias_of_id", "number"):
        older[alias_of].append(number)
    for quarantine in quarantines:
        since, until = span(quarantine)
        if since is None:
            continue
        for test in tests.get(quarantine.pk, ()):
            for number in (test.number, *older[test.pk]):
                yield _TestSpan(quarantine.pk, test.pk, number, since, until)


_BYTES = f"""
    SELECT asked.place, report.run_id, get_byte(substring(report.verdicts FROM asked.position + 1 FOR 1), 0)
    FROM unnest(%(places)s::int[], %(rosters)s::bigint[], %(positions)s::int[], %(since)s::timestamptz[],
                %(until)s::timestamptz[]) AS asked(place, roster_id, position, since, until)
    JOIN ingest_report AS report
      ON report.roster_id = asked.roster_id AND report.placed_at BETWEEN asked.since AND asked.until
     AND {REPORT_COUNTS}
    ORDER BY report.placed_at DESC, report.id DESC
"""  # noqa: S608 - our own words


def _seen(spans: Sequence[_TestSpan]) -> dict[tuple[int, int], list[_TestResult]]:
    """Results by quarantine and test from the time the quarantine was active, newest first."""
    places = list(_places(spans))
    found: dict[tuple[int, int], list[_TestResult]] = defaultdict(list)
    if not places:
        return found
    columns = {
        "places": [place for place, _, _ in places],
        "rosters": [roster for _, roster, _ in places],
        "positions": [position for _, _, position in places],
        "since": [spans[place].since for place, _, _ in places],
        "until": [spans[place].until for place, _, _ in places],
    }
    with connection.cursor() as cursor:
        cursor.execute(_BYTES, columns)
        for place, run, byte in cursor.fetchall():
            span = spans[place]
            found[span.quarantine, span.test].append(_TestResult(run, verdict_of(byte), bool(byte & RETRIED)))
    return found


def _places(spans: Sequence[_TestSpan]) -> Iterator[tuple[int, int, int]]:
    """Which of the asked, in which roster, at which row; of the rosters that had a report in their time."""
    if not spans:
        return
    project = Quarantine.objects.filter(pk=spans[0].quarantine).values("project_id")
    first, last = min(span.since for span in spans), max(span.until for span in spans)
    recent = Report.counted.filter(project_id__in=project, placed_at__gte=first, placed_at__lte=last)
    numbers = np.array([span.number for span in spans])
    for roster, form, base, members in Roster.objects.filter(pk__in=recent.values("roster_id")).values_list(
        "pk", "form", "base", "members"
    ):
        for place, row in _rows(decode_members(form, base, members), numbers):
            yield place, roster, row


def _rows(members: Numbers, numbers: "np.ndarray") -> Iterator[tuple[int, int]]:
    at = np.minimum(np.searchsorted(members, numbers), max(len(members) - 1, 0))
    inside = np.flatnonzero(members[at] == numbers) if len(members) else np.zeros(0, dtype=np.int64)
    return zip(inside.tolist(), at[inside].tolist(), strict=True)


# -- scope -------------------------------------------------------------------------------------------------------


def _scopes(
    quarantines: Collection[Quarantine], seen: Mapping[tuple[int, int], Sequence[_TestResult]]
) -> dict[int, set[int]]:
    """Failed runs within scope, for each quarantine that has a scope."""
    narrow = {quarantine.pk: quarantine for quarantine in quarantines if quarantine.branches or quarantine.environments}
    failed: dict[int, set[int]] = {pk: set() for pk in narrow}
    for (quarantine, _), history in seen.items():
        if quarantine in narrow:
            failed[quarantine] |= {result.run for result in history if result.verdict.failing}
    runs = Run.objects.filter(pk__in=set().union(*failed.values())) if narrow else Run.objects.none()
    known = {run.pk: run for run in runs.select_related("project")}
    return {
        pk: {run for run in failed[pk] if run in known and is_within(quarantine, known[run].project, known[run])}
        for pk, quarantine in narrow.items()
    }


def is_within(quarantine: Quarantine, project: Project, run: Run) -> bool:
    """Whether a run is in a quarantine's scope."""
    branch = branch_name(run.branch, run.pull_request, project.default_branch, untrusted=run.untrusted)
    return covers(quarantine.branches, quarantine.environments, branch, run.environment)
