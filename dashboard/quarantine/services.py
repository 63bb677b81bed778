"""Writes: one transaction a change, one event a change. A change names the version that it was decided on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max
from django.utils import timezone

from analytics.models import ClusterFinding
from dashboard.people.audit import audit
from dashboard.quarantine.models import DAYS, Member, Notification, Policy, Quarantine, QuarantineEvent
from dashboard.quarantine.policy.settings import PolicySettings
from dashboard.quarantine.states import LIVE, TRANSITIONS, Action, ActorKind, NotAllowed, State, after, first
from ingest.models import Project, Test

LONGEST = timedelta(days=365)
"""A quarantine that may last longer is a list of ignored tests."""


@dataclass(frozen=True, slots=True)
class Actor:
    kind: ActorKind
    name: str


CLOCK = Actor(ActorKind.CLOCK, "expiry")


class QuarantineConflict(Exception):
    """Somebody else was quicker: the change was decided on a version that is no longer there."""

    def __init__(self, quarantine: Quarantine) -> None:
        self.quarantine = quarantine
        self.event = quarantine.events.order_by("-version").first()
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        now = f"it is {self.quarantine.state} now, version {self.quarantine.version}"
        if self.event is None:
            return f"It was changed meanwhile: {now}."
        when = f"{self.event.at:%Y-%m-%d %H:%M:%S} UTC"
        return f"{self.event.actor} ({self.event.actor_kind}) was quicker: {self.event.action} at {when}; {now}."


class AlreadyQuarantined(Exception):
    """A test has a proposed or active quarantine already."""

    def __init__(self, quarantine: Quarantine | None) -> None:
        self.quarantine = quarantine
        which = f"quarantine {quarantine.pk}, {quarantine.state}" if quarantine else "another quarantine"
        self.sentence = f"One of these tests is in {which}: change that one."
        super().__init__(self.sentence)


class Unusable(Exception):
    """What was asked for cannot be: the sentence says why."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(sentence)


REFUSALS = (QuarantineConflict, AlreadyQuarantined, Unusable, NotAllowed)
"""What stands against a change. Each says why in its `sentence`."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What somebody says of a quarantine when making it."""

    owner: str = ""
    reason: str = ""
    ticket_url: str = ""
    branches: Sequence[str] = ()
    environments: Mapping[str, Any] = field(default_factory=dict)
    mode: str = Quarantine.Mode.MUTE
    expires_at: datetime | None = None
    needed: int | None = None
    cluster: int | None = None
    cluster_view: str = ClusterFinding.View.TOGETHER
    policy_version: int | None = None


# -- beginning ---------------------------------------------------------------------------------------------------


def quarantine_create(
    *,
    project: Project,
    tests: Collection[Test],
    actor: Actor,
    terms: Terms,
    action: Action = Action.PROPOSE,
    now: datetime | None = None,
) -> Quarantine:
    """Propose or start a quarantine of tests that are in no other live quarantine."""
    now = now or timezone.now()
    current = {(test.alias_of or test).pk for test in tests}
    if not current:
        raise Unusable("A quarantine needs at least one test.")
    state = first(action)
    quarantine = Quarantine(
        project=project,
        cluster=terms.cluster,
        cluster_view=terms.cluster_view,
        state=state,
        owner=terms.owner,
        reason=terms.reason,
        ticket_url=terms.ticket_url,
        branches=list(terms.branches),
        environments=dict(terms.environments),
        mode=terms.mode,
        expires_at=_expiry(terms.expires_at, now),
        needed=terms.needed,
        policy_version=terms.policy_version,
        created_at=now,
        created_by=actor.name,
        activated_at=now if state is State.ACTIVE else None,
        wants_ticket=state is State.ACTIVE and _tickets_wanted(project.pk),
    )
    try:
        with transaction.atomic():
            quarantine.save(force_insert=True)
            Member.objects.bulk_create(
                Member(quarantine=quarantine, test_id=test_id, live=True) for test_id in sorted(current)
            )
            _note(quarantine, actor, action, terms.reason, before={}, after=_audit_values(quarantine), at=now)
    except IntegrityError as error:
        raise AlreadyQuarantined(_live_with(current)) from error
    return quarantine


def _live_with(tests: Collection[int]) -> Quarantine | None:
    member = Member.objects.filter(test_id__in=tests, live=True).select_related("quarantine").first()
    return member.quarantine if member else None


def _expiry(end: datetime | None, now: datetime) -> datetime:
    expires_at = end or now + timedelta(days=DAYS)
    if not now < expires_at <= now + LONGEST:
        raise Unusable(f"The expiry must be in the future, and within {LONGEST.days} days.")
    return expires_at


# -- changing ----------------------------------------------------------------------------------------------------

CHANGEABLE = ("owner", "ticket_url", "branches", "environments", "mode")
_AUDIT_FIELDS = ("state", "expires_at", *CHANGEABLE)


