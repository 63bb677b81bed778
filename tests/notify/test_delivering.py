"""From what happened to what arrived: once, retried, given up, and by one worker of many."""

import hashlib
import hmac
import uuid
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.notify.deliveries import LEASE_LENGTH, deliveries_due, delivery_claim, delivery_send
from dashboard.notify.fan_out import notifications_spread
from dashboard.notify.models import FAILING, Channel, Delivery
from dashboard.quarantine.models import Notification, Quarantine
from dashboard.quarantine.services import notify, quarantine_act
from dashboard.quarantine.states import Action
from dashboard.retention.services import retention_run
from ingest.models import Project, Test
from ingest.services import project_create
from tests.at_once import at_once
from tests.notify.conftest import SECRET, Kept, Open
from tests.notify.receiver import Received, Receiver, Says
from tests.quarantine.conftest import ANNA, report


def sweep(now: datetime | None = None) -> None:
    """What the worker does every few seconds."""
    notifications_spread()
    for delivery_id in deliveries_due(now=now):
        delivery_send(delivery_id=delivery_id, now=now)


def test_what_a_person_does_arrives_once_with_names_owner_reason_and_link(
    channel: Open, receiver: Receiver, held: Quarantine, settings
) -> None:
    Notification.objects.all().delete()
    channel(secret=SECRET)
    quarantine_act(quarantine=held, version=1, action=Action.RELEASE, actor=ANNA, reason="Fixed the clock.")
    for _ in range(3):
        sweep()
    (got,) = receiver.received
    answer = got.json()
    assert (answer["kind"], answer["owner"], answer["sentence"]) == ("released", "@cart", "Fixed the clock.")
    assert answer["title"] == "test_00: out of quarantine, failures block again"
    assert ["By", "anna"] in answer["facts"]
    assert answer["url"] == f"{settings.PUBLIC_URL}/projects/shop/quarantine/{held.pk}"
    assert answer["sections"][0]["items"][0]["text"] == "test_00"
    signed = got.headers["x-flakeboard-timestamp"].encode() + b"." + got.body
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert got.headers["x-flakeboard-signature"] == f"sha256={expected}"
    assert got.headers["x-flakeboard-delivery"] == answer["delivery"] == str(Delivery.objects.get().pk)


EVENTS = {
    Action.RELEASE: "released",
    Action.FIX: "released",
    Action.EXPIRE: "expired",
}


