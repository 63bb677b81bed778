"""The daily digest: read what happened since the last one, and put it into the queue of deliveries, once a day."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from analytics.columns import Columns
from analytics.kernel.flakiness import State as TestState
from analytics.listing import Choice, Sort, chosen_rows, sorted_rows
from analytics.models import Analysis, PriorityFinding
from analytics.rows import test_rows
from dashboard.notify.digest import FIX_FIRST, Digest, Entry, Place, digest_message
from dashboard.notify.mail import mail_is_set
from dashboard.notify.models import Channel, Delivery, DigestMade, NotifySettings
from dashboard.notify.telling import address, called, quarantine_address, test_address
from dashboard.quarantine.models import Quarantine, QuarantineEvent
from dashboard.quarantine.owning import owner_book, owner_of
from dashboard.quarantine.progress import progresses
from dashboard.quarantine.selectors import analysed, members_of
from dashboard.quarantine.states import Action, State
from ingest.models import Project, Test

logger = logging.getLogger(__name__)
_SOON = timedelta(days=7)
_NEWEST = 50
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
            made = list(_deliveries(project, digest, now))
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


def _deliveries(project: Project, digest: Digest, now: datetime) -> Iterator[Delivery]:
    """Nothing on an empty day, to nobody."""
    day, place = f"{now:%Y-%m-%d}", Place(project.name, project.slug, address("project", project.slug))
    places: list[tuple[Channel | None, str, str]] = [(one, "", one.owner) for one in _daily(project)]
    if _mails_owners(project):
        places += [(None, owner, owner) for owner in digest.owners if _is_mail(owner)]
    for channel, recipient, owner in places:
        mine = digest.of(owner) if owner else digest
        if not mine.is_empty:
            message = digest_message(mine, place, day=day, owner=owner)
            yield Delivery(
                project=project, channel=channel, recipient=recipient, key=f"digest:{day}", message=message.as_json()
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
    active = [one for one in live if one.state == State.ACTIVE]
    tests = members_of(live)
    soon = sorted((one for one in active if one.expires_at <= now + _SOON), key=lambda one: one.expires_at)
    analysis, columns = analysed(project.pk)
    return Digest(
        proposed=_entries(project, [one for one in live if one.state == State.PROPOSED], tests),
        quarantined=_events(project, since, now, _BEGAN),
        expiring=_entries(project, soon, tests, notes={one.pk: f"expires {one.expires_at:%Y-%m-%d}" for one in soon}),
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
    told = notes or {}
    return tuple(
        Entry(
            called(one, tests.get(one.pk, [])),
            one.owner,
            told.get(one.pk, one.reason),
            quarantine_address(project, one),
        )
        for one in rows
    )


def _events(project: Project, since: datetime, now: datetime, actions: Collection[Action]) -> tuple[Entry, ...]:
    """Quarantines to which this happened, each once, with what happened last."""
    found = QuarantineEvent.objects.filter(
        quarantine__project=project, at__gt=since, at__lte=now, action__in=actions
    ).select_related("quarantine")
    last = {one.quarantine_id: one for one in found.order_by("at", "version")}
    rows = [one.quarantine for one in last.values()]
    notes = {pk: f"{one.action} by {one.actor}" + (f": {one.reason}" if one.reason else "") for pk, one in last.items()}
    return _entries(project, rows, members_of(rows), notes)


def _ready(active: Sequence[Quarantine], tests: Mapping[int, Sequence[Test]]) -> list[Quarantine]:
    muted = [one for one in active if one.mode == Quarantine.Mode.MUTE]
    told = progresses(muted, tests)
    return [one for one in muted if told[one.pk].enough]


def _flaky(project: Project, columns: Columns, since: datetime) -> tuple[Entry, ...]:
    """Those that turned flaky since, the newest first."""
    rows = chosen_rows(columns, Choice(states=frozenset({TestState.FLAKY})))
    newest = test_rows(columns, sorted_rows(columns, rows, Sort("flaky_since", descending=True))[:_NEWEST])
    found = [one for one in newest if one.flaky_since is not None and one.flaky_since > since]
    notes = {one.number: f"failed {one.failed:,} of {one.executed:,} executions" for one in found}
    return _named(project, notes)


def _fix_first(project: Project, analysis: Analysis | None, columns: Columns) -> tuple[Entry, ...]:
    if analysis is None:
        return ()
    found = PriorityFinding.objects.filter(analysis=analysis).order_by("rank").values_list("data", flat=True)
    notes = {
        one["cluster"] if one["test"] is None else one["test"]: f"blocked {one['blocked']:,} runs"
        for one in found[:FIX_FIRST]
    }
    return _named(project, notes)


def _named(project: Project, notes: Mapping[int, str]) -> tuple[Entry, ...]:
    """Tests by number, with owner; a cluster is called by the first of its tests."""
    tests = {one.number: one for one in Test.objects.filter(project=project, number__in=notes)}
    book = owner_book(project)
    return tuple(
        Entry(tests[number].name, owner_of(book, [tests[number]]), note, test_address(project, number))
        for number, note in notes.items()
        if number in tests
    )
