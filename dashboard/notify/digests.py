"""The daily digest: read what happened since the last one, and put it into the queue of deliveries, once a day."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from analytics.columns.codec import Columns
from analytics.columns.query import Choice, Sort, chosen_rows, sorted_rows
from analytics.columns.rows import test_rows
from analytics.models import Analysis, PriorityFinding
from analytics.selectors import current_tests
from dashboard.notify.audience import Audience
from dashboard.notify.formats.digest import FIX_FIRST, Digest, DigestProject, Entry, digest_message
from dashboard.notify.formats.mail import mail_is_set
from dashboard.notify.formats.message import item
from dashboard.notify.messages import address, called, quarantine_address, test_address
from dashboard.notify.models import Channel, Delivery, DigestMade, NotifySettings
from dashboard.notify.news import News, message_of
from dashboard.notify.quiet_deliveries import delivery_for
from dashboard.quarantine.labels.selectors import fitting_numbers
from dashboard.quarantine.models import Notification, Quarantine, QuarantineEvent
from dashboard.quarantine.owners.store import owner_book, owner_of
from dashboard.quarantine.progress import progresses
from dashboard.quarantine.selectors import members_of
from dashboard.quarantine.states import Action, State
from ingest.models import Project, Test

logger = logging.getLogger(__name__)
_SOON = timedelta(days=7)
_NEWEST = 50
_ALERTS = (
    *(Notification.Kind.MAIN_BROKEN, Notification.Kind.MAIN_MENDED, Notification.Kind.INCIDENT),
    *(Notification.Kind.FLAKY_RATE, Notification.Kind.UPLOAD_ERROR, Notification.Kind.NO_UPLOADS),
)
"""Kinds that have no section of their own."""
_BEGAN = (Action.QUARANTINE, Action.APPROVE)
_ENDED = (Action.RELEASE, Action.FIX, Action.EXPIRE, Action.REOPEN)


def digests_due(*, now: datetime | None = None) -> list[int]:
    """Projects whose digest of today is not made yet, once the hour has come."""
    now = (now or timezone.now()).astimezone(UTC)
    if now.hour < settings.DIGEST_HOUR:
        return []
    made = DigestMade.objects.filter(day=now.date()).values("project")
    return list(Project.objects.exclude(pk__in=made).values_list("pk", flat=True))


def digest_make(*, project_id: int, now: datetime | None = None) -> int:
    """Put today's digest into the queue, for each who is to get one; how many. Asked again, it is none."""
    now = (now or timezone.now()).astimezone(UTC)
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return 0
    last = DigestMade.objects.filter(project=project).order_by("-day").first()
    since = max(last.at, now - _SOON) if last else now - timedelta(days=1)
    digest = digest_read(project, since=since, now=now) if _anybody(project) else Digest()
    try:
        with transaction.atomic():
            DigestMade.objects.create(project=project, day=now.date(), at=now)
            made = list(_deliveries(project, digest, since, now))
            Delivery.objects.bulk_create(made, ignore_conflicts=True)
    except IntegrityError:  # another worker made it
        return 0
    return len(made)


# -- who gets one ------------------------------------------------------------------------------------------------


def _daily(project: Project) -> Iterable[Channel]:
    return Channel.objects.filter(project=project, enabled=True, pace=Channel.Pace.DAILY)


def _mails_owners(project: Project) -> bool:
    """The demo's owners are made up: nobody writes to them."""
    if project.demo or not mail_is_set():
        return False
    chosen = NotifySettings.objects.filter(project=project).first()
    return chosen is None or chosen.mail_owners


def _anybody(project: Project) -> bool:
    return _mails_owners(project) or bool(_daily(project))


def _deliveries(project: Project, digest: Digest, since: datetime, now: datetime) -> Iterator[Delivery]:
    """The digest's deliveries; recipients with an empty digest get none."""
    day, place = f"{now:%Y-%m-%d}", DigestProject(project.name, project.slug, address("project", project.slug))
    key = f"digest:{day}"
    for channel in _daily(project):
        theirs = _channel_digest(channel, digest, since, now)
        if not theirs.is_empty:
            yield delivery_for(channel, digest_message(theirs, place, day=day, owner=channel.owner), key=key, now=now)
    for owner in digest.owners if _mails_owners(project) else ():
        theirs = digest.of(owner)
        if _is_mail(owner) and not theirs.is_empty:
            message = digest_message(theirs, place, day=day, owner=owner)
            yield Delivery(project=project, recipient=owner, key=key, message=message.as_json())


