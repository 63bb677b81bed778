"""Quarantines as lists show them: with their tests, how far each is, and what is to be done about it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.utils import timezone

from analytics.columns.codec import Columns
from analytics.models import Analysis
from analytics.wording import pace
from dashboard.quarantine.fixes import Fix, fixes_of
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.progress import Progress, progresses
from dashboard.quarantine.selectors import SOON, members_of
from dashboard.quarantine.states import Action, State, possible
from ingest.models import Test

BY_PEOPLE = (
    *(Action.APPROVE, Action.REJECT, Action.EXTEND, Action.RELEASE),
    *(Action.FIX, Action.CHANGE, Action.REOPEN),
)


@dataclass(frozen=True, slots=True)
class Row:
    quarantine: Quarantine
    tests: Sequence[Test]
    progress: Progress
    now: datetime
    fix: Fix | None = None
    """Of one that is fixed: whether that is claimed, confirmed or refuted."""

    @property
    def is_active(self) -> bool:
        return self.quarantine.state == State.ACTIVE

    @property
    def days_left(self) -> int:
        return max(ceil((self.quarantine.expires_at - self.now) / timedelta(days=1)), 0)

    @property
    def soon(self) -> bool:
        return self.is_active and self.quarantine.expires_at <= self.now + SOON

    @property
    def ready(self) -> bool:
        """Clean for as long as it takes; what is not run proves nothing."""
        return self.is_active and self.quarantine.mode == Quarantine.Mode.MUTE and self.progress.enough

    @property
    def days(self) -> int | None:
        """How long it holds, or held."""
        since = self.quarantine.activated_at
        return None if since is None else ((self.quarantine.ended_at or self.now) - since).days

    @property
    def scope(self) -> list[str]:
        return scope_words(self.quarantine)

    @property
    def name(self) -> str:
        first = self.tests[0].name if self.tests else "no test"
        return first if len(self.tests) < 2 else f"{first} and {len(self.tests) - 1} more"

    @property
    def actions(self) -> list[Action]:
        return actions_of(self.quarantine)


def waits(rows: Iterable[Row], analysis: Analysis | None, columns: Columns) -> dict[int, str]:
    """By quarantine that is not over: about how long the clean runs that it still needs take, at the window's pace of
    its least executed test."""
    if analysis is None or analysis.since is None or analysis.until is None:
        return {}
    days = (analysis.until - analysis.since) / timedelta(days=1)
    return {
        row.quarantine.pk: pace(row.progress.needed - row.progress.clean, _executed(row.tests, columns), days)
        for row in rows
        if row.quarantine.is_live and row.progress.needed is not None and not row.progress.enough
    }


def _executed(tests: Iterable[Test], columns: Columns) -> int:
    """Runs of the window that executed the least executed of these."""
    places = [columns.row(test.number) for test in tests]
    return min((0 if place is None else int(columns["executed"][place]) for place in places), default=0)


def actions_of(quarantine: Quarantine) -> list[Action]:
    """What people can do to it now, in the order of the buttons."""
    allowed = possible(State(quarantine.state))
    return [action for action in BY_PEOPLE if action in allowed]


def scope_words(quarantine: Quarantine) -> list[str]:
    """Where it holds; nothing for everywhere."""
    places = [f"{name}={_values(values)}" for name, values in quarantine.environments.items()]
    return [*quarantine.branches, *places]


def _values(values: str | Sequence[str]) -> str:
    return values if isinstance(values, str) else " or ".join(values)


def told(quarantines: Collection[Quarantine]) -> dict[int, Row]:
    """By id; six queries, however many, and as many more where some are fixed."""
    now, tests = timezone.now(), members_of(quarantines)
    far: Mapping[int, Progress] = progresses(quarantines, tests)
    fixed = [quarantine for quarantine in quarantines if quarantine.state == State.FIXED]
    fixes = fixes_of(fixed, tests) if fixed else {}
    return {
        quarantine.pk: Row(quarantine, tests.get(quarantine.pk, []), far[quarantine.pk], now, fixes.get(quarantine.pk))
        for quarantine in quarantines
    }
