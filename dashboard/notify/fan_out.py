"""From the queue of notifications to deliveries: one for each channel that wants to hear of it."""

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone

from dashboard.notify.messages import message_of
from dashboard.notify.models import Channel, Delivery
from dashboard.quarantine.models import Notification

_AT_ONCE = 200


def notifications_spread() -> int:
    """Hand what is due to the channels; how many notifications that were. Two at once share the work."""
    done = 0
    while _spread_next() and done < _AT_ONCE:
        done += 1
    return done


@transaction.atomic
def _spread_next() -> bool:
    """One notification: its deliveries are made and it is done, or neither."""
    waiting = Notification.objects.filter(sent_at=None, due_at__lte=timezone.now())
    notification = waiting.select_for_update(skip_locked=True).order_by("due_at", "pk").first()
    if notification is None:
        return False
    channels = [channel for channel in _channels(notification.project_id) if wants(channel, notification)]
    message = message_of(notification) if channels else None
    if message is not None:
        made = (
            Delivery(
                project_id=notification.project_id,
                channel=channel,
                notification=notification,
                key=f"notification:{notification.pk}",
                message=message.as_json(),
            )
            for channel in channels
        )
        Delivery.objects.bulk_create(made, ignore_conflicts=True)
    Notification.objects.filter(pk=notification.pk).update(sent_at=timezone.now())
    return True


def _channels(project_id: int) -> Iterable[Channel]:
    return Channel.objects.filter(project_id=project_id, enabled=True, pace=Channel.Pace.AT_ONCE)


def wants(channel: Channel, notification: Notification) -> bool:
    """Whether a channel is to hear of this. What is for the whole project is for every owner."""
    kind = not channel.wants or notification.kind in channel.wants
    target = notification.target.casefold()
    return kind and (not channel.owner or not target or channel.owner.casefold() == target)