def _channel_digest(channel: Channel, digest: Digest, since: datetime, now: datetime) -> Digest:
    """The part of a channel's owner and tests, with the alerts that it asks for."""
    theirs = digest.of(channel.owner) if channel.owner else digest
    fitting = fitting_numbers(channel.project, channel.only)
    if fitting is not None:
        theirs = theirs.among(fitting)
    rows = Notification.objects.filter(project=channel.project, kind__in=_ALERTS, created_at__gt=since)
    alerts = (Audience(News.of([row])).news_for(channel) for row in rows.filter(created_at__lte=now).order_by("pk"))
    messages = (message_of(news) for news in alerts if news is not None)
    return replace(
        theirs, alerts=tuple(item(message.title, message.sentence, message.url) for message in messages if message)
    )


def _is_mail(owner: str) -> bool:
    try:
        validate_email(owner)
    except ValidationError:
        return False
    return True


# -- what it says ------------------------------------------------------------------------------------------------


def digest_read(project: Project, *, since: datetime, now: datetime) -> Digest:
    live = list(Quarantine.objects.filter(project=project, state__in=(State.PROPOSED, State.ACTIVE)).order_by("id"))
    active = [quarantine for quarantine in live if quarantine.state == State.ACTIVE]
    tests = members_of(live)
    soon = sorted(
        (quarantine for quarantine in active if quarantine.expires_at <= now + _SOON),
        key=lambda quarantine: quarantine.expires_at,
    )
    analysis, columns = current_tests(project.pk)
    return Digest(
        proposed=_entries(project, [quarantine for quarantine in live if quarantine.state == State.PROPOSED], tests),
        quarantined=_events(project, since, now, _BEGAN),
        expiring=_entries(
            project,
            soon,
            tests,
            notes={quarantine.pk: f"expires {quarantine.expires_at:%Y-%m-%d}" for quarantine in soon},
        ),
        ready=_entries(project, _ready(active, tests), tests),
        ended=_events(project, since, now, _ENDED),
        flaky=_flaky(project, columns, since),
        fix_first=_fix_first(project, analysis, columns),
    )


def _entries(
    project: Project,
    rows: Sequence[Quarantine],
    tests: Mapping[int, Sequence[Test]],
    notes: Mapping[int, str] | None = None,
) -> tuple[Entry, ...]:
    note_of = notes or {}
    return tuple(
        Entry(
            called(row, tests.get(row.pk, [])),
            row.owner,
            note_of.get(row.pk, row.reason),
            quarantine_address(project, row),
            tuple(test.number for test in tests.get(row.pk, [])),
        )
        for row in rows
    )


def _events(project: Project, since: datetime, now: datetime, actions: Collection[Action]) -> tuple[Entry, ...]:
    """Each quarantine with one of these actions in the period, once, with its latest event."""
    found = QuarantineEvent.objects.filter(
        quarantine__project=project, at__gt=since, at__lte=now, action__in=actions
    ).select_related("quarantine")
    last = {event.quarantine_id: event for event in found.order_by("at", "version")}
    rows = [event.quarantine for event in last.values()]
    notes = {
        pk: f"{event.action} by {event.actor}" + (f": {event.reason}" if event.reason else "")
        for pk, event in last.items()
    }
    return _entries(project, rows, members_of(rows), notes)


def _ready(active: Sequence[Quarantine], tests: Mapping[int, Sequence[Test]]) -> list[Quarantine]:
    muted = [quarantine for quarantine in active if quarantine.mode == Quarantine.Mode.MUTE]
    progress = progresses(muted, tests)
    return [quarantine for quarantine in muted if progress[quarantine.pk].enough]


def _flaky(project: Project, columns: Columns, since: datetime) -> tuple[Entry, ...]:
    """Tests that turned flaky since then, newest first."""
    rows = chosen_rows(columns, Choice(state="flaky"))
    newest = test_rows(columns, sorted_rows(columns, rows, Sort("flaky_since", descending=True))[:_NEWEST])
    found = [finding for finding in newest if finding.flaky_since is not None and finding.flaky_since > since]
    notes = {finding.number: f"failed {finding.failed:,} of {finding.executed:,} runs" for finding in found}
    return _named(project, notes)


def _fix_first(project: Project, analysis: Analysis | None, columns: Columns) -> tuple[Entry, ...]:
    if analysis is None:
        return ()
    found = PriorityFinding.objects.filter(analysis=analysis).order_by("rank").values_list("data", flat=True)
    notes = {
        item["cluster"] if item["test"] is None else item["test"]: f"blocked {item['blocked']:,} runs"
        for item in found[:FIX_FIRST]
    }
    return _named(project, notes)


def _named(project: Project, notes: Mapping[int, str]) -> tuple[Entry, ...]:
    """Entries for tests by number, with owners; a cluster is named after its first test."""
    tests = {test.number: test for test in Test.objects.filter(project=project, number__in=notes)}
    book = owner_book(project)
    return tuple(
        Entry(tests[number].name, owner_of(book, [tests[number]]), note, test_address(project, number), (number,))
        for number, note in notes.items()
        if number in tests
    )
