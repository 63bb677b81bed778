"""Alerts: each is decided once, goes to whom it concerns, waits out quiet hours, and does not repeat itself."""

from datetime import UTC, datetime, time, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from analytics.models import IncidentDecision
from analytics.services import analysis_refresh
from dashboard.notify.alerts.decisions import alerts_decide, projects_due
from dashboard.notify.alerts.flaky_rate import LEAST_RUNS
from dashboard.notify.alerts.queue import PERIOD
from dashboard.notify.alerts.uploads import silences_alert, upload_errors_alert
from dashboard.notify.deliveries import deliveries_due, delivery_send
from dashboard.notify.digests import digest_make
from dashboard.notify.fan_out import notifications_spread
from dashboard.notify.models import AlertWatch, Delivery
from dashboard.notify.quiet_deliveries import held_deliveries_release
from dashboard.notify.quiet_hours import QuietHours
from dashboard.quarantine.labels.services import labels_set
from dashboard.quarantine.models import Notification
from dashboard.quarantine.owners.store import test_owner_set as owner_set
from ingest.models import Project, Report, Test, Upload
from tests.at_once import at_once
from tests.notify.conftest import Open
from tests.notify.receiver import Receiver
from tests.quarantine.conftest import report

MINUTE = timedelta(minutes=1)


def sweep(now: datetime | None = None) -> None:
    notifications_spread(now=now)
    held_deliveries_release(now=now)
    for delivery_id in deliveries_due(now=now):
        delivery_send(delivery_id=delivery_id, now=now)


def decide(project: Project, now: datetime | None = None) -> None:
    """What workers do after an upload, twice: the second time nothing is new."""
    analysis_refresh(project=project)
    assert projects_due() == [project.pk]
    alerts_decide(project_id=project.pk, now=now)
    alerts_decide(project_id=project.pk, now=now)
    sweep(now and now + MINUTE)


def kinds(receiver: Receiver) -> list[str]:
    return [got.json()["kind"] for got in receiver.received]


@pytest.fixture
def began(project: Project, send) -> Project:
    """A project whose first analysis is decided on: what there is by then is no news."""
    send(report(6), build_id="1", commit="a1", branch="main")
    send(report(6, test_05="fail"), build_id="2", commit="a1", branch="pulls/1")
    decide(project)
    return project


def flake(send, name: str, build: str) -> None:
    """Make a test flaky: it passed on this commit before."""
    send(report(6, **{name: "fail"}), build_id=build, commit="a1", branch="pulls/1")


# -- flaky tests -------------------------------------------------------------------------------------------------


def test_a_new_flaky_test_is_told_once_and_those_that_follow_within_an_hour_together(
    began: Project, send, channel: Open, receiver: Receiver
) -> None:
    channel()
    flake(send, "test_00", "3")
    decide(began)
    (got,) = receiver.received
    answer = got.json()
    assert answer["title"] == "test_00: turned flaky" and answer["severity"] == "warning"
    assert answer["sections"][0]["items"][0]["note"] == "failed 1 of 3 runs; owner nobody"
    for build, name in (("4", "test_01"), ("5", "test_02")):
        flake(send, name, build)
        decide(began)
    assert len(receiver.received) == 1, "the hour is not over"
    for _ in range(2):
        sweep(timezone.now() + PERIOD)
    assert [item["text"] for item in receiver.received[1].json()["sections"][0]["items"]] == ["test_01", "test_02"]
    assert len(receiver.received) == 2


@pytest.mark.django_db(transaction=True)
def test_workers_that_decide_and_spread_at_once_make_one_message(began: Project, send, channel: Open) -> None:
    channel()
    flake(send, "test_00", "3")
    analysis_refresh(project=began)

    def work() -> None:
        alerts_decide(project_id=began.pk)
        notifications_spread()

    at_once(*[work] * 4)
    notifications_spread()
    assert Notification.objects.filter(kind="new_flaky").count() == Delivery.objects.count() == 1


def test_a_test_that_turns_flaky_again_within_a_week_is_not_told_again(began: Project, send) -> None:
    flake(send, "test_00", "3")
    decide(began)
    known = AlertWatch.objects.get().flaky
    for days, alerts in ((1, 1), (8, 2)):
        AlertWatch.objects.update(flaky=known[1:])
        analysis_refresh(project=began)
        alerts_decide(project_id=began.pk, now=timezone.now() + timedelta(days=days))
        assert Notification.objects.filter(kind="new_flaky").count() == alerts


def test_each_channel_hears_of_its_own_tests_alone(began: Project, send, channel: Open, receiver: Receiver) -> None:
    tests = {test.name: test for test in Test.objects.filter(project=began)}
    labels_set(test=tests["test_00"], labels=["payments"])
    owner_set(test=tests["test_01"], owner="@cart")
    hears = {
        channel(name="all").pk: {"test_00", "test_01", "test_02"},
        channel(name="label", only="label:payments state:flaky").pk: {"test_00"},
        channel(name="owner", owner="@CART").pk: {"test_01"},
        channel(name="both", owner="@cart", only="state:flaky").pk: {"test_01"},
    }
    channel(name="neither", owner="@cart", only="label:payments")
    channel(name="severe", severity="critical")
    channel(name="other kind", wants=("incident",))
    send(report(6, test_00="fail", test_01="fail", test_02="fail"), build_id="3", commit="a1", branch="pulls/1")
    decide(began)
    told = {
        delivery.channel_id: {item["text"] for item in delivery.message["sections"][0]["items"]}
        for delivery in Delivery.objects.all()
    }
    assert told == hears and len(receiver.received) == 4


