"""The daily digest: once a day, to whom it matters, and nothing on an empty day."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.notify.channels import owners_mail_set
from dashboard.notify.deliveries import deliveries_due, delivery_send
from dashboard.notify.digests import digest_make, digest_read, digests_due
from dashboard.notify.models import Delivery
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action
from ingest.models import Project
from tests.dashboard.analysed import Analysed, make
from tests.notify.conftest import Kept, Open
from tests.quarantine.conftest import ANNA, report

NOON = timezone.now().replace(hour=12, minute=0)


@pytest.fixture
def day(project: Project, send, quarantined) -> dict[str, Quarantine]:
    """One quarantine of each sort."""
    send(report(6))
    made = {
        "test_00": quarantined("test_00", owner="@cart", action=Action.PROPOSE),
        "test_01": quarantined("test_01", owner="anna@corp.example", expires_at=timezone.now() + timedelta(days=3)),
        "test_02": quarantined("test_02", owner="@payments"),
    }
    quarantine_act(quarantine=made["test_02"], version=1, action=Action.RELEASE, actor=ANNA, reason="Clean.")
    return made


def soon() -> timedelta:
    return timedelta(minutes=5)


def test_it_tells_what_happened_and_what_waits(project: Project, day) -> None:
    now = timezone.now()
    told = digest_read(project, since=now - timedelta(days=1), now=now)
    assert [one.text for one in told.proposed] == ["test_00"]
    assert [one.text for one in told.quarantined] == ["test_01", "test_02"]
    assert [(one.text, one.note) for one in told.expiring] == [
        ("test_01", f"expires {day['test_01'].expires_at:%Y-%m-%d}")
    ]
    assert [(one.text, one.note) for one in told.ended] == [("test_02", "release by anna: Clean.")]
    assert told.ready == told.flaky == told.fix_first == ()


def test_what_was_told_yesterday_is_not_told_again(project: Project, day) -> None:
    now = timezone.now() + timedelta(hours=1)
    told = digest_read(project, since=now - timedelta(minutes=1), now=now)
    assert told.quarantined == told.ended == () and len(told.proposed) == 1


def test_one_that_was_clean_long_enough_is_ready_to_leave(project: Project, send, quarantined) -> None:
    send(report(4))
    quarantined("test_00", needed=2)
    quarantined("test_01", needed=200)
    for build in range(3):
        send(report(4), build_id=str(build))
    now = timezone.now()
    assert [one.text for one in digest_read(project, since=now, now=now).ready] == ["test_00"]


def test_flaky_tests_and_what_to_fix_first_come_from_the_analysis(db: None) -> None:
    made: Analysed = make()
    now = timezone.now()
    told = digest_read(made.project, since=now - timedelta(days=4_000), now=now)
    assert told.flaky and told.fix_first and "runs" in told.flaky[0].note
    assert digest_read(made.project, since=now, now=now).flaky == ()


def test_it_is_made_once_a_day_after_the_hour(project: Project, day, channel: Open, settings) -> None:
    settings.DIGEST_HOUR = 6
    channel(pace="daily")
    assert digests_due(now=NOON.replace(hour=5)) == []
    assert digests_due(now=NOON) == [project.pk]
    now = timezone.now() + soon()
    assert digest_make(project_id=project.pk, now=now) == 1 and digest_make(project_id=project.pk, now=now) == 0
    settings.DIGEST_HOUR = 0  # whatever the hour is now
    assert digests_due(now=now) == []
    assert Delivery.objects.count() == 1


def test_channels_get_their_owners_part_and_nothing_on_an_empty_day(project: Project, day, channel: Open) -> None:
    whole, cart = channel(name="whole", pace="daily"), channel(name="cart", pace="daily", owner="@cart")
    channel(name="nobody", pace="daily", owner="@nobody")
    channel(name="at once")
    digest_make(project_id=project.pk, now=timezone.now() + soon())
    told = {delivery.channel_id: delivery.message for delivery in Delivery.objects.all()}
    assert set(told) == {whole.pk, cart.pk}
    assert told[cart.pk]["data"] | {"fix_first": 0} == {
        "alerts": 0, "proposed": 1, "quarantined": 0, "expiring": 0, "ready": 0, "ended": 0, "flaky": 0, "fix_first": 0,
    }  # fmt: skip
    assert told[whole.pk]["data"]["quarantined"] == 2


def test_an_empty_day_sends_nothing(project: Project, channel: Open) -> None:
    channel(pace="daily")
    assert digest_make(project_id=project.pk) == 0 and not Delivery.objects.exists()


def test_owners_that_are_mail_addresses_get_their_part_by_mail(project: Project, day, mailbox: Kept) -> None:
    now = timezone.now() + soon()
    assert digest_make(project_id=project.pk, now=now) == 1
    for one in deliveries_due(now=now):
        delivery_send(delivery_id=one, now=now)
    (mail,) = mailbox.mails
    assert mail["To"] == "anna@corp.example" and "Digest of" in mail["Subject"]
    plain = mail.get_payload()[0].get_payload(decode=True).decode()
    assert "test_01" in plain and "test_00" not in plain


def test_no_mail_to_owners_of_a_demo_or_where_the_project_wants_none(project: Project, day, mailbox: Kept) -> None:
    owners_mail_set(project=project, wanted=False)
    assert digest_make(project_id=project.pk) == 0
    owners_mail_set(project=project, wanted=True)
    Project.objects.update(demo=True)
    assert digest_make(project_id=project.pk, now=timezone.now() + timedelta(days=1)) == 0
