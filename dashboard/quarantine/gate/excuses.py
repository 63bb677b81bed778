"""Which quarantines excuse the failing tests of a run: now, as the gate decides, or when it last did."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime

from django.db.models import Q

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
    held = Quarantine.objects.select_for_update(no_key=True).filter(pk__in=ids, state__in=_HOLDS).order_by("pk")
    return _by_test(
        project,
        failed_in,
        held,
        lambda quarantine: quarantine.state == QuarantineState.EXPIRED or quarantine.expires_at <= now,
    )


def excuses_shown(
    project: Project, run: Run, failed_in: Mapping[int, Collection[int]], decision: GateDecision | None
) -> dict[int, Excuse]:
    """By test number: the quarantines that the gate's last decision applied to the run; where it was not asked, those
    that held when the run began. What became of a quarantine since does not change what it did for this run."""
    moment = run.placed_at if decision is None or decision.decided_at is None else decision.decided_at
    begun = Quarantine.objects.filter(project=project, activated_at__lte=moment)
    held = begun.filter(Q(ended_at=None) | Q(ended_at__gt=moment) | Q(state=QuarantineState.EXPIRED)).order_by("pk")
    decided = {row["number"] for row in decision.failing} if decision is not None else set()
    undecided = {number: runs for number, runs in failed_in.items() if number not in decided}
    found = _by_test(project, undecided, held, lambda quarantine: _had_expired(quarantine, moment), known={run.pk: run})
    return found | (_applied(decision) if decision is not None else {})


def _had_expired(quarantine: Quarantine, moment: datetime) -> bool:
    by_hand = quarantine.state == QuarantineState.EXPIRED and (quarantine.ended_at or moment) <= moment
    return by_hand or quarantine.expires_at <= moment


def _by_test(
    project: Project,
    failed_in: Mapping[int, Collection[int]],
    quarantines: Iterable[Quarantine],
    has_expired: Callable[[Quarantine], bool],
    known: Mapping[int, Run] | None = None,
) -> dict[int, Excuse]:
    by_id = {quarantine.pk: quarantine for quarantine in quarantines}
    if not by_id or not failed_in:
        return {}
    runs = dict(known or {})
    if others := set().union(*failed_in.values()) - runs.keys():
        runs |= Run.objects.in_bulk(others)
    members = Member.objects.annotate(now=CALLED_NOW).filter(quarantine__in=list(by_id), now__in=list(failed_in))
    found: dict[int, Excuse] = {}
    for number, quarantine_id in members.values_list("now", "quarantine_id").order_by("quarantine_id"):
        quarantine = by_id[quarantine_id]
        if number in found and not found[number].expired:
            continue
        if all(is_within(quarantine, project, runs[run]) for run in failed_in[number]):
            found[number] = Excuse(quarantine.pk, has_expired(quarantine), quarantine.created_at)
    return found


def _applied(decision: GateDecision) -> dict[int, Excuse]:
    """By test number, as the decision keeps it. Before it was kept, only what had not expired was of this class."""
    kept = {row["number"]: row for row in decision.failing if row["quarantine"] is not None}
    ids = {row["quarantine"] for row in kept.values()}
    made_at = dict(Quarantine.objects.filter(pk__in=ids).values_list("pk", "created_at"))
    return {
        number: Excuse(
            row["quarantine"], row.get("expired", row["class"] != Group.QUARANTINED), made_at.get(row["quarantine"])
        )
        for number, row in kept.items()
    }
