"""Writes: channels. A secret goes in and never comes out; a changed address takes its secret with it."""

from dataclasses import dataclass
from datetime import time
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from dashboard.notify.deliveries import channel_note
from dashboard.notify.encryption import seal
from dashboard.notify.messages import trial_message
from dashboard.notify.models import Channel, Delivery, NotifySettings
from dashboard.notify.quiet_hours import known_zones
from dashboard.notify.safe_http import Refused, target_of
from dashboard.notify.severity import Severity
from dashboard.notify.transport import Outcome, send_to_channel
from dashboard.people.audit import audit
from dashboard.people.throttling import Rate, TooOften, take
from dashboard.quarantine.labels.models import QUERY_LENGTH
from dashboard.quarantine.labels.query import read_query
from dashboard.quarantine.models import Notification
from ingest.models import Project


class BadField(Exception):
    """Which field, and a sentence that says what is wrong with it."""

    def __init__(self, field: str, sentence: str) -> None:
        self.field, self.sentence = field, sentence
        super().__init__(sentence)


MOST = 50
"""Channels of one project."""
_TRIALS = Rate(10, 60)
LONGEST_SILENCE = 24 * 31
KEPT = (
    *("name", "kind", "wants", "owner", "pace", "enabled", "severity", "only", "rate_threshold", "silence_hours"),
    *("quiet_from", "quiet_until", "time_zone", "quiet_passes"),
)
"""What is said of a channel and shown again."""
SECRET = 16
"""Characters that a secret has at least."""


class BadChannel(BadField):
    """A channel that cannot be."""


@dataclass(frozen=True, slots=True)
class ChannelValues:
    """What somebody says of a channel. An address or a secret that is None stays as it is."""

    name: str
    kind: str
    address: str | None = None
    secret: str | None = None
    wants: tuple[str, ...] = ()
    owner: str = ""
    pace: str = Channel.Pace.AT_ONCE
    enabled: bool = True
    severity: str = Severity.INFO
    only: str = ""
    rate_threshold: float | None = None
    silence_hours: int | None = None
    quiet_from: time | None = None
    quiet_until: time | None = None
    time_zone: str = "UTC"
    quiet_passes: str = ""


def channel_create(*, project: Project, wanted: ChannelValues, by: str) -> Channel:
    if project.channels.count() >= MOST:
        raise BadChannel("name", f"A project has {MOST} channels at most.")
    if not wanted.address:
        raise BadChannel("address", "Say where the messages go.")
    values = {**_plain(wanted), **_sealed(wanted, wanted.address)}
    with transaction.atomic():
        made = Channel.objects.create(project=project, created_by=by, **values)
        audit("channels.create", project=project, target=made.name, after=_audit_values(made))
    return made


@transaction.atomic
def channel_update(*, channel: Channel, wanted: ChannelValues) -> tuple[Channel, bool]:
    """Change a channel. The second value tells whether its secret was cleared because its address changed: whoever
    has the new address must not get messages that are signed for the old one."""
    seen = Channel.objects.select_for_update().get(pk=channel.pk)
    moved = wanted.kind != seen.kind or (wanted.address is not None and wanted.address != seen.plain_address)
    if wanted.kind != seen.kind and wanted.address is None:
        raise BadChannel("address", "Another kind of channel needs its address.")
    cleared = moved and bool(seen.secret) and not wanted.secret
    values = _plain(wanted)
    if moved:
        values |= {"failures": 0, "last_error": "", **_sealed(wanted, wanted.address or "")}
    elif wanted.secret is not None:
        values["secret"] = seal(_secret(wanted))
    if values["rate_threshold"] != seen.rate_threshold:
        values["rate_above_since"] = None
    Channel.objects.filter(pk=seen.pk).update(**values)
    Delivery.objects.filter(channel=seen, state=Delivery.State.HELD).update(due_at=timezone.now())
    changed = Channel.objects.get(pk=seen.pk)
    audit(
        "channels.update",
        project=seen.project,
        target=changed.name,
        before=_audit_values(seen),
        after=_audit_values(changed),
    )
    return changed, cleared


