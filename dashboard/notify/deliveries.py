"""The way of a delivery: claimed by one worker, sent, finished or put off. PostgreSQL is the queue of record.

What a killed worker held is taken over. Should it have been killed between the receiver's answer and our note of it,
the receiver hears it again under the same delivery id."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils import timezone

from dashboard.notify.backoff import GIVE_UP, next_try
from dashboard.notify.formats.message import Message, clean
from dashboard.notify.models import Channel, Delivery
from dashboard.notify.transport import Outcome, send_to_channel, send_to_owner
from ingest.leases import Claim, ClaimLost, Lease

logger = logging.getLogger(__name__)
State = Delivery.State

LEASE_LENGTH = timedelta(minutes=3)
"""Longer than the slowest request takes: every request has an end. So no lease is renewed."""
LEASE = Lease(model=Delivery, length=lambda: LEASE_LENGTH, held=Q(state=State.SENDING))
PER_CHANNEL = 20
"""Deliveries of one channel that a sweep hands out; of a failing one a single one, so that it holds up no other."""


def deliveries_due(*, now: datetime | None = None) -> list[int]:
    """What a worker should be woken for; what waited for over a day is given up."""
    now = now or timezone.now()
    _give_up(now)
    due = Delivery.objects.filter(_due(now))
    handed_out = list(due.filter(channel=None).order_by("due_at").values_list("pk", flat=True)[:PER_CHANNEL])
    channels = Channel.objects.filter(enabled=True, pk__in=due.exclude(channel=None).values("channel"))
    for channel, failures in channels.values_list("pk", "failures"):
        oldest = due.filter(channel=channel).order_by("due_at", "pk")
        handed_out += oldest.values_list("pk", flat=True)[: 1 if failures else PER_CHANNEL]
    return handed_out


def _due(now: datetime) -> Q:
    return Q(state=State.WAITING, due_at__lte=now) | LEASE.abandoned(now)


def _give_up(now: datetime) -> None:
    old = Delivery.objects.filter(state=State.WAITING, created_at__lt=now - GIVE_UP)
    old.filter(error="").update(state=State.FAILED, error="It could not be sent within a day.")
    old.update(state=State.FAILED)


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


def delivery_claim(*, delivery_id: int, now: datetime) -> Claim[Delivery] | None:
    """Take a delivery that is due. Exactly one caller gets a claim."""
    return LEASE.claim(delivery_id, _due(now), now=now, state=State.SENDING)


def _finish(delivery: Delivery, claim: Claim[Delivery], outcome: Outcome, now: datetime) -> bool:
    """Keep what became of it, if it is still ours."""
    after = _after(delivery, outcome, now)
    if not outcome.ok:
        logger.warning("delivery %s: %s: %s", delivery.pk, after.state, outcome.error)
    try:
        claim.release(state=after.state, due_at=after.due_at, error=outcome.error, sent_at=after.sent_at)
    except ClaimLost:
        return False
    if delivery.channel is not None:
        channel_note(channel=delivery.channel, outcome=outcome, now=now)
    return True


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
        again = next_try(tries=delivery.tries, made_at=delivery.created_at, now=now, server_delay=outcome.retry_after)
    return _After(State.FAILED, delivery.due_at) if again is None else _After(State.WAITING, again)


def channel_note(*, channel: Channel, outcome: Outcome, now: datetime) -> None:
    """How a channel fares, for the project's people to see."""
    row = Channel.objects.filter(pk=channel.pk)
    if outcome.ok:
        row.update(last_success_at=now, failures=0)
    else:
        row.update(last_error_at=now, last_error=clean(outcome.error), failures=F("failures") + 1)
