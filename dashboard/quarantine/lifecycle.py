"""The life of flaky tests: how many turned flaky, were fixed, came back or were deleted, and how long that took.

A test's life begins with its first quarantine that was not rejected and goes on to its newest one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import numpy as np
from django.utils import timezone

from analytics.kernel.causes.onset_changes import FileGroup, OnsetChange, onset_shares
from analytics.kernel.lifecycle import GONE_AFTER, Share, TimeToFix, share_of, time_to_fix
from analytics.lab.models import ExperimentFinding
from analytics.models import Analysis, TestFinding
from analytics.reach.onset_findings import stored_changes
from analytics.selectors import current_tests
from dashboard.quarantine.fix_places import PlaceShares, place_shares, places_of
from dashboard.quarantine.fixes import FixVerdict, fixes_of
from dashboard.quarantine.models import Member, Quarantine, QuarantineEvent
from dashboard.quarantine.selectors import members_of
from dashboard.quarantine.states import LIVE, Action, State
from ingest.models import Project, Report

_DAY = timedelta(days=1)


class Outcome(StrEnum):
    """How a life stands now."""

    OPEN = "open"
    FIXED = "fixed"
    """Said to be, and not refuted since."""
    RELEASED = "released"
    """Clean long enough, or let go: nobody said why."""
    EXPIRED = "expired"
    GONE = "deleted or disabled"
    """Absent or skipped in the last whole runs: that is not fixed."""


@dataclass(frozen=True, slots=True)
class Life:
    number: int
    found_at: datetime
    outcome: Outcome
    ended_at: datetime | None
    """Null while it is open."""
    fixes: Sequence[datetime] = ()
    """Each time that somebody said so."""
    came_back: Sequence[datetime] = ()
    """Each time that it turned out not to be one."""
    confirmed: bool = False
    quarantine: int = 0
    """Its newest."""


@dataclass(frozen=True, slots=True)
class Period:
    """A month, or all of it. Shares have their whole and their interval."""

    month: str
    """As in 2026-01; empty for the whole."""
    masked_runs: Share
    """Failed runs in which a failure of a flaky test was masked."""
    masked_failures: Share
    turned_flaky: Share
    """Tests that flaked for the first time, of all tests."""
    found: int
    """Lives that began."""
    fixed: Share
    """Of all lives that had begun by its end, those that were fixed in it."""
    came_back: Share
    """Of all fixes that were claimed by its end, those refuted in it."""
    gone: Share | None
    """Of all lives; null for a month, since nobody knows when a test went."""
    time: TimeToFix
    """Of lives that ended in it, and for the whole of all."""
    places: PlaceShares
    """Where the fixes are; a quarantine of several tests is one."""
    reproduced: Share
    """Experiments on one test in which it failed."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    whole: Period
    months: Sequence[Period]
    lives: Sequence[Life] = ()
    onset_changes: Mapping[FileGroup, Share] = field(default_factory=dict)
    """Of the window's flaky tests: what changed when they became so, where that is known."""


def lifecycle_of(project: Project, *, now: datetime | None = None) -> Lifecycle:
    """A project's lifecycle: quarantines and experiments as far back as they are kept, runs of the analysis window."""
    now = now or timezone.now()
    analysis, columns = current_tests(project.pk)
    tests = int(np.count_nonzero(columns["executed"] > 0)) if len(columns) else 0
    known = set(columns["number"].tolist()) if len(columns) else set()
    lives = _lives(project.pk, _gone(analysis, known, project.pk))
    turned, onsets = _turned_flaky(analysis)
    masked = {row["month"]: row for row in (analysis.summary.get("masked_by_month", []) if analysis else [])}
    experiments = _experiments(project.pk)
    everything = _Facts(lives, turned, masked, experiments, places_of(project.pk), tests, now)
    months = [everything.period(month) for month in everything.months]
    return Lifecycle(everything.period(""), months, lives, onset_shares(onsets))


# -- lives -------------------------------------------------------------------------------------------------------


