"""What has a fixed age: sessions that ended, and notes that a digest was made."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard import tasks
from dashboard.notify.digests import digest_make
from dashboard.notify.models import DigestMade
from dashboard.people.models import SignedIn
from dashboard.retention.ages import DIGEST_DAYS, ENDED_SESSION_DAYS
from dashboard.retention.services import retention_plan, retention_run
from ingest.models import Project
from tests.people.signed_in import browser_of


def digests(project: Project, *ages: int) -> None:
    for days in ages:
        at = timezone.now() - timedelta(days=days)
        DigestMade.objects.create(project=project, day=at.date(), at=at)


def kept(project: Project) -> list[int]:
    today = timezone.now().date()
    return [(today - made.day).days for made in DigestMade.objects.filter(project=project).order_by("-day")]


def test_notes_of_digests_go_after_a_month(project: Project) -> None:
    digests(project, 2, DIGEST_DAYS - 1, DIGEST_DAYS + 2, 400)
    assert retention_plan(project=project)["digests"] == 2
    assert retention_run(project=project)["digests"] == 2
    assert kept(project) == [2, DIGEST_DAYS - 1]
    assert digest_make(project_id=project.pk) == 0
    assert kept(project)[0] == 0


def test_the_last_note_of_a_digest_stays_whatever_its_age(project: Project) -> None:
    digests(project, 90, 100)
    retention_run(project=project)
    assert kept(project) == [90]


def signed_in(user: User, *, ended: timedelta) -> str:
    """A session that ended so long ago (before now: it goes on)."""
    key = browser_of(user).session.session_key
    now = timezone.now()
    Session.objects.filter(session_key=key).update(expire_date=now - ended)
    SignedIn.objects.update_or_create(key=key, defaults={"user": user, "seen_at": now - max(ended, timedelta())})
    return key


def test_sessions_go_a_day_after_their_end_with_what_was_listed_of_them(
    django_user_model: type[User], db: None
) -> None:
    user = django_user_model.objects.create_user("kim", password="a-long-password")
    signed_in(user, ended=timedelta(days=ENDED_SESSION_DAYS, hours=1))
    kept_keys = {signed_in(user, ended=timedelta(hours=1)), signed_in(user, ended=timedelta(hours=-1))}
    tasks.sweep_keeping()
    assert set(Session.objects.values_list("session_key", flat=True)) == kept_keys
    assert set(SignedIn.objects.values_list("key", flat=True)) == kept_keys


def test_what_was_listed_of_a_session_that_is_gone_goes_too(django_user_model: type[User], db: None) -> None:
    user = django_user_model.objects.create_user("kim", password="a-long-password")
    long_ago = timezone.now() - timedelta(days=ENDED_SESSION_DAYS, hours=1)
    SignedIn.objects.create(user=user, key="gone", seen_at=long_ago)
    SignedIn.objects.create(user=user, key="a moment ago", seen_at=timezone.now())
    tasks.sweep_keeping()
    assert list(SignedIn.objects.values_list("key", flat=True)) == ["a moment ago"]
