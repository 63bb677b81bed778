"""What a notification of the queue, or several that are gathered, have to say: as a message."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dashboard.notify.alerts import messages as alerts
from dashboard.notify.alerts.queue import joined_payload
from dashboard.notify.formats.message import Message
from dashboard.notify.messages import cap_message, order_message, quarantine_message
from dashboard.notify.severity import severity_of
from dashboard.quarantine.models import Notification, Quarantine
from ingest.models import Project

Kind = Notification.Kind


@dataclass(frozen=True, slots=True)
class News:
    """Something that people should hear of."""

    project: Project
    kind: Kind
    payload: Mapping[str, Any]
    target: str = ""
    """The owner that it is for; empty for the project."""

    @classmethod
    def of(cls, rows: Sequence[Notification]) -> "News":
        """Of one notification, or of several of one gathered kind."""
        first = rows[0]
        payload = first.payload if len(rows) == 1 else joined_payload(rows)
        return cls(first.project, Kind(first.kind), payload, first.target)

    def among(self, tests: Sequence[int]) -> "News":
        """The same of these tests alone."""
        return replace(self, payload={**self.payload, "tests": list(tests)})


_MESSAGES: Mapping[Kind, Callable[[Project, Mapping[str, Any]], Message | None]] = {
    Kind.CAP_REACHED: cap_message,
    Kind.ORDER_DEPENDENT: order_message,
    Kind.NEW_FLAKY: alerts.flaky_message,
    Kind.MAIN_BROKEN: alerts.broken_message,
    Kind.MAIN_MENDED: alerts.mended_message,
    Kind.INCIDENT: alerts.incident_message,
    Kind.FLAKY_RATE: alerts.rate_message,
    Kind.UPLOAD_ERROR: alerts.uploads_message,
    Kind.NO_UPLOADS: alerts.silence_message,
}


def message_of(news: News) -> Message | None:
    """None where what it speaks of is gone."""
    write = _MESSAGES.get(news.kind)
    message = write(news.project, news.payload) if write is not None else _quarantine_message(news)
    return None if message is None else replace(message, severity=severity_of(news.kind))


def _quarantine_message(news: News) -> Message | None:
    found = Quarantine.objects.filter(project=news.project, pk=news.payload.get("quarantine")).first()
    return None if found is None else quarantine_message(news.project, news.kind, found, news.payload)
