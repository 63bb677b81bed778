"""Follow tickets: open those that a policy asks for, act on what the tracker says of ours, tell it of refuted fixes.

The rows are the queue. What a tracker did not answer is asked again, later each time; what a killed worker began is
begun again, and finds by their marks the ticket and the comment that are there already."""

import logging
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from dashboard.notify.models import TicketOpening, TrackerSettings
from dashboard.notify.tickets.drafts import refutation, refutation_marker
from dashboard.notify.tickets.openings import LEASE, after_answer, after_failure, ticket_open, tracker_of
from dashboard.notify.tickets.tracker import Ticket, TicketState, Tracker, TrackerFailed
from dashboard.people.throttling import Rate, take
from dashboard.quarantine.models import Policy, Quarantine, QuarantineEvent
from dashboard.quarantine.policy.settings import PolicySettings
from dashboard.quarantine.selectors import members_of
from dashboard.quarantine.services import (
    REFUSALS,
    Actor,
    AlreadyQuarantined,
    Terms,
    quarantine_act,
    quarantine_create,
)
from dashboard.quarantine.states import LIVE, Action, ActorKind, State
from ingest.leases import Claim, ClaimLost

logger = logging.getLogger(__name__)
TICKETS = Actor(ActorKind.CLOCK, "tickets")
RATE = Rate(100, 60)
"""Tickets that are asked for, over all projects."""
AFTERWARDS = timedelta(days=90)
"""How long a ticket is followed after its quarantine was fixed."""


# -- which are due -----------------------------------------------------------------------------------------------


def tickets_due(*, now: datetime | None = None) -> list[int]:
    """Quarantines whose ticket a worker should be woken for; of a tracker that fails a single one."""
    now = now or timezone.now()
    resolving = _resolving_projects()
    due = [*_to_open(now), *_to_ask(now, resolving)]
    handed_out: dict[int, int] = {}
    failing: set[int] = set()
    for quarantine, project, tries in due:
        if tries and project in failing:
            continue
        failing |= {project} if tries else set()
        handed_out.setdefault(quarantine, project)
    return list(handed_out)[: int(RATE.amount)]


_Due = tuple[int, int, int]
"""Quarantine, project, failures of the tracker in a row."""


def _resolving_projects() -> set[int]:
    """Projects with a tracker that can be asked, and a policy that lets us."""
    trackers = TrackerSettings.objects.exclude(kind=TrackerSettings.Kind.LINK).exclude(token="")
    projects = set(trackers.values_list("project_id", flat=True))
    policies = Policy.objects.filter(project_id__in=projects, active=True).values_list("project_id", "settings")
    return projects - {project for project, settings in policies if not PolicySettings.from_json(settings).resolve}


def _to_open(now: datetime) -> Iterable[_Due]:
    """Active quarantines that want a ticket and never had one, where there is a tracker for it."""
    opening = [kind for kind in TrackerSettings.Kind if kind != TrackerSettings.Kind.LINK]
    tracker = Q(project__tracker__kind__in=opening)
    waiting = Quarantine.objects.filter(tracker, state=State.ACTIVE, wants_ticket=True, ticket_url="")
    due = Q(ticket_opening=None) | Q(ticket_opening__due_at=None) | Q(ticket_opening__due_at__lte=now)
    chosen = QuarantineEvent.objects.filter(
        quarantine=OuterRef("pk"), action=Action.CHANGE, after__has_key="ticket_url"
    )
    rows = waiting.exclude(project__tracker__token="").filter(due, ~Exists(chosen)).order_by("activated_at", "pk")
    for quarantine, project, tries in rows.values_list("pk", "project_id", "ticket_opening__tries"):
        yield quarantine, project, tries or 0


def _to_ask(now: datetime, projects: Collection[int]) -> Iterable[_Due]:
    """Tickets of ours: of live quarantines, and of those that were fixed not long ago."""
    followed = Q(quarantine__state__in=LIVE) | Q(
        quarantine__state=State.FIXED, quarantine__ended_at__gt=now - AFTERWARDS
    )
    reopened = Subquery(_reopenings(OuterRef("quarantine_id")).order_by("-version").values("version")[:1])
    due = Q(due_at=None) | Q(due_at__lte=now) | Q(tries=0, told_version__lt=reopened)
    ours = TicketOpening.objects.filter(quarantine__ticket_url=F("url"), quarantine__project_id__in=projects)
    rows = ours.exclude(number=None).filter(followed, due)
    rows = rows.order_by(F("due_at").asc(nulls_first=True), "pk")
    yield from rows.values_list("quarantine_id", "quarantine__project_id", "tries")[: int(RATE.amount)]


def _reopenings(quarantine: object) -> "QuerySet[QuarantineEvent]":
    """What refuted a fix: the quarantine was fixed, and holds again."""
    return QuarantineEvent.objects.filter(quarantine=quarantine, action=Action.REOPEN, before__state=State.FIXED)


