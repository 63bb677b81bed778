"""The way of a delivery: claimed by one worker, sent, finished or put off. PostgreSQL is the queue of record.

A claim is a random id written by a conditional update, and holds for a lease: what a killed worker held is taken over.
Should it have been killed between the receiver's answer and our note of it, the receiver hears it again under the same
delivery id."""

import logging
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from dashboard.notify.backoff import GIVE_UP, next_try
from dashboard.notify.message import Message, clean
from dashboard.notify.models import Channel, Delivery
from dashboard.notify.sending import Outcome, send_to_channel, send_to_owner

logger = logging.getLogger(__name__)
State = Delivery.State

LEASE = timedelta(minutes=3)
"""Longer than the slowest request takes: every request has an end."""
KEPT = timedelta(days=90)
PER_CHANNEL = 20
"""Deliveries of one channel that a sweep hands out; of a failing one a single one, so that it holds up no other."""


def deliveries_due(*, now: datetime | None = None) -> list[int]:
    """What a worker should be woken for; what waited for over a day is given up."""
    now = now or timezone.now()
    _give_up(now)
    due = _due(now)
    own = list(due.filter(channel=None).order_by("due_at").values_list("pk", flat=True)[:PER_CHANNEL])
    channels = Channel.objects.filter(enabled=True, pk__in=due.exclude(channel=None).values("channel"))
    for channel, failures in channels.values_list("pk", "failures"):
        mine = due.filter(channel=channel).order_by("due_at", "pk")
        own += mine.values_list("pk", flat=True)[: 1 if failures else PER_CHANNEL]
    return own


def _due(now: datetime) -> "QuerySet[Delivery]":
    """By columns of the delivery alone: of two who claim at once PostgreSQL asks the second again about the row itself,
    and not about what is joined to it."""
    waiting = Q(state=State.WAITING, due_at__lte=now) | Q(state=State.SENDING, lease_until__lt=now)
    return Delivery.objects.filter(waiting)


def _give_up(now: datetime) -> None:
    old = Delivery.objects.filter(state=State.WAITING, created_at__lt=now - GIVE_UP)
    old.filter(error="").update(state=State.FAILED, error="It could not be sent within a day.")
    old.update(state=State.FAILED)


def deliveries_forget(*, now: datetime | None = None) -> int:
    """Delete what is long done; how many. What was sent is of use as long as people ask whether it was."""
    done = Delivery.objects.filter(state__in=(State.SENT, State.FAILED), created_at__lt=(now or timezone.now()) - KEPT)
    return done.delete()[0]


def delivery_send(*, delivery_id: int, now: datetime | None = None) -> bool:
    """Send a delivery that is due. False where somebody else has it, or it is done."""
    moment = now or timezone.now()
    claim = delivery_claim(delivery_id=delivery_id, now=moment)
    if claim is None:
        return False
    delivery = Delivery.objects.select_related("channel").get(pk=delivery_id)
    message = Message.from_json(delivery.message)
    if delivery.channel is None:
        outcome = send_to_owner(delivery.recipient, message, str(delivery.pk))
    else:
        outcome = send_to_channel(delivery.channel, message, str(delivery.pk), moment)
    return _finish(delivery, claim, outcome, moment)


def delivery_claim(*, delivery_id: int, now: datetime) -> uuid.UUID | None:
    """Take a delivery that is due. Exactly one caller gets a claim."""
    claim = uuid.uuid4()
    won = _due(now).filter(pk=delivery_id)
    changed = won.update(state=State.SENDING, claim=claim, lease_until=now + LEASE, tries=F("tries") + 1)
    return claim if changed else None


def _finish(delivery: Delivery, claim: uuid.UUID, outcome: Outcome, now: datetime) -> bool:
    """Keep what became of it, if it is still ours."""
    mine = Delivery.objects.filter(pk=delivery.pk, claim=claim, state=State.SENDING)
    after = _after(delivery, outcome, now)
    changed = mine.update(
        state=after.state, due_at=after.due_at, error=outcome.error, sent_at=after.sent_at, claim=None, lease_until=None
    )
    if changed and delivery.channel is not None:
        channel_note(channel=delivery.channel, outcome=outcome, now=now)
    if not outcome.ok:
        logger.warning("delivery %s: %s: %s", delivery.pk, after.state, outcome.error)
    return bool(changed)


@dataclass(frozen=True, slots=True)
class _After:
    state: str
    due_at: datetime
    sent_at: datetime | None = None


def _after(delivery: Delivery, outcome: Outcome, now: datetime) -> _After:
    if outcome.ok:
        return _After(State.SENT, delivery.due_at, now)
    again = None
    if not outcome.final:
        again = next_try(tries=delivery.tries, made_at=delivery.created_at, now=now, told=outcome.retry_after)
    return _After(State.FAILED, delivery.due_at) if again is None else _After(State.WAITING, again)


def channel_note(*, channel: Channel, outcome: Outcome, now: datetime) -> None:
    """How a channel fares, for the project's people to see."""
    mine = Channel.objects.filter(pk=channel.pk)
    if outcome.ok:
        mine.update(last_success_at=now, failures=0)
    else:
        mine.update(last_error_at=now, last_error=clean(outcome.error), failures=F("failures") + 1)
