"""Writes: channels. A secret goes in and never comes out; a changed address takes its secret with it."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from dashboard.notify.deliveries import channel_note
from dashboard.notify.encryption import seal
from dashboard.notify.messages import trial_message
from dashboard.notify.models import Channel, NotifySettings
from dashboard.notify.safe_http import Refused, target_of
from dashboard.notify.transport import Outcome, send_to_channel
from dashboard.people.audit import audit
from dashboard.people.throttling import Rate, TooOften, take
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
    Channel.objects.filter(pk=seen.pk).update(**values)
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
    names = ("name", "kind", "hint", "wants", "owner", "pace", "enabled")
    return {name: getattr(channel, name) for name in names} | {"signed": bool(channel.secret)}


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
    return {
        "name": wanted.name,
        "kind": wanted.kind,
        "wants": sorted(wanted.wants),
        "owner": wanted.owner,
        "pace": wanted.pace,
        "enabled": wanted.enabled,
    }


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