@pytest.mark.parametrize("action", EVENTS)
def test_every_end_of_a_quarantine_is_told_and_its_reopening_too(action: Action, held: Quarantine) -> None:
    quarantine_act(quarantine=held, version=1, action=action, actor=ANNA)
    quarantine_act(quarantine=held, version=2, action=Action.REOPEN, actor=ANNA)
    kinds = list(Notification.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["quarantined", EVENTS[action], "reopened"]


def test_a_proposal_and_its_approval_are_told(project, send, quarantined) -> None:
    send(report(4))
    one = quarantined("test_01", action=Action.PROPOSE)
    quarantine_act(quarantine=one, version=1, action=Action.APPROVE, actor=ANNA)
    assert list(Notification.objects.order_by("pk").values_list("kind", flat=True)) == ["proposed", "quarantined"]


def test_each_format_arrives(channel: Open, receiver: Receiver, held: Quarantine, mailbox: Kept) -> None:
    for kind in ("webhook", "slack", "teams"):
        channel(kind)
    channel("email", address="team@corp.example")
    sweep()
    assert Delivery.objects.filter(state="sent").count() == 4
    bodies = [one.json() for one in receiver.received]
    assert sorted(next(iter(body)) for body in bodies) == ["delivery", "text", "type"]
    (mail,) = mailbox.mails
    assert mail["To"] == "team@corp.example" and mail["Subject"].startswith("[Shop] test_00: in quarantine")
    plain, html = (part.get_payload(decode=True).decode() for part in mail.get_payload())
    assert "test_00" in plain and f"/projects/shop/quarantine/{held.pk}" in plain and "<b" in html


def test_hostile_names_make_no_header_and_no_markup_in_mail(
    channel: Open, held: Quarantine, mailbox: Kept, project
) -> None:
    name = "<img src=x onerror=alert(1)>\r\nBcc: evil@corp.example\r\n\r\nboo " + "x" * 4_000
    Test.objects.filter(project=project, name="test_00").update(name=name)
    channel("email", address="team@corp.example")
    sweep()
    (mail,) = mailbox.mails
    assert mail["Bcc"] is None and "\n" not in str(mail["Subject"]).replace("\n ", "")
    html = mail.get_payload()[1].get_payload(decode=True).decode()
    assert "<img" not in html and "&lt;img" in html


# -- who hears of what -------------------------------------------------------------------------------------------


def test_channels_hear_only_what_they_want(channel: Open, held: Quarantine) -> None:
    hears = [
        channel(name="all"),
        channel(name="owner", owner="@CART"),
        channel(name="kind", wants=("quarantined",)),
    ]
    channel(name="other owner", owner="@payments")
    channel(name="other kind", wants=("expired",))
    channel(name="off", enabled=False)
    channel(name="digest", pace="daily")
    notifications_spread()
    assert set(Delivery.objects.values_list("channel", flat=True)) == {hear.pk for hear in hears}


def test_what_is_for_the_whole_project_is_for_every_owner(channel: Open, project, held) -> None:
    Notification.objects.all().delete()
    channel(owner="@payments")
    notify(project_id=project.pk, kind="cap_reached", key="cap:1", payload={"cap": 50, "over": 3, "tests": [0, 1]})
    notifications_spread()
    told = Delivery.objects.get().message
    assert told["title"] == "3 more flaky tests than the policy may quarantine"
    assert told["sections"][0]["items"][0]["text"] == "test_00"


def test_another_projects_channels_hear_nothing(channel: Open, held: Quarantine) -> None:
    Channel.objects.filter(pk=channel().pk).update(project=project_create(slug="other", name="Other"))
    notifications_spread()
    assert not Delivery.objects.exists()


# -- trying again ------------------------------------------------------------------------------------------------


def test_it_is_tried_again_later_and_the_body_stays_the_same(channel: Open, receiver: Receiver, held) -> None:
    receiver.answers = [Says(503, b"busy"), Says(200)]
    one = channel()
    notifications_spread()
    now = timezone.now()
    sweep(now)
    waiting = Delivery.objects.get()
    assert waiting.state == "waiting" and now + timedelta(seconds=15) <= waiting.due_at <= now + timedelta(seconds=30)
    assert waiting.error == "It answered 503: busy."
    sweep(now + timedelta(seconds=10))
    assert len(receiver.received) == 1, "it was not due"
    sweep(now + timedelta(seconds=31))
    assert Delivery.objects.get().state == "sent"
    assert receiver.received[0].body == receiver.received[1].body
    one.refresh_from_db()
    assert one.failures == 0 and one.last_success_at is not None


def test_retry_after_is_heard(channel: Open, receiver: Receiver, held) -> None:
    receiver.answers = [Says(429, headers={"Retry-After": "600"})]
    channel()
    notifications_spread()
    now = timezone.now()
    sweep(now)
    assert Delivery.objects.get().due_at == now + timedelta(seconds=600)


@pytest.mark.parametrize("status", [400, 401, 404, 410, 302])
def test_an_answer_that_will_not_change_is_final(status: int, channel: Open, receiver: Receiver, held) -> None:
    receiver.answers = [Says(status, headers={"Location": "http://169.254.169.254/"})]
    channel()
    for days in (0, 0.5):
        sweep(timezone.now() + timedelta(days=days))
    assert len(receiver.received) == 1
    assert Delivery.objects.get().state == "failed" and str(status) in Delivery.objects.get().error


def test_a_server_that_is_away_for_a_day_is_given_up_and_shown_as_failing(channel: Open, held, settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.0/8"]
    one, now = channel(address="http://127.0.0.1:9/"), timezone.now()
    while Delivery.objects.filter(state="waiting").exists() or not Delivery.objects.exists():
        sweep(now)
        now = max(now + timedelta(seconds=1), Delivery.objects.get().due_at)
    done = Delivery.objects.get()
    assert done.state == "failed" and 8 < done.tries < 30 and "cannot be reached" in done.error
    one.refresh_from_db()
    assert one.is_failing and one.failures >= FAILING


def test_a_failing_channel_holds_up_no_other(channel: Open, receiver: Receiver, project, held) -> None:
    bad, good = channel(name="bad", address="http://127.0.0.1:9/"), channel(name="good")
    Channel.objects.filter(pk=bad.pk).update(failures=5)
    for number in range(30):
        notify(project_id=project.pk, kind="cap_reached", key=f"cap:{number}")
    notifications_spread()
    due = Delivery.objects.filter(pk__in=deliveries_due())
    assert due.filter(channel=bad).count() == 1 and due.filter(channel=good).count() == 20


def test_a_private_address_is_refused_for_good(channel: Open, held, settings) -> None:
    settings.OUTGOING_ALLOW = []
    one = channel()
    sweep()
    assert Delivery.objects.get().state == "failed" and "OUTGOING_ALLOW" in Delivery.objects.get().error
    one.refresh_from_db()
    assert one.last_error == Delivery.objects.get().error


def test_a_mail_server_that_refuses_for_now_is_tried_again(channel: Open, held, mailbox: Kept, monkeypatch) -> None:
    async def busy(*_):
        return "451 try later"

    monkeypatch.setattr(Kept, "handle_RCPT", busy, raising=False)
    channel("email", address="team@corp.example")
    sweep()
    assert Delivery.objects.get().state == "waiting" and "451" in Delivery.objects.get().error


def test_without_a_mail_server_a_mail_says_so(channel: Open, held, settings) -> None:
    settings.EMAIL_HOST = ""
    channel("email", address="team@corp.example")
    sweep()
    assert Delivery.objects.get().state == "failed" and "EMAIL_URL" in Delivery.objects.get().error


def test_what_is_long_done_is_forgotten(channel: Open, receiver: Receiver, held, project: Project) -> None:
    channel()
    notify(project_id=project.pk, kind=Notification.Kind.UPLOAD_ERROR, key="upload_error:1", payload={"uploads": [1]})
    sweep()
    assert retention_run(project=project)["deliveries"] == 0
    later = retention_run(project=project, now=timezone.now() + timedelta(days=91))
    assert (later["deliveries"], later["upload_alerts"]) == (1, 1)
    assert set(Notification.objects.values_list("kind", flat=True)) == {"quarantined"}


# -- many workers ------------------------------------------------------------------------------------------------


def test_a_killed_workers_claim_is_taken_over(channel: Open, receiver: Receiver, held) -> None:
    channel()
    notifications_spread()
    now = timezone.now()
    (waiting,) = deliveries_due(now=now)
    assert delivery_claim(delivery_id=waiting, now=now) is not None
    assert deliveries_due(now=now) == [] and not delivery_send(delivery_id=waiting, now=now)
    later = now + LEASE_LENGTH + timedelta(seconds=1)
    assert deliveries_due(now=later) == [waiting]
    assert delivery_send(delivery_id=waiting, now=later)
    assert (Delivery.objects.get().state, Delivery.objects.get().tries, len(receiver.received)) == ("sent", 2, 1)


@pytest.mark.django_db(transaction=True)
def test_the_late_result_of_a_worker_that_lost_its_claim_is_thrown_away(
    channel: Open, receiver: Receiver, held
) -> None:
    """While it waits for an answer, another worker takes the delivery over."""

    def meanwhile(_: Received) -> Says:
        try:
            Delivery.objects.update(claim=uuid.uuid4())
        finally:
            connection.close()
        return Says(500)

    receiver.answers = meanwhile
    channel()
    sweep()
    kept = Delivery.objects.get()
    assert (kept.state, kept.error) == ("sending", "") and Channel.objects.get().failures == 0


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_send_once(channel: Open, receiver: Receiver, held) -> None:
    for number in range(8):
        channel(name=str(number))
    assert not [one for one in at_once(*[sweep] * 6) if isinstance(one, Exception)]
    sweep()
    delivered = [one.headers["x-flakeboard-delivery"] for one in receiver.received]
    assert len(delivered) == len(set(delivered)) == 8
    assert set(Delivery.objects.values_list("state", "tries")) == {("sent", 1)}
