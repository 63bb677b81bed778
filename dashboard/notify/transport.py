"""One message to one place, in the place's format; and what came of it, in words that hold no secret."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.utils import timezone

from dashboard.notify.backoff import may_help, retry_after
from dashboard.notify.encryption import Unsealable
from dashboard.notify.formats import slack, teams, webhook
from dashboard.notify.formats.mail import mail_send
from dashboard.notify.formats.message import Message, clean
from dashboard.notify.models import Channel
from dashboard.notify.safe_http import Answer, Refused, Unreachable, request


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a try."""

    ok: bool
    error: str = ""
    final: bool = False
    """Trying again would not help."""
    retry_after: timedelta | None = None


SENT = Outcome(ok=True)


def send_to_owner(recipient: str, message: Message, delivery: str) -> Outcome:
    try:
        mail_send(message, recipient, delivery)
    except (Refused, Unreachable) as error:
        return _failed(error)
    return SENT


def send_to_channel(channel: Channel, message: Message, delivery: str, now: datetime | None = None) -> Outcome:
    """Send a message once."""
    moment = now or timezone.now()
    try:
        if channel.kind == Channel.Kind.EMAIL:
            return send_to_owner(channel.plain_address, message, delivery)
        body, headers = _written(channel, message, delivery, moment)
        answer = request("POST", channel.plain_address, body=body, headers=headers)
    except (Refused, Unreachable, Unsealable) as error:
        return _failed(error)
    return _judged(answer, channel, moment)


def _failed(error: Exception) -> Outcome:
    return Outcome(ok=False, error=clean(str(error)), final=not isinstance(error, Unreachable))


def _written(channel: Channel, message: Message, delivery: str, now: datetime) -> tuple[bytes, dict[str, str]]:
    """Body and headers in the channel's format."""
    if channel.kind == Channel.Kind.WEBHOOK:
        body = webhook.body(message, delivery)
        timestamp = str(int(now.timestamp()))
        return body, webhook.headers(message, delivery, channel.plain_secret, timestamp, body)
    body = slack.body(message) if channel.kind == Channel.Kind.SLACK else teams.body(message)
    return body, {"Content-Type": "application/json"}


def _judged(answer: Answer, channel: Channel, now: datetime) -> Outcome:
    if answer.ok:
        return SENT
    error = f"It answered {answer.status}{_answer_excerpt(answer, channel)}."
    if 300 <= answer.status < 400:
        return Outcome(ok=False, error=f"{error} Redirects are not followed: enter the new address.", final=True)
    if not may_help(answer.status):
        return Outcome(ok=False, error=error, final=True)
    return Outcome(ok=False, error=error, retry_after=retry_after(answer.headers.get("retry-after", ""), now))


def _answer_excerpt(answer: Answer, channel: Channel) -> str:
    """The first words of the answer, or nothing if it repeats the channel's secret or address."""
    text = answer.body.decode("utf-8", "replace")
    words = clean(text, 120)
    return f": {words}" if words and not any(secret in text for secret in _hidden(channel)) else ""


def _hidden(channel: Channel) -> list[str]:
    """What no row, log or page may show of a channel: its secret and the parts of its address that may be keys."""
    parts = urlsplit(channel.plain_address)
    keys = [part for part in _BETWEEN.split(f"{parts.path}?{parts.query}") if len(part) >= _KEY]
    return [*keys, *([channel.plain_secret] if channel.secret else [])]


_BETWEEN = re.compile("[/?&=]")
_KEY = 6
"""Parts of an address that are shorter are words."""