def _lives(project_id: int, gone: set[int]) -> list[Life]:
    members = Member.objects.filter(quarantine__project_id=project_id).exclude(quarantine__state=State.REJECTED)
    by_test: dict[int, list[Quarantine]] = {}
    for member in members.select_related("quarantine", "test", "test__alias_of").order_by("quarantine_id"):
        by_test.setdefault((member.test.alias_of or member.test).number, []).append(member.quarantine)
    events, refuted = _events(project_id), _refuted(project_id)
    return [_life(number, rows, events, refuted, number in gone) for number, rows in sorted(by_test.items())]


def _refuted(project_id: int) -> dict[int, datetime]:
    """By quarantine that still counts as fixed: since when it is refuted all the same, where no policy reopened it."""
    fixed = list(Quarantine.objects.filter(project_id=project_id, state=State.FIXED))
    found = fixes_of(fixed, members_of(fixed))
    return {pk: fix.decided_at for pk, fix in found.items() if fix.verdict is FixVerdict.REFUTED and fix.decided_at}


def _events(project_id: int) -> dict[int, list[QuarantineEvent]]:
    chosen = (Action.FIX, Action.CONFIRM, Action.REOPEN)
    rows = QuarantineEvent.objects.filter(quarantine__project_id=project_id, action__in=chosen)
    by_quarantine: dict[int, list[QuarantineEvent]] = {}
    for event in rows.order_by("version"):
        by_quarantine.setdefault(event.quarantine_id, []).append(event)
    return by_quarantine


def _life(
    number: int,
    rows: Sequence[Quarantine],
    events: Mapping[int, list[QuarantineEvent]],
    refuted: Mapping[int, datetime],
    gone: bool,
) -> Life:
    """A new quarantine after a fix refutes it as reopening does, and as a contradiction does."""
    fixes: list[datetime] = []
    came_back: list[datetime] = []
    confirmed = fixed = False
    for row in rows:
        if fixed:
            came_back.append(row.created_at)
        fixed = confirmed = False
        for event in events.get(row.pk, ()):
            if event.action == Action.FIX:
                fixes.append(event.at)
                confirmed = False
            elif event.action == Action.CONFIRM:
                confirmed = True
            elif event.before.get("state") == State.FIXED:
                came_back.append(event.at)
                confirmed = False
        if row.pk in refuted:
            came_back.append(refuted[row.pk])
            confirmed = False
        fixed = row.state == State.FIXED and row.pk not in refuted
    newest = rows[-1]
    is_open = newest.state in LIVE or newest.pk in refuted
    outcome = Outcome.OPEN if is_open else Outcome(newest.state)
    if gone and not confirmed:
        outcome = Outcome.GONE
    ended = None if outcome is Outcome.OPEN else newest.ended_at
    return Life(number, rows[0].created_at, outcome, ended, fixes, came_back, confirmed, newest.pk)


def _gone(analysis: Analysis | None, known: set[int], project_id: int) -> set[int]:
    """Numbers of the quarantined tests that the last whole runs did not execute; none with too few runs to tell."""
    if analysis is None or analysis.runs < GONE_AFTER:
        return set()
    absent = TestFinding.objects.filter(analysis=analysis, data__runs_without__gte=GONE_AFTER)
    members = Member.objects.filter(quarantine__project_id=project_id).select_related("test", "test__alias_of")
    quarantined = {(member.test.alias_of or member.test).number for member in members}
    return set(absent.values_list("number", flat=True)) | (quarantined - known)


# -- what else is counted ----------------------------------------------------------------------------------------


def _turned_flaky(analysis: Analysis | None) -> tuple[list[datetime], list[list[OnsetChange]]]:
    """When each test of the window flaked first; and what changed then, of those of which it is known."""
    found = TestFinding.objects.filter(analysis=analysis, data__onset__first__isnull=False) if analysis else []
    rows = [row.data for row in found]
    first = [data["onset"]["first"] for data in rows]
    placed = dict(Report.objects.filter(pk__in=set(first)).values_list("pk", "placed_at"))
    onsets = [stored_changes(data["onset_changes"]) for data in rows if data.get("onset_changes")]
    return [placed[report] for report in first if report in placed], onsets