def _audit_values(channel: Channel) -> dict[str, Any]:
    """A channel's values for the audit log, limited to what its page shows anyway."""
    values = {name: getattr(channel, name) for name in ("hint", *KEPT)}
    shown = {name: f"{value:%H:%M}" if isinstance(value, time) else value for name, value in values.items()}
    return shown | {"signed": bool(channel.secret)}


@transaction.atomic
def channel_delete(*, channel: Channel) -> None:
    audit("channels.delete", project=channel.project, target=channel.name, before=_audit_values(channel))
    channel.delete()


@transaction.atomic
def owners_mail_set(*, project: Project, wanted: bool) -> None:
    """Whether owners that are e-mail addresses get digests of their own."""
    NotifySettings.objects.update_or_create(project=project, defaults={"mail_owners": wanted})
    audit("notifications.mail_owners", project=project, after={"mail_owners": wanted})


def channel_try(*, channel: Channel) -> Outcome:
    """Send a test message now, and keep how that went. Some a minute for a project: it makes us call others."""
    if seconds := take("channel trials", channel.project_id, _TRIALS):
        raise TooOften(f"This project sent {_TRIALS.amount} test messages within a minute.", seconds)
    outcome = send_to_channel(channel, trial_message(channel.project), "test")
    channel_note(channel=channel, outcome=outcome, now=timezone.now())
    return outcome


# -- what may be said --------------------------------------------------------------------------------------------


def _plain(wanted: ChannelValues) -> dict[str, Any]:
    unknown = set(wanted.wants) - set(Notification.Kind.values)
    if wanted.kind not in Channel.Kind.values or wanted.pace not in Channel.Pace.values or unknown:
        raise BadChannel("kind", "There is no such kind.")
    if wanted.severity not in Severity.values or wanted.quiet_passes not in ("", *Severity.values):
        raise BadChannel("severity", "There is no such severity.")
    _check_thresholds(wanted)
    _check_quiet_hours(wanted)
    values = {name: getattr(wanted, name) for name in KEPT}
    return {**values, "wants": sorted(wanted.wants), "only": _understood(wanted.only)}


def _understood(written: str) -> str:
    """The query as it was understood."""
    query = str(read_query(written))
    if len(query) > QUERY_LENGTH or "\0" in query:
        raise BadChannel("only", f"A query has at most {QUERY_LENGTH} characters.")
    return query


def _check_thresholds(wanted: ChannelValues) -> None:
    if wanted.rate_threshold is not None and not 0 < wanted.rate_threshold < 1:
        raise BadChannel("rate_threshold", "A threshold lies between 0 and 100 %.")
    if wanted.silence_hours is not None and not 1 <= wanted.silence_hours <= LONGEST_SILENCE:
        raise BadChannel("silence_hours", f"Say between 1 and {LONGEST_SILENCE} hours.")


def _check_quiet_hours(wanted: ChannelValues) -> None:
    if (wanted.quiet_from is None) != (wanted.quiet_until is None):
        raise BadChannel("quiet_until", "Quiet hours have a beginning and an end.")
    if wanted.quiet_from is not None and wanted.quiet_from == wanted.quiet_until:
        raise BadChannel(
            "quiet_until", "Quiet hours that end when they begin would be all day: switch the channel off."
        )
    if wanted.time_zone not in known_zones():
        raise BadChannel("time_zone", "There is no such time zone; there is Europe/Berlin, or UTC.")


def _sealed(wanted: ChannelValues, address: str) -> dict[str, str]:
    hint = _hint(wanted.kind, address)
    return {"address": seal(address), "hint": hint, "secret": seal(_secret(wanted))}


def _hint(kind: str, address: str) -> str:
    """What of an address may be shown: paths and queries hold keys."""
    if kind == Channel.Kind.EMAIL:
        try:
            validate_email(address)
        except ValidationError as error:
            raise BadChannel("address", "This is not an e-mail address.") from error
        return address
    try:
        target = target_of(address)
    except Refused as error:
        raise BadChannel("address", str(error)) from error
    return f"{target.scheme}://{target.named}/…"


def _secret(wanted: ChannelValues) -> str:
    secret = wanted.secret or ""
    if secret and wanted.kind != Channel.Kind.WEBHOOK:
        raise BadChannel("secret", "Only webhooks are signed.")
    if secret and len(secret) < SECRET:
        raise BadChannel("secret", f"A secret has at least {SECRET} characters.")
    return secret
