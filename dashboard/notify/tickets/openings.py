"""Open a ticket for a quarantine: once, however often and by however many it is asked for."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from dashboard.notify.encryption import Unsealable
from dashboard.notify.models import TicketOpening, TrackerSettings
from dashboard.notify.tickets.drafts import draft_of
from dashboard.notify.tickets.github import GitHub
from dashboard.notify.tickets.gitlab import GitLab
from dashboard.notify.tickets.jira import Jira
from dashboard.notify.tickets.linear import Linear
from dashboard.notify.tickets.tracker import Ticket, TicketState, Tracker, TrackerFailed
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import Actor, QuarantineConflict, quarantine_act
from dashboard.quarantine.states import Action
from ingest.leases import Claim, ClaimLost, Lease
from ingest.models import Project

LEASE_LENGTH = timedelta(minutes=4)
"""Longer than all its requests take together: so it is not renewed between them."""
LEASE = Lease(model=TicketOpening, key="quarantine_id", length=lambda: LEASE_LENGTH, counted=False)
_TRIES = 5
EVERY = timedelta(hours=1)
"""How often the tracker is asked for a ticket."""
_FIRST = timedelta(minutes=2)
_LONGEST = timedelta(hours=2)


def tracker_of(project: Project) -> Tracker | None:
    """The tracker that we can open tickets in; None where there is none, or only a link."""
    found = TrackerSettings.objects.filter(project=project).first()
    if found is None or found.kind == TrackerSettings.Kind.LINK or not found.token:
        return None
    try:
        return _tracker_at(found, found.plain_token)
    except Unsealable as error:
        raise TrackerFailed(str(error)) from error


def _tracker_at(found: TrackerSettings, token: str) -> Tracker:
    base, place, issue_type = found.base_url, found.repository, found.issue_type
    if found.kind == TrackerSettings.Kind.JIRA:
        return Jira.at_cloud(base, place, token, account=found.account, issue_type=issue_type)
    if found.kind == TrackerSettings.Kind.JIRA_SERVER:
        return Jira.at_server(base, place, token, issue_type=issue_type)
    if found.kind == TrackerSettings.Kind.LINEAR:
        return Linear.at(base, place, token)
    adapter = GitHub if found.kind == TrackerSettings.Kind.GITHUB else GitLab
    return adapter.at(base, place, token)


def ticket_open(*, quarantine: Quarantine, actor: Actor, now: datetime | None = None) -> str:
    """The address of the quarantine's ticket, which is opened where there is none."""
    if quarantine.ticket_url:
        return quarantine.ticket_url
    tracker = tracker_of(quarantine.project)
    if tracker is None:
        raise TrackerFailed("This project has no tracker that tickets can be opened in.")
    claim = _claim(quarantine)
    failure = ""
    try:
        url = claim.rows.values_list("url", flat=True).get() or _opened(tracker, quarantine, claim).url
        _tell(quarantine, actor, url)
    except TrackerFailed as error:
        failure = str(error)
        raise
    finally:
        with suppress(ClaimLost):  # whoever has it now finds our ticket by its mark
            claim.release(**({**after_failure(quarantine, now), "error": failure} if failure else after_answer(now)))
    return url


def after_answer(now: datetime | None = None) -> dict[str, Any]:
    """The columns of an opening whose tracker answered."""
    return {"tries": 0, "error": "", "due_at": (now or timezone.now()) + EVERY}


def after_failure(quarantine: Quarantine, now: datetime | None = None) -> dict[str, Any]:
    """The columns of an opening whose tracker did not do it: twice as long each time, and never given up."""
    tries = TicketOpening.objects.filter(quarantine=quarantine).values_list("tries", flat=True).first() or 0
    return {"tries": F("tries") + 1, "due_at": (now or timezone.now()) + min(_FIRST * 2 ** min(tries, 10), _LONGEST)}


def _claim(quarantine: Quarantine) -> Claim[TicketOpening]:
    TicketOpening.objects.get_or_create(quarantine=quarantine, defaults={"told_version": quarantine.version})
    claim = LEASE.claim(quarantine.pk, Q(lease_until=None) | LEASE.abandoned(), error="")
    if claim is None:
        raise TrackerFailed("Its ticket is being opened just now: look again in a moment.")
    return claim


def _opened(tracker: Tracker, quarantine: Quarantine, claim: Claim[TicketOpening]) -> Ticket:
    """Found by its mark where an earlier try opened it and did not live to tell."""
    draft = draft_of(quarantine)
    ticket = tracker.find(draft.marker) or tracker.open(draft)
    with suppress(ClaimLost):
        claim.update(url=ticket.url, number=ticket.number, state=TicketState.OPEN)
    return ticket


def _tell(quarantine: Quarantine, actor: Actor, url: str) -> None:
    """Through the quarantine's own change: an event like every other. Who was quicker meanwhile keeps their change."""
    for _ in range(_TRIES):
        now = Quarantine.objects.get(pk=quarantine.pk)
        if now.ticket_url or not now.is_live:
            return
        try:
            quarantine_act(
                quarantine=now,
                version=now.version,
                action=Action.CHANGE,
                actor=actor,
                reason="A ticket was opened.",
                changes={"ticket_url": url},
            )
            return
        except QuarantineConflict:
            continue
    raise TrackerFailed(f"The ticket is open ({url}), and the quarantine could not be changed: try again.")