# -- the default branch ------------------------------------------------------------------------------------------


def test_main_broken_and_mended_are_told_once_each_and_a_new_break_not_within_the_hour(
    began: Project, send, channel: Open, receiver: Receiver
) -> None:
    channel(name="main", wants=("main_broken", "main_mended"))
    channel(name="not theirs", owner="@cart")
    for build in ("3", "4"):
        send(report(6, test_03="fail"), build_id=build, commit=f"b{build}", branch="main", job="unit")
        decide(began)
    (broken,) = (got.json() for got in receiver.received)
    assert broken["title"] == "main is broken: 1 test fails" and broken["severity"] == "critical"
    assert ["Commit", "b3"] in broken["facts"] and ["Job", "unit"] in broken["facts"]
    assert broken["sections"][0]["items"][0]["text"] == "test_03"
    send(report(6), build_id="5", commit="b5", branch="main", job="lint")
    decide(began)
    assert len(receiver.received) == 1, "another job passes: the broken one has not"
    send(report(6), build_id="6", commit="b6", branch="main", job="unit")
    decide(began)
    assert kinds(receiver) == ["main_broken", "main_mended"]
    send(report(6, test_02="fail"), build_id="7", commit="b7", branch="main", job="unit")
    decide(began)
    assert len(receiver.received) == 2 and projects_due() == [], "broken again within the hour"
    later = timezone.now() + PERIOD
    assert projects_due(now=later) == [began.pk]
    alerts_decide(project_id=began.pk, now=later)
    sweep(later)
    assert kinds(receiver)[2:] == ["main_broken"]


def test_flaky_and_quarantined_tests_and_reruns_of_old_commits_break_nothing(
    began: Project, send, quarantined, channel: Open, receiver: Receiver
) -> None:
    channel(wants=("main_broken",))
    quarantined("test_04")
    send(report(6, test_04="fail", test_05="fail"), build_id="3", commit="b1", branch="main")
    decide(began)
    for attempt, build in ((1, "4"), (1, "5"), (2, "4")):
        verdicts = {"test_03": "fail"} if build == "4" else {}
        send(report(6, **verdicts), build_id=build, attempt=attempt, commit=f"b{build}", branch="main")
    decide(began)
    assert kinds(receiver) == []


# -- incidents, uploads, rate ------------------------------------------------------------------------------------


def test_an_incident_is_told_when_it_opens(began: Project, send, channel: Open, receiver: Receiver) -> None:
    channel(owner="@cart")
    upload = send(report(6, test_00="fail"), build_id="3", commit="a2", branch="pulls/2")
    found = Report.objects.get(upload=upload)
    IncidentDecision.objects.create(project=began, report=found, word="confirmed")
    decide(began)
    (got,) = receiver.received
    assert got.json()["kind"] == "incident" and got.json()["data"]["reports"] == [found.pk]
    assert got.json()["sections"][0]["items"][0]["note"].startswith("1 of 6 tests failed")


def test_uploads_that_cannot_be_read_are_told_once(project: Project, send, channel: Open, receiver: Receiver) -> None:
    channel(severity="warning")
    first = send(b"this is no report")
    upload_errors_alert()
    sweep()
    second = send(b"neither is this")
    Upload.objects.filter(pk=send(b"from a fork").pk).update(untrusted=True)
    for _ in range(2):
        upload_errors_alert()
        sweep(timezone.now() + PERIOD)
    assert [got.json()["data"]["uploads"] for got in receiver.received] == [[first.pk], [second.pk]]
    assert receiver.received[0].json()["sections"][0]["items"][0]["note"] == first.error["sentence"]


def test_silence_is_told_once_to_channels_that_allow_less(
    project: Project, send, channel: Open, receiver: Receiver
) -> None:
    channel(name="a day", silence_hours=24)
    channel(name="three days", silence_hours=72)
    silences_alert(now=timezone.now() + timedelta(days=9))
    assert not Notification.objects.exists(), "nothing ever came"
    send(report(2))
    for hours in (23, 25, 26):
        silences_alert(now=timezone.now() + timedelta(hours=hours))
    sweep()
    assert [got.json()["title"] for got in receiver.received] == ["No uploads for 24 hours"]
    send(report(3))
    silences_alert(now=timezone.now() + timedelta(hours=25))
    assert Notification.objects.count() == 2, "a second silence"