def quarantine_act(
    *,
    quarantine: Quarantine,
    version: int,
    action: Action,
    actor: Actor,
    reason: str = "",
    expires_at: datetime | None = None,
    changes: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> Quarantine:
    """Act on a quarantine at `version`; if two people act at once, the second gets a conflict."""
    now = now or timezone.now()
    with transaction.atomic():
        seen = Quarantine.objects.get(pk=quarantine.pk)
        if seen.version != version:
            raise QuarantineConflict(seen)
        target = after(action, State(seen.state))
        values = _values(seen, action, target, now, expires_at, changes or {})
        rows = Quarantine.objects.filter(pk=seen.pk, version=version, state__in=TRANSITIONS[action].origins)
        if not rows.update(**values, version=F("version") + 1):
            raise QuarantineConflict(Quarantine.objects.get(pk=seen.pk))
        _follow(seen, target)
        changed = Quarantine.objects.get(pk=seen.pk)
        names = {name for name in _AUDIT_FIELDS if getattr(seen, name) != getattr(changed, name)}
        _note(
            changed,
            actor,
            action,
            reason,
            before=_audit_values(seen, names),
            after=_audit_values(changed, names),
            at=now,
        )
    return changed


def _values(
    seen: Quarantine,
    action: Action,
    target: State,
    now: datetime,
    expires_at: datetime | None,
    changes: Mapping[str, Any],
) -> dict[str, Any]:
    """The columns that the action sets."""
    unknown = set(changes) - set(CHANGEABLE)
    if unknown or (changes and action not in (Action.CHANGE, Action.APPROVE)):
        raise Unusable(f"{action} changes nothing of {', '.join(sorted(changes))}.")
    values: dict[str, Any] = {**changes, "state": target}
    if target in LIVE and target != seen.state:
        values |= {"activated_at": now, "ended_at": None, "wants_ticket": _tickets_wanted(seen.project_id)}
    if target not in LIVE and target != seen.state:
        values["ended_at"] = now
    if action in (Action.EXTEND, Action.REOPEN) or expires_at is not None:
        values["expires_at"] = _expiry(expires_at, now)
    elif action is Action.APPROVE and seen.expires_at <= now:
        values["expires_at"] = _expiry(None, now)  # it lay as a proposal for longer than it was to last
    return values


def _tickets_wanted(project_id: int) -> bool:
    """Whether the policy in force opens a ticket for what becomes active now."""
    settings = Policy.objects.filter(project_id=project_id, active=True).values_list("settings", flat=True).first()
    return PolicySettings.from_json(settings or {}).ticket


def _follow(seen: Quarantine, target: State) -> None:
    """Members are live while their quarantine is; a test that got another one meanwhile cannot come back."""
    try:
        with transaction.atomic():
            Member.objects.filter(quarantine=seen).exclude(live=target in LIVE).update(live=target in LIVE)
    except IntegrityError as error:
        others = Member.objects.filter(test__quarantine_members__quarantine=seen, live=True)
        other = others.exclude(quarantine=seen).select_related("quarantine").first()
        raise AlreadyQuarantined(other.quarantine if other else None) from error


def _note(
    quarantine: Quarantine,
    actor: Actor,
    action: Action,
    reason: str,
    *,
    before: dict[str, Any],
    after: dict[str, Any],
    at: datetime,
) -> None:
    QuarantineEvent.objects.create(
        quarantine=quarantine,
        actor=actor.name,
        actor_kind=actor.kind,
        at=at,
        action=action,
        reason=reason,
        version=quarantine.version,
        before=before,
        after=after,
    )
    _announce(quarantine, actor, action, reason)


_ANNOUNCED = {
    Action.PROPOSE: Notification.Kind.PROPOSED,
    Action.QUARANTINE: Notification.Kind.QUARANTINED,
    Action.APPROVE: Notification.Kind.QUARANTINED,
    Action.RELEASE: Notification.Kind.RELEASED,
    Action.FIX: Notification.Kind.RELEASED,
    Action.REOPEN: Notification.Kind.REOPENED,
    Action.EXPIRE: Notification.Kind.EXPIRED,
}
"""What a team hears of, whoever did it."""


def _announce(quarantine: Quarantine, actor: Actor, action: Action, reason: str) -> None:
    """Part of the change: there is no change without its notification, and none without its change."""
    kind = _ANNOUNCED.get(action)
    if kind is not None:
        notify(
            project_id=quarantine.project_id,
            kind=kind,
            key=f"{kind}:{quarantine.pk}:{quarantine.version}",
            target=quarantine.owner,
            payload={"quarantine": quarantine.pk, "reason": reason, "actor": actor.name, "action": action},
        )


def _audit_values(quarantine: Quarantine, names: Collection[str] = _AUDIT_FIELDS) -> dict[str, Any]:
    values = {name: getattr(quarantine, name) for name in _AUDIT_FIELDS if name in names}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


# -- policies ----------------------------------------------------------------------------------------------------


class PolicyConflict(Exception):
    """The policy was changed meanwhile."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.sentence = f"The policy was changed meanwhile: its version is {version} now."
        super().__init__(self.sentence)


@transaction.atomic
def policy_set(*, project: Project, settings: PolicySettings, version: int, actor: Actor) -> Policy:
    """Make a new version of the policy the active one. `version` is the one that it was made from; 0 for none."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    versions = Policy.objects.filter(project=project)
    current = versions.aggregate(newest=Max("version"))["newest"] or 0
    if current != version:
        raise PolicyConflict(current)
    before = versions.filter(active=True).values_list("settings", flat=True).first()
    versions.filter(active=True).update(active=False)
    made = Policy.objects.create(
        project=project, version=current + 1, settings=settings.as_json(), created_by=actor.name
    )
    audit("policy.set", project=project, target=f"version {made.version}", before=before, after=made.settings)
    return made


# -- notifications -----------------------------------------------------------------------------------------------


def notify(
    *,
    project_id: int,
    kind: Notification.Kind,
    key: str,
    target: str = "",
    payload: Mapping[str, Any] | None = None,
    due_at: datetime | None = None,
) -> bool:
    """Put a notification into the queue, once for its key. True where it is new."""
    values = {"kind": kind, "target": target, "payload": dict(payload or {})}
    due = {"due_at": due_at} if due_at is not None else {}
    _, new = Notification.objects.get_or_create(project_id=project_id, key=key, defaults=values | due)
    return new
