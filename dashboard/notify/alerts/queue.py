"""The queue of notifications as alerts use it: at most one message of a kind in a period, and none lost."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from dashboard.quarantine.models import Notification

Kind = Notification.Kind
PERIOD = timedelta(hours=1)
"""The first alert of a kind is sent at once; what follows within this time is sent together after it."""
GATHERED = {Kind.NEW_FLAKY: "tests", Kind.INCIDENT: "reports", Kind.UPLOAD_ERROR: "uploads"}
"""Kinds of which several become one message, and the list of their payloads that is joined."""


def next_due(project_id: int, kind: Kind, now: datetime) -> datetime:
    """When a gathered alert of this kind may be sent: now, or with those that wait already."""
    last = Notification.objects.filter(project_id=project_id, kind=kind).aggregate(last=Max("due_at"))["last"]
    if last is None or last + PERIOD <= now:
        return now
    return last if last > now else last + PERIOD


def joined_payload(rows: Sequence[Notification]) -> Mapping[str, Any]:
    """The payload of several notifications of one gathered kind."""
    field = GATHERED[Kind(rows[0].kind)]
    values = dict.fromkeys(value for row in rows for value in row.payload.get(field, []))
    return {**rows[0].payload, field: list(values)}
