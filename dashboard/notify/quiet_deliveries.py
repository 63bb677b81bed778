"""Quiet hours of channels: what comes in them is held, and sent as one message when they end."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from dashboard.notify.formats.message import Message, item, section
from dashboard.notify.models import Channel, Delivery
from dashboard.notify.quiet_hours import QuietHours
from dashboard.notify.severity import is_at_least
from dashboard.quarantine.models import Notification

State = Delivery.State
GATHERED = "gathered"
"""The kind of a message that several were joined to."""
_NAMED = 30


def quiet_hours(channel: Channel) -> QuietHours | None:
    if channel.quiet_from is None or channel.quiet_until is None:
        return None
    return QuietHours(channel.quiet_from, channel.quiet_until, channel.time_zone)


def quiet_until(channel: Channel, now: datetime, severity: str = "") -> datetime | None:
    """When the channel may be sent something of this severity; None for now."""
    hours = quiet_hours(channel)
    passes = severity and channel.quiet_passes and is_at_least(severity, channel.quiet_passes)
    return None if hours is None or passes else hours.end_after(now)


def delivery_for(
    channel: Channel, message: Message, *, key: str, now: datetime, notification: Notification | None = None
) -> Delivery:
    """A delivery to a channel, not yet stored: due now, or held until its quiet hours end."""
    until = quiet_until(channel, now, message.severity)
    return Delivery(
        project_id=channel.project_id,
        channel=channel,
        notification=notification,
        key=key,
        message=message.as_json(),
        state=State.WAITING if until is None else State.HELD,
        due_at=until or now,
    )


def held_deliveries_release(*, now: datetime | None = None) -> None:
    """Join what was held for channels whose quiet hours are over."""
    now = now or timezone.now()
    due = Delivery.objects.filter(state=State.HELD, due_at__lte=now)
    for channel in Channel.objects.filter(pk__in=due.values("channel")).select_related("project"):
        _release(channel, now)


@transaction.atomic
def _release(channel: Channel, now: datetime) -> None:
    """All of it becomes one message, or none of it does; a worker that comes second finds nothing."""
    Channel.objects.select_for_update().get(pk=channel.pk)
    held = Delivery.objects.filter(channel=channel, state=State.HELD)
    until = quiet_until(channel, now)
    if until is not None:  # the hours were changed meanwhile
        held.update(due_at=until)
        return
    rows = list(held.order_by("pk"))
    if not rows:
        return
    message = rows[0].message if len(rows) == 1 else _joined(channel, rows).as_json()
    Delivery.objects.create(
        project_id=channel.project_id,
        channel=channel,
        notification_id=rows[0].notification_id if len(rows) == 1 else None,
        key=f"held:{rows[-1].pk}",
        message=message,
        due_at=now,
    )
    Delivery.objects.filter(pk__in=[row.pk for row in rows]).update(state=State.JOINED)


def _joined(channel: Channel, rows: list[Delivery]) -> Message:
    messages = [Message.from_json(row.message) for row in rows]
    severities = [message.severity for message in messages if message.severity]
    worst = next((word for word in ("critical", "warning", "info") if word in severities), "")
    return Message(
        kind=GATHERED,
        project=messages[0].project,
        slug=messages[0].slug,
        title=f"{len(messages):,} messages of the quiet hours until {channel.quiet_until:%H:%M}"
        if channel.quiet_until
        else f"{len(messages):,} messages that were held",
        sections=(section("Since then", [item(each.title, each.sentence, each.url) for each in messages], _NAMED),),
        url=messages[-1].url,
        severity=worst,
        data={"messages": [each.as_json() for each in messages]},
    )
