"""Closed is not fixed: a fix is claimed, then confirmed by clean runs or refuted by the next contradiction."""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import OuterRef, Subquery

from analytics.lab.models import ExperimentFinding
from analytics.models import TestFinding
from analytics.selectors import current_analysis
from dashboard.quarantine.models import Quarantine, QuarantineEvent
from dashboard.quarantine.progress import Tests, clean_since_end
from dashboard.quarantine.selectors import members_of
from dashboard.quarantine.services import REFUSALS, Actor, quarantine_act
from dashboard.quarantine.states import Action, ActorKind, State
from ingest.models import Report, Test

logger = logging.getLogger(__name__)
CONFIRMATION = Actor(ActorKind.CLOCK, "confirmation")


class FixVerdict(StrEnum):
    CLAIMED = "claimed"
    """Somebody, or a closed ticket, says so."""
    CONFIRMED = "confirmed"
    """Clean since, for as many runs as it takes."""
    REFUTED = "refuted"
    """It passed and failed on the same code since."""


@dataclass(frozen=True, slots=True)
class Fix:
    """The last fix of a quarantine, and what became of it."""

    verdict: FixVerdict
    claimed_at: datetime
    decided_at: datetime | None
    """When it was confirmed or refuted; null while it is only claimed."""
    clean: int
    """Clean runs since it was claimed."""
    needed: int | None

    @property
    def is_open(self) -> bool:
        return self.verdict is FixVerdict.CLAIMED


def fixes_of(quarantines: Collection[Quarantine], tests: Tests) -> dict[int, Fix]:
    """By quarantine that was ever said to be fixed."""
    events = QuarantineEvent.objects.filter(
        quarantine__in=[quarantine.pk for quarantine in quarantines],
        action__in=(Action.FIX, Action.CONFIRM, Action.REOPEN),
    )
    by_quarantine: dict[int, list[QuarantineEvent]] = {}
    for event in events.order_by("version"):
        by_quarantine.setdefault(event.quarantine_id, []).append(event)
    fixed = [quarantine for quarantine in quarantines if quarantine.state == State.FIXED]
    clean, flaked = clean_since_end(fixed, tests), _flaked(fixed, tests)
    found = {
        quarantine.pk: _fix(quarantine, by_quarantine.get(quarantine.pk, []), clean.get(quarantine.pk, 0), flaked)
        for quarantine in quarantines
    }
    return {pk: fix for pk, fix in found.items() if fix is not None}


def _fix(
    quarantine: Quarantine, events: Iterable[QuarantineEvent], clean: int, flaked: dict[int, datetime]
) -> Fix | None:
    """By its events; where the policy does not reopen, a contradiction since refutes it all the same."""
    claimed: datetime | None = None
    verdict, decided = FixVerdict.CLAIMED, None
    for event in events:
        if event.action == Action.FIX:
            claimed, verdict, decided = event.at, FixVerdict.CLAIMED, None
        elif event.action == Action.CONFIRM:
            verdict, decided = FixVerdict.CONFIRMED, event.at
        elif claimed is not None and event.before.get("state") == State.FIXED:
            verdict, decided = FixVerdict.REFUTED, event.at
    if claimed is None:
        return None
    if quarantine.state == State.FIXED and quarantine.pk in flaked:
        verdict, decided = FixVerdict.REFUTED, flaked[quarantine.pk]
    return Fix(verdict, claimed, decided, clean, quarantine.needed)


def _flaked(fixed: Sequence[Quarantine], tests: Tests) -> dict[int, datetime]:
    """By quarantine of one project: the last contradiction or recovery of its tests, where it came after the fix."""
    if not fixed:
        return {}
    numbers = {test.number for quarantine in fixed for test in tests.get(quarantine.pk, ())}
    findings = TestFinding.objects.filter(
        analysis=current_analysis(fixed[0].project_id),
        number__in=numbers,
        data__onset__last__isnull=False,
    )
    last = dict(findings.values_list("number", "data__onset__last"))
    placed = dict(Report.objects.filter(pk__in=set(last.values())).values_list("pk", "placed_at"))
    moments: dict[int, datetime] = {}
    for quarantine in fixed:
        seen = [placed[last[test.number]] for test in tests.get(quarantine.pk, ()) if last.get(test.number) in placed]
        if seen and quarantine.ended_at is not None and max(seen) > quarantine.ended_at:
            moments[quarantine.pk] = max(seen)
    return moments


# -- experiments -------------------------------------------------------------------------------------------------

_EXPERIMENTS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Verification:
    """What `flakeboard verify` found of a fix."""

    key: str
    at: datetime
    outcome: str
    """effective, no effect shown or not reproduced; empty where the client did not say."""
    sentence: str


def verifications_of(quarantine: Quarantine, tests: Sequence[Test]) -> list[Verification]:
    """Of one of its tests, since it was made; newest first."""
    found = ExperimentFinding.objects.filter(
        project_id=quarantine.project_id,
        number__in=[test.number for test in tests],
        kind=ExperimentFinding.Kind.VERIFY,
        experiment__began_at__gte=quarantine.created_at,
    )
    rows = found.select_related("experiment").order_by("-experiment__began_at", "-pk")[:_EXPERIMENTS_SHOWN]
    return [
        Verification(
            row.experiment.key,
            row.experiment.began_at,
            str(row.data.get("outcome", ""))[:40],
            str(row.experiment.counts.get("sentence", "")),
        )
        for row in rows
    ]


# -- the clock ---------------------------------------------------------------------------------------------------


def fixes_confirm(*, project_id: int) -> int:
    """Confirm the fixes that have seen enough clean runs; how many (idempotent). What is not run proves nothing."""
    last = QuarantineEvent.objects.filter(quarantine=OuterRef("pk"), action__in=(Action.FIX, Action.CONFIRM))
    rows = Quarantine.objects.filter(project_id=project_id, state=State.FIXED, mode=Quarantine.Mode.MUTE)
    claimed = rows.annotate(last=Subquery(last.order_by("-version").values("action")[:1])).filter(last=Action.FIX)
    fixed = list(claimed.exclude(needed=None))
    found = fixes_of(fixed, members_of(fixed))
    enough = [
        quarantine
        for quarantine in fixed
        if (fix := found.get(quarantine.pk)) is not None
        and fix.is_open
        and fix.needed is not None
        and fix.clean >= fix.needed
    ]
    return sum(_confirm(quarantine, found[quarantine.pk]) for quarantine in enough)


def _confirm(quarantine: Quarantine, fix: Fix) -> bool:
    try:
        quarantine_act(
            quarantine=quarantine,
            version=quarantine.version,
            action=Action.CONFIRM,
            actor=CONFIRMATION,
            reason=f"Clean for {fix.clean:,} runs since it was said to be fixed; {fix.needed:,} were needed.",
        )
    except REFUSALS as error:
        logger.info("quarantine %s is not confirmed: %s", quarantine.pk, error)
        return False
    return True
