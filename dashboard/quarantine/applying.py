"""A policy at work: after each analysis its steps become changes of quarantines, each an event of the policy's."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from analytics.models import Analysis
from analytics.run_ends import incident_reports
from dashboard.quarantine.candidates import stored_candidates
from dashboard.quarantine.models import Notification, Quarantine, QuarantineEvent
from dashboard.quarantine.owners import OwnerBook
from dashboard.quarantine.owning import owner_book, owner_of
from dashboard.quarantine.policy import Candidate, Held, Moment, Plan, Step, plan
from dashboard.quarantine.policy_settings import PolicyMode, PolicySettings
from dashboard.quarantine.progress import progresses
from dashboard.quarantine.selectors import PolicyNow, analysed, members_of, policy_of
from dashboard.quarantine.services import (
    Actor,
    AlreadyQuarantined,
    QuarantineConflict,
    Terms,
    notify,
    quarantine_act,
    quarantine_create,
)
from dashboard.quarantine.states import ActorKind, NotAllowed, State
from ingest.models import Project, Report, Test

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a plan rests on."""

    moment: Moment
    candidates: Sequence[Candidate]
    held: Sequence[Held]


def policy_ground(project: Project, *, now: datetime | None = None) -> Ground | None:
    """What a policy knows of a project now; None before the first analysis."""
    analysis, columns = analysed(project.pk)
    if analysis is None:
        return None
    held = held_of(project)
    numbers = {number for one in held for number in one.numbers}
    moment = Moment(now or timezone.now(), len(columns), incident=_incident_now(analysis))
    return Ground(moment, stored_candidates(analysis, columns, numbers), held)


def _incident_now(analysis: Analysis) -> bool:
    """The newest report of the window is part of an incident."""
    reports = Report.counted.filter(project_id=analysis.project_id, partial=False)
    newest = reports.order_by("-started_at", "-pk").values_list("pk", flat=True).first()
    return newest is not None and incident_reports(analysis).filter(report_id=newest).exists()


# -- what there is -----------------------------------------------------------------------------------------------


def held_of(project: Project) -> list[Held]:
    """The newest quarantine of each test that ever had one; an older one of a cluster speaks for the rest of it."""
    rows = list(Quarantine.objects.filter(project=project).order_by("-id"))
    tests, kinds = members_of(rows), _last_kinds(rows)
    muted = [row for row in rows if row.state == State.ACTIVE and row.mode == Quarantine.Mode.MUTE]
    enough = {pk for pk, told in progresses(muted, tests).items() if told.enough}
    seen: set[int] = set()
    held = []
    for row in rows:
        mine = [test for test in tests.get(row.pk, []) if row.is_live or test.number not in seen]
        seen |= {test.number for test in mine}
        if mine:
            held.append(_held(row, mine, kinds.get(row.pk, ""), enough=row.pk in enough))
    return held


def _last_kinds(rows: Collection[Quarantine]) -> dict[int, str]:
    """By quarantine: who acted last."""
    events = QuarantineEvent.objects.filter(quarantine__in=[row.pk for row in rows]).order_by("version")
    return dict(events.values_list("quarantine_id", "actor_kind"))


def _held(row: Quarantine, tests: Sequence[Test], last: str, *, enough: bool) -> Held:
    return Held(
        id=row.pk,
        state=State(row.state),
        numbers=tuple(test.number for test in tests),
        by_policy=row.policy_version is not None,
        enough=enough,
        ended_at=row.ended_at,
        by_people=last != ActorKind.POLICY,
    )


# -- what is done ------------------------------------------------------------------------------------------------


def policy_apply(*, project_id: int) -> Plan | None:
    """Do what the policy says now. Doing it again changes nothing: what is done is no longer asked for."""
    project = Project.objects.get(pk=project_id)
    policy = policy_of(project_id)
    if policy.settings.mode is PolicyMode.OFF:
        return None
    ground = policy_ground(project)
    if ground is None:
        return None
    told = plan(policy.settings, ground.moment, ground.candidates, ground.held)
    book = owner_book(project)
    for step in told.steps:
        _take(project, policy, step, book)
    if told.over:
        _shout(project, told)
    return told


def _take(project: Project, policy: PolicyNow, step: Step, book: OwnerBook) -> None:
    """One step; where somebody was quicker, theirs stands."""
    actor = Actor(ActorKind.POLICY, f"policy {policy.version}")
    try:
        if step.quarantine is None:
            _begin(project, policy, step, book, actor)
        else:
            _change(step, actor)
    except (QuarantineConflict, AlreadyQuarantined, NotAllowed) as error:
        logger.info(
            "project %s: the policy's %s of %s is passed over: %s", project.pk, step.action, step.numbers, error
        )


def _begin(project: Project, policy: PolicyNow, step: Step, book: OwnerBook, actor: Actor) -> Quarantine:
    tests = list(Test.objects.filter(project=project, number__in=step.numbers))
    terms = Terms(
        owner=owner_of(book, tests),
        reason=step.reason,
        expires_at=timezone.now() + timedelta(days=policy.settings.days),
        needed=step.needed,
        policy_version=policy.version,
    )
    return quarantine_create(project=project, tests=tests, actor=actor, terms=terms, action=step.action)


def _change(step: Step, actor: Actor) -> Quarantine:
    quarantine = Quarantine.objects.get(pk=step.quarantine)
    return quarantine_act(
        quarantine=quarantine, version=quarantine.version, action=step.action, actor=actor, reason=step.reason
    )


def _shout(project: Project, told: Plan) -> None:
    """Once a day, however many analyses say so."""
    logger.warning("project %s: the cap of %s keeps %s tests out of quarantine", project.pk, told.cap, len(told.over))
    notify(
        project_id=project.pk,
        kind=Notification.Kind.CAP_REACHED,
        key=f"cap:{timezone.now():%Y-%m-%d}",
        payload={"cap": told.cap, "over": len(told.over), "tests": list(told.over[:50])},
    )


def dry_run(project: Project, settings: PolicySettings) -> Plan | None:
    """What a policy would do now, without doing it."""
    ground = policy_ground(project)
    return None if ground is None else plan(settings, ground.moment, ground.candidates, ground.held)
