"""Which quarantines excuse the failing tests of a run: now, as the gate decides, or when it last did."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from analytics.runs.failing_tests import Excuse, Group
from dashboard.quarantine.models import GateDecision, Member, Quarantine
from dashboard.quarantine.progress import is_within
from dashboard.quarantine.selectors import CALLED_NOW
from dashboard.quarantine.states import State as QuarantineState
from ingest.models import Project, Run

_HOLDS = (QuarantineState.ACTIVE, QuarantineState.EXPIRED)


def excuses_of(project: Project, failed_in: Mapping[int, Collection[int]], now: datetime) -> dict[int, Excuse]:
    """By test number: the quarantine whose scope has every run in which the test failed, whichever of them is asked
    about, locked; one that holds before one that has expired. `failed_in` has the ids of these runs."""
    members = Member.objects.annotate(now=CALLED_NOW).filter(
        test__project=project, now__in=failed_in, quarantine__state__in=_HOLDS
    )
    ids = set(members.values_list("quarantine_id", flat=True))
    held = list(Quarantine.objects.select_for_update(no_key=True).filter(pk__in=ids, state__in=_HOLDS).order_by("pk"))
    of_tests = _members([quarantine.pk for quarantine in held], failed_in)
    runs = Run.objects.in_bulk(set().union(*failed_in.values())) if of_tests else {}
    return _by_test(
        project,
        failed_in,
        held,
        of_tests,
        runs,
        lambda quarantine: quarantine.state == QuarantineState.EXPIRED or quarantine.expires_at <= now,
    )


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run whose excuses are shown: in which runs each of its tests failed, and what the gate last decided."""

    run: Run
    failed_in: Mapping[int, Collection[int]]
    decision: GateDecision | None

    @property
    def moment(self) -> datetime:
        decided_at = self.decision.decided_at if self.decision is not None else None
        return decided_at or self.run.placed_at


def excuses_shown(
    project: Project, run: Run, failed_in: Mapping[int, Collection[int]], decision: GateDecision | None
) -> dict[int, Excuse]:
    """By test number: the quarantines that the gate's last decision applied to the run; where it was not asked, those
    that held when the run began. What became of a quarantine since does not change what it did for this run."""
    (found,) = excuses_of_all(project, [ShownRun(run, failed_in, decision)])
    return found


def excuses_of_all(project: Project, shown: Sequence[ShownRun]) -> list[dict[int, Excuse]]:
    """The same of many runs, with as many queries."""
    if not shown:
        return []
    latest = max(of_run.moment for of_run in shown)
    begun = list(Quarantine.objects.filter(project=project, activated_at__lte=latest).order_by("pk"))
    undecided = [_undecided(of_run) for of_run in shown]
    members = _members([quarantine.pk for quarantine in begun], {number for part in undecided for number in part})
    runs = {of_run.run.pk: of_run.run for of_run in shown}
    named = {number for number, _ in members}
    failed = (runs_of for part in undecided for number, runs_of in part.items() if number in named)
    if others := set().union(*failed) - runs.keys():
        runs |= Run.objects.in_bulk(others)
    applied = _applied([of_run.decision for of_run in shown])
    return [
        _by_test(project, part, _held_at(begun, of_run.moment), members, runs, _expired_by(of_run.moment)) | decided
        for of_run, part, decided in zip(shown, undecided, applied, strict=True)
    ]


def _undecided(of_run: ShownRun) -> dict[int, Collection[int]]:
    decided = {row["number"] for row in of_run.decision.failing} if of_run.decision is not None else set()
    return {number: runs for number, runs in of_run.failed_in.items() if number not in decided}


def _held_at(quarantines: Sequence[Quarantine], moment: datetime) -> list[Quarantine]:
    return [
        quarantine
        for quarantine in quarantines
        if quarantine.activated_at is not None
        and quarantine.activated_at <= moment
        and (quarantine.ended_at is None or quarantine.ended_at > moment or quarantine.state == QuarantineState.EXPIRED)
    ]


def _expired_by(moment: datetime) -> Callable[[Quarantine], bool]:
    return lambda quarantine: _had_expired(quarantine, moment)


def _had_expired(quarantine: Quarantine, moment: datetime) -> bool:
    by_hand = quarantine.state == QuarantineState.EXPIRED and (quarantine.ended_at or moment) <= moment
    return by_hand or quarantine.expires_at <= moment


def _members(quarantines: Collection[int], numbers: Collection[int]) -> list[tuple[int, int]]:
    """Numbers of tests with the ids of their quarantines."""
    if not quarantines or not numbers:
        return []
    members = Member.objects.annotate(now=CALLED_NOW).filter(quarantine__in=quarantines, now__in=list(numbers))
    return list(members.values_list("now", "quarantine_id").order_by("quarantine_id"))


def _by_test(
    project: Project,
    failed_in: Mapping[int, Collection[int]],
    quarantines: Iterable[Quarantine],
    members: Iterable[tuple[int, int]],
    runs: Mapping[int, Run],
    has_expired: Callable[[Quarantine], bool],
) -> dict[int, Excuse]:
    by_id = {quarantine.pk: quarantine for quarantine in quarantines}
    found: dict[int, Excuse] = {}
    for number, quarantine_id in members:
        quarantine = by_id.get(quarantine_id)
        if quarantine is None or number not in failed_in or (number in found and not found[number].expired):
            continue
        if all(is_within(quarantine, project, runs[run]) for run in failed_in[number]):
            found[number] = Excuse(quarantine.pk, has_expired(quarantine), quarantine.created_at)
    return found


def _applied(decisions: Sequence[GateDecision | None]) -> list[dict[int, Excuse]]:
    """By test number, as each decision keeps it. Before it was kept, only what had not expired was of this class."""
    kept = [
        [row for row in decision.failing if row["quarantine"] is not None] if decision is not None else []
        for decision in decisions
    ]
    ids = {row["quarantine"] for rows in kept for row in rows}
    made_at = dict(Quarantine.objects.filter(pk__in=ids).values_list("pk", "created_at")) if ids else {}
    return [
        {
            row["number"]: Excuse(
                row["quarantine"], row.get("expired", row["class"] != Group.QUARANTINED), made_at.get(row["quarantine"])
            )
            for row in rows
        }
        for rows in kept
    ]