# -- one ticket --------------------------------------------------------------------------------------------------


def ticket_follow(*, quarantine_id: int, now: datetime | None = None) -> None:
    """Do what is due for a quarantine's ticket. What the tracker refuses is kept for people to see, and tried again."""
    now = now or timezone.now()
    quarantine = Quarantine.objects.select_related("project").filter(pk=quarantine_id).first()
    if quarantine is None or take("tickets", 0, RATE):
        return
    opening = TicketOpening.objects.filter(quarantine=quarantine).first()
    if opening is None or opening.number is None or not quarantine.ticket_url:
        _open(quarantine, now)
        return
    claim = LEASE.claim(quarantine.pk, Q(lease_until=None) | LEASE.abandoned())
    if claim is None:
        return
    try:
        _follow(quarantine, opening, claim, now)
    except TrackerFailed as error:
        logger.info("quarantine %s: its ticket cannot be followed: %s", quarantine.pk, error)
        with suppress(ClaimLost):
            claim.release(**after_failure(quarantine, now), error=str(error))
    except (*REFUSALS, ClaimLost) as error:
        logger.info("quarantine %s: somebody was quicker than its ticket: %s", quarantine.pk, error)
        with suppress(ClaimLost):
            claim.release()


def _open(quarantine: Quarantine, now: datetime) -> None:
    """For a policy. A quarantine holds whether or not it gets a ticket."""
    if quarantine.state != State.ACTIVE or not quarantine.wants_ticket:
        return
    try:
        ticket_open(quarantine=quarantine, actor=TICKETS, now=now)
    except TrackerFailed as error:
        logger.info("quarantine %s: no ticket yet: %s", quarantine.pk, error)


def _follow(quarantine: Quarantine, opening: TicketOpening, claim: Claim[TicketOpening], now: datetime) -> None:
    """Tell the ticket of a refuted fix, or hear from it; both kept in one transaction with what follows from it."""
    tracker = tracker_of(quarantine.project)
    if tracker is None or opening.number is None:
        claim.release(**after_answer(now))
        return
    ticket = Ticket(opening.url, opening.number)
    heard = quarantine.version if opening.told_version is None else opening.told_version
    refuted = _reopenings(quarantine.pk).filter(version__gt=heard).order_by("-version").first()
    if refuted is not None:
        _tell_refuted(tracker, ticket, quarantine, refuted)
        claim.release(**after_answer(now), state=TicketState.OPEN, told_version=refuted.version)
        return
    state = tracker.state(ticket)
    with transaction.atomic():
        claim.release(**after_answer(now), state=state, told_version=heard)
        if state != opening.state:
            _act(quarantine, opening, state)


def _tell_refuted(tracker: Tracker, ticket: Ticket, quarantine: Quarantine, refuted: QuarantineEvent) -> None:
    """Opened again before the comment, so that who follows the ticket reads why of an open one."""
    tracker.reopen(ticket)
    marker = refutation_marker(quarantine, refuted.version)
    tracker.comment(ticket, refutation(quarantine, refuted.reason), marker, refuted.at)


def _act(quarantine: Quarantine, opening: TicketOpening, state: TicketState) -> None:
    """Closed, it is fixed; opened again, it is proposed again."""
    if state is TicketState.CLOSED and quarantine.state == State.ACTIVE:
        quarantine_act(
            quarantine=quarantine,
            version=quarantine.version,
            action=Action.FIX,
            actor=TICKETS,
            reason="Its ticket was closed.",
        )
    if state is TicketState.OPEN and quarantine.state == State.FIXED:
        _propose_again(quarantine, opening)


def _propose_again(quarantine: Quarantine, opening: TicketOpening) -> None:
    """A new proposal of the same tests and terms, which goes on with the ticket; none where a test has one already."""
    tests = members_of([quarantine]).get(quarantine.pk, [])
    terms = Terms(
        owner=quarantine.owner,
        reason="Its ticket was opened again.",
        ticket_url=quarantine.ticket_url,
        branches=quarantine.branches,
        environments=quarantine.environments,
        mode=quarantine.mode,
        needed=quarantine.needed,
        cluster=quarantine.cluster,
        cluster_view=quarantine.cluster_view,
    )
    try:
        proposal = quarantine_create(project=quarantine.project, tests=tests, actor=TICKETS, terms=terms)
    except AlreadyQuarantined as error:
        logger.info("quarantine %s is not proposed again: %s", quarantine.pk, error)
        return
    TicketOpening.objects.create(
        quarantine=proposal,
        url=opening.url,
        number=opening.number,
        state=TicketState.OPEN,
        due_at=timezone.now(),
        told_version=proposal.version,
    )
