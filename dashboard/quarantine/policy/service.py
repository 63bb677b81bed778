"""A policy at work: after each analysis its steps become changes of quarantines, each an event of the policy's."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from analytics.models import Analysis, ClusterFinding
from analytics.runs.incident_findings import incident_reports
from analytics.selectors import current_tests
from dashboard.quarantine.labels.selectors import fitting_numbers
from dashboard.quarantine.models import Notification, Quarantine, QuarantineEvent
from dashboard.quarantine.owners.rules import OwnerBook
from dashboard.quarantine.owners.store import owner_book, owner_of
from dashboard.quarantine.policy.candidates import stored_candidates
from dashboard.quarantine.policy.plan import Candidate, Moment, NewestQuarantine, Plan, Step, plan
from dashboard.quarantine.policy.settings import PolicyMode, PolicySettings
from dashboard.quarantine.progress import progresses
from dashboard.quarantine.selectors import PolicyNow, members_of, policy_of
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
    held: Sequence[NewestQuarantine]


def policy_ground(project: Project, settings: PolicySettings, *, now: datetime | None = None) -> Ground | None:
    """What the policy needs to know about a project, or None before its first analysis."""
    analysis, columns = current_tests(project.pk)
    if analysis is None:
        return None
    held = held_of(project)
    numbers = {number for quarantine in held for number in quarantine.numbers}
    among = fitting_numbers(project, settings.only)
    moment = Moment(now or timezone.now(), len(columns), incident=_incident_now(analysis), among=among)
    return Ground(moment, stored_candidates(analysis, columns, numbers), held)


def _incident_now(analysis: Analysis) -> bool:
    """The newest report of the window is part of an incident."""
    reports = Report.counted.filter(project_id=analysis.project_id, partial=False)
    newest = reports.order_by("-placed_at", "-pk").values_list("pk", flat=True).first()
    return newest is not None and incident_reports(analysis).filter(report_id=newest).exists()


# -- what there is -----------------------------------------------------------------------------------------------


def held_of(project: Project) -> list[NewestQuarantine]:
    """The newest quarantine of each test; an older cluster quarantine still covers the cluster's other tests."""
    rows = list(Quarantine.objects.filter(project=project).order_by("-id"))
    tests, kinds = members_of(rows), _last_kinds(rows)
    muted = [row for row in rows if row.state == State.ACTIVE and row.mode == Quarantine.Mode.MUTE]
    enough = {pk for pk, progress in progresses(muted, tests).items() if progress.enough}
    seen: set[int] = set()
    held = []
    for row in rows:
        own_tests = [test for test in tests.get(row.pk, []) if row.is_live or test.number not in seen]
        seen |= {test.number for test in own_tests}
        if own_tests:
            held.append(_held(row, own_tests, kinds.get(row.pk, ""), enough=row.pk in enough))
    return held


def _last_kinds(rows: Collection[Quarantine]) -> dict[int, str]:
    """By quarantine: who acted last."""
    events = QuarantineEvent.objects.filter(quarantine__in=[row.pk for row in rows]).order_by("version")
    return dict(events.values_list("quarantine_id", "actor_kind"))


def _held(row: Quarantine, tests: Sequence[Test], last: str, *, enough: bool) -> NewestQuarantine:
    return NewestQuarantine(
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
    """Carry out the policy's current plan (idempotent)."""
    project = Project.objects.get(pk=project_id)
    policy = policy_of(project_id)
    if policy.settings.mode is PolicyMode.OFF:
        return None
    ground = policy_ground(project, policy.settings)
    if ground is None:
        return None
    policy_plan = plan(policy.settings, ground.moment, ground.candidates, ground.held)
    book = owner_book(project)
    for step in policy_plan.steps:
        _take(project, policy, step, book)
    if policy_plan.over:
        _shout(project, policy_plan)
    return policy_plan


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
        cluster=step.cluster,
        cluster_view=policy.settings.group if step.cluster is not None else ClusterFinding.View.TOGETHER,
    )
    return quarantine_create(project=project, tests=tests, actor=actor, terms=terms, action=step.action)


def _change(step: Step, actor: Actor) -> Quarantine:
    quarantine = Quarantine.objects.get(pk=step.quarantine)
    return quarantine_act(
        quarantine=quarantine, version=quarantine.version, action=step.action, actor=actor, reason=step.reason
    )


def _shout(project: Project, policy_plan: Plan) -> None:
    """Report that the cap is reached, at most once a day."""
    logger.warning(
        "project %s: the cap of %s keeps %s tests out of quarantine", project.pk, policy_plan.cap, len(policy_plan.over)
    )
    notify(
        project_id=project.pk,
        kind=Notification.Kind.CAP_REACHED,
        key=f"cap:{timezone.now():%Y-%m-%d}",
        payload={"cap": policy_plan.cap, "over": len(policy_plan.over), "tests": list(policy_plan.over[:50])},
    )


def dry_run(project: Project, settings: PolicySettings) -> Plan | None:
    """What a policy would do now, without doing it."""
    ground = policy_ground(project, settings)
    return None if ground is None else plan(settings, ground.moment, ground.candidates, ground.held)
