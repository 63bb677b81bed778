"""From the queue of notifications to deliveries: one for each channel that wants to hear of it."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from dashboard.notify.alerts.queue import GATHERED
from dashboard.notify.audience import Audience
from dashboard.notify.models import Channel, Delivery
from dashboard.notify.news import News, message_of
from dashboard.notify.quiet_deliveries import delivery_for
from dashboard.quarantine.models import Notification

_AT_ONCE = 200


def notifications_spread(*, now: datetime | None = None) -> int:
    """Hand what is due to the channels; how many messages that were. Two at once share the work."""
    now = now or timezone.now()
    done = 0
    while _spread_next(now) and done < _AT_ONCE:
        done += 1
    return done


@transaction.atomic
def _spread_next(now: datetime) -> bool:
    """One notification, or several that are gathered: their deliveries are made and they are done, or neither."""
    waiting = Notification.objects.filter(sent_at=None, due_at__lte=now).select_for_update(skip_locked=True)
    notification = waiting.order_by("due_at", "pk").first()
    if notification is None:
        return False
    rows = [notification]
    if notification.kind in GATHERED:
        same = waiting.filter(project=notification.project_id, kind=notification.kind).exclude(pk=notification.pk)
        rows += same.order_by("pk")
    news = News.of(rows)
    audience = Audience(news)
    made = []
    for channel in _channels(notification.project_id):
        theirs = audience.news_for(channel)
        message = message_of(theirs) if theirs is not None else None
        if message is not None:
            key = f"notification:{notification.pk}"
            made.append(delivery_for(channel, message, key=key, now=now, notification=notification))
    Delivery.objects.bulk_create(made, ignore_conflicts=True)
    Notification.objects.filter(pk__in=[row.pk for row in rows]).update(sent_at=timezone.now())
    return True


def _channels(project_id: int) -> Iterable[Channel]:
    return Channel.objects.filter(project_id=project_id, enabled=True, pace=Channel.Pace.AT_ONCE)