def test_the_flaky_rate_is_told_when_it_passes_a_threshold_and_not_again_around_it(
    began: Project, channel: Open, receiver: Receiver
) -> None:
    channel(name="low", rate_threshold=0.10, wants=("expired",), severity="critical")
    channel(name="high", rate_threshold=0.50)
    channel(name="none")
    analysis = analysis_refresh(project=began)

    def rate(flaky: int, now: datetime, runs: int = 100) -> None:
        others = {"passed": runs - flaky, "regression": 0, "broken": 0, "incident": 0}
        analysis.summary["days"] = [{"day": int(now.timestamp() // 86_400), "flaky": flaky, **others}]
        analysis.save(update_fields=["summary"])
        alerts_decide(project_id=began.pk, now=now)
        sweep(now + MINUTE)

    now = timezone.now()
    rate(LEAST_RUNS - 1, now, runs=LEAST_RUNS - 1)
    for flaky in (9, 12, 9, 11):
        rate(flaky, now)
    (got,) = receiver.received
    assert got.json()["title"] == "Flaky tests failed 12 % of the runs, more than 10 %"
    assert "12 of 100 runs of the last 7 days" in got.json()["sentence"] and "95 % interval" in got.json()["sentence"]
    rate(7, now)
    rate(12, now)
    assert len(receiver.received) == 1, "at most once a day"
    for flaky, alerts in ((12, 2), (9, 2), (11, 2), (7, 2), (11, 3)):
        rate(flaky, now + timedelta(days=2 if flaky == 12 else 4))
        Notification.objects.filter(kind="flaky_rate", created_at__gt=now).update(created_at=now)
        assert Notification.objects.filter(kind="flaky_rate").count() == alerts


# -- quiet hours and digests -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begin", "until", "zone", "now", "end"),
    [
        ((22, 0), (7, 0), "UTC", "2026-03-02T21:59", None),
        ((22, 0), (7, 0), "UTC", "2026-03-02T22:00", "2026-03-03T07:00"),
        ((22, 0), (7, 0), "UTC", "2026-03-03T06:59", "2026-03-03T07:00"),
        ((22, 0), (7, 0), "UTC", "2026-03-03T07:00", None),
        ((12, 0), (13, 30), "UTC", "2026-03-02T13:29", "2026-03-02T13:30"),
        ((22, 0), (7, 0), "Asia/Kolkata", "2026-03-02T16:30", "2026-03-03T01:30"),
        ((22, 0), (7, 0), "Europe/Berlin", "2026-03-28T22:30", "2026-03-29T05:00"),  # clocks go forward
        ((22, 0), (7, 0), "Europe/Berlin", "2026-10-24T20:30", "2026-10-25T06:00"),  # and back
    ],
)
def test_quiet_hours_end_by_the_clock_of_their_zone(begin, until, zone: str, now: str, end: str | None) -> None:
    hours = QuietHours(time(*begin), time(*until), zone)
    expected = datetime.fromisoformat(end).replace(tzinfo=UTC) if end else None
    assert hours.end_after(datetime.fromisoformat(now).replace(tzinfo=UTC)) == expected


def test_what_comes_in_quiet_hours_arrives_together_when_they_end_and_what_passes_at_once(
    began: Project, send, channel: Open, receiver: Receiver, browser: Client
) -> None:
    night = timezone.now()
    clock = night.astimezone(UTC)
    quiet = {
        "quiet_from": (clock - timedelta(hours=1)).time().replace(second=0, microsecond=0),
        "quiet_until": (clock + timedelta(hours=3)).time().replace(second=0, microsecond=0),
    }
    channel(name="quiet", **quiet)
    channel(name="passes", quiet_passes="critical", wants=("main_broken",), **quiet)
    flake(send, "test_00", "3")
    send(report(6, test_03="fail"), build_id="4", commit="b4", branch="main")
    decide(began, night)
    assert kinds(receiver) == ["main_broken"] and Delivery.objects.filter(state="held").count() == 2
    assert browser.get("/projects/shop/notifications").content.decode().count("quiet hours</span> until") == 2
    for _ in range(2):
        sweep(night + timedelta(hours=3))
    assert kinds(receiver) == ["main_broken", "gathered"]
    together = receiver.received[1].json()
    assert [each["kind"] for each in together["data"]["messages"]] == ["new_flaky", "main_broken"]
    assert together["severity"] == "critical" and len(together["sections"][0]["items"]) == 2
    assert sorted(Delivery.objects.values_list("state", flat=True)) == ["joined", "joined", "sent", "sent"]
    assert (
        browser.get("/projects/shop/notifications").content.decode().count("sent together</span> after quiet hours")
        == 2
    )


def test_a_daily_channel_has_its_alerts_in_the_digest(began: Project, send, channel: Open) -> None:
    channel(name="cart", pace="daily", owner="@cart")
    channel(name="whole", pace="daily")
    send(report(6, test_03="fail"), build_id="3", commit="b1", branch="main")
    send(b"no report")
    upload_errors_alert()
    decide(began)
    digest_make(project_id=began.pk, now=timezone.now() + timedelta(minutes=1))
    told = {delivery.channel.name: delivery.message for delivery in Delivery.objects.select_related("channel")}
    assert [item["text"] for item in told["whole"]["sections"][0]["items"]] == [
        "1 upload was not read",
        "main is broken: 1 test fails",
    ]
    assert [item["text"] for item in told["cart"]["sections"][0]["items"]] == ["1 upload was not read"]