def _experiments(project_id: int) -> list[tuple[datetime, bool]]:
    """When each experiment on one test began that tried to make it fail, and whether it did."""
    kinds = (ExperimentFinding.Kind.WHY, ExperimentFinding.Kind.VERIFY)
    rows = ExperimentFinding.objects.filter(project_id=project_id, kind__in=kinds).select_related("experiment")
    return [(row.experiment.began_at, _is_reproduced(row.data)) for row in rows]


def _is_reproduced(data: Mapping[str, Any]) -> bool:
    outcome = data.get("outcome")
    return bool(data.get("is_reproduced")) or (isinstance(outcome, str) and outcome not in ("", "not reproduced"))


@dataclass(frozen=True, slots=True)
class _Facts:
    """Everything that periods are counted from."""

    lives: Sequence[Life]
    turned: Sequence[datetime]
    masked: Mapping[str, Mapping[str, Any]]
    experiments: Sequence[tuple[datetime, bool]]
    places: Mapping[int, str | None]
    """By quarantine: where its fix is."""
    tests: int
    now: datetime

    @property
    def months(self) -> list[str]:
        """Newest first."""
        moments = [
            *(life.found_at for life in self.lives),
            *(at for life in self.lives for at in (*life.fixes, *life.came_back)),
            *self.turned,
            *(at for at, _ in self.experiments),
        ]
        return sorted({_month(at) for at in moments} | set(self.masked), reverse=True)

    def period(self, month: str) -> Period:
        def inside(moments: Iterable[datetime]) -> int:
            return sum(not month or _month(at) == month for at in moments)

        def by_its_end(moments: Iterable[datetime]) -> int:
            return sum(not month or _month(at) <= month for at in moments)

        masked = [row for name, row in self.masked.items() if not month or name == month]
        counts = {
            name: sum(int(row[name]) for row in masked)
            for name in ("masked_runs", "failed_runs", "masked_failures", "failures")
        }
        fixed = [life for life in self.lives if life.outcome is Outcome.FIXED and life.ended_at is not None]
        tried = [ok for at, ok in self.experiments if not month or _month(at) == month]
        return Period(
            month=month,
            masked_runs=share_of(counts["masked_runs"], counts["failed_runs"]),
            masked_failures=share_of(counts["masked_failures"], counts["failures"]),
            turned_flaky=_share(inside(self.turned), self.tests),
            found=inside(life.found_at for life in self.lives),
            fixed=_share(
                inside(life.ended_at for life in fixed if life.ended_at is not None),
                by_its_end(life.found_at for life in self.lives),
            ),
            came_back=_share(
                inside(at for life in self.lives for at in life.came_back),
                by_its_end(at for life in self.lives for at in life.fixes),
            ),
            gone=None if month else _share(sum(life.outcome is Outcome.GONE for life in self.lives), len(self.lives)),
            time=self._time(month),
            places=place_shares([self.places.get(pk) for pk in self._fixed_in(fixed, month)]),
            reproduced=_share(sum(tried), len(tried)),
        )

    def _fixed_in(self, fixed: Iterable[Life], month: str) -> list[int]:
        """Quarantines whose fix is of this month; any for the whole."""
        return list(
            {life.quarantine for life in fixed if life.ended_at and (not month or _month(life.ended_at) == month)}
        )

    def _time(self, month: str) -> TimeToFix:
        """Of a month: lives fixed in it, and those that were open at some time of it."""
        days, fixed = [], []
        for life in self.lives:
            end = min(life.ended_at or self.now, self.now)
            if month and (_month(life.found_at) > month or _month(end) < month):
                continue
            done = life.outcome is Outcome.FIXED and (not month or _month(end) == month)
            until = end if not month or _month(end) == month else _end_of(month)
            days.append(max((until - life.found_at) / _DAY, 0.0))
            fixed.append(done)
        return time_to_fix(np.array(days, dtype=np.float64), np.array(fixed, dtype=bool))


def _share(part: int, whole: int) -> Share:
    """A part that is counted otherwise than its whole can be larger, where old rows were let go."""
    return share_of(min(part, whole), whole)


def _month(at: datetime) -> str:
    return f"{at:%Y-%m}"


def _end_of(month: str) -> datetime:
    first = datetime.fromisoformat(f"{month}-01T00:00:00+00:00")
    return (first + timedelta(days=32)).replace(day=1)
