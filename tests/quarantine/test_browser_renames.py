"""Tests that were stored with a browser in their names are joined with what they are called today: their history,
their quarantine, and a note of it for everybody who asks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from analytics.columns.codec import columns_of
from analytics.kernel.flakiness import State
from analytics.services import analysis_refresh
from dashboard import tasks
from dashboard.people.models import AuditEntry
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.selectors import active_tests
from ingest.metadata import RunMetadata
from ingest.models import Project, Rename, Test, Upload
from ingest.services import upload_receive
from tests.conftest import body_of
from tests.quarantine.conftest import Quarantined
from tests.web.reading import flat

BEGAN = datetime(2026, 3, 2, 8, tzinfo=UTC)
FAILURE = "<failure message='no'>no</failure>"


def in_karma(version: str, inside: str = "", browser: str = "Chrome", name: str = "adds") -> bytes:
    suite = f"{browser} {version} (Mac OS X 10.8.5)"
    classname = suite.replace(" ", "_").replace(".", "_") + ".cart"
    return f"<testsuite name='{suite}'><testcase classname='{classname}' name='{name}'>{inside}</testcase></testsuite>".encode()


def in_testem(version: str, inside: str = "") -> bytes:
    case = f"<testcase classname='Chrome {version}' name='cart adds'>{inside}</testcase>"
    return f"<testsuite name='Testem Tests'>{case}</testsuite>".encode()


def in_webdriver(version: str, inside: str = "") -> bytes:
    classname = f"chrome.{version.replace('.', '_')}.macosx.cart"
    return (
        f"<testsuite name='cart'><testcase classname='{classname}' name='adds'>{inside}</testcase></testsuite>".encode()
    )


Producer = Callable[..., bytes]
PRODUCERS = pytest.mark.parametrize("report", [in_karma, in_testem, in_webdriver])


@contextmanager
def former_reader() -> Iterator[None]:
    """Reads as earlier releases did: a browser is a name like any other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ingest.junit.dialects.without_browser", lambda name: name)
        yield


@pytest.fixture
def process(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Upload]:
    """What a worker does with an upload, up to the request for an analysis: process(3, b"<testsuite/>")."""

    def process_files(hour: int, *files: bytes) -> Upload:
        began = BEGAN + timedelta(hours=hour)
        metadata = RunMetadata(build_id=f"b{hour}", branch="main", commit=f"{hour // 2:040d}", started_at=began)
        upload, _ = upload_receive(project=project, body=body_of(*files), metadata=metadata, stated_at=began)
        tasks.process_upload(upload.pk)
        upload.refresh_from_db()
        assert upload.state == Upload.State.PROCESSED
        return upload

    return process_files


@PRODUCERS
def test_history_and_quarantine_go_on_under_the_name_without_the_browser(
    project: Project, process: Callable[..., Upload], quarantined: Quarantined, admin_client: Client, report: Producer
) -> None:
    with former_reader():
        for hour in range(8):
            process(hour, report("41.0.2272", FAILURE if hour % 4 == 0 else ""))
    old = Test.objects.get()
    held = quarantined(old.name)
    failed = process(8, report("41.0.2272", FAILURE))

    new = Test.objects.exclude(pk=old.pk).get()
    old.refresh_from_db()
    assert old.alias_of == new and "41" not in new.suite + new.classname
    assert Rename.objects.get().state == Rename.State.ACCEPTED

    columns = columns_of(analysis_refresh(project=project))
    (row,) = columns.rows([new.number]).values()
    assert (columns["executed"][row], columns["failed"][row], columns["state"][row]) == (9, 3, State.FLAKY)

    decision = gate_decide(decision=gate_ask(upload=failed, exit_code=1, runner="other"))
    assert decision.passed, decision.reasons
    assert [test.pk for test in active_tests(project.pk)] == [new.pk]
    event = held.events.order_by("-version").first()
    assert event.actor == "upgrade" and event.reason.endswith("it is the same test.")

    entry = AuditEntry.objects.get(action="rename.accepted")
    assert entry.before["name"] != entry.after["name"] == entry.target
    assert [widening["quarantine"] for widening in entry.after["widened"]] == [held.pk]

    listed = flat(admin_client.get("/projects/shop/tests"))
    assert listed.count(f'/projects/shop/tests/{new.number}"') and f'/projects/shop/tests/{old.number}"' not in listed
    for number in (new.number, old.number):  # a link to its former page leads to the same
        assert "3 of 9" in flat(admin_client.get(f"/projects/shop/tests/{number}"))


@PRODUCERS
def test_every_version_of_the_browser_that_was_stored_is_joined(
    process: Callable[..., Upload], report: Producer
) -> None:
    """A browser is updated every few weeks, and the first report after an upgrade names the newest."""
    with former_reader():
        for hour, version in enumerate(("41.0.2272", "42.0.2311", "43.0.2357")):
            process(hour, report(version))
    assert Test.objects.count() == 3
    process(3, report("44.0.2403"))
    new = Test.objects.order_by("number").last()
    assert set(Test.objects.exclude(pk=new.pk).values_list("alias_of", flat=True)) == {new.pk}
    assert AuditEntry.objects.filter(action="rename.accepted").count() == 3


def test_a_test_of_another_class_is_left_alone(process: Callable[..., Upload]) -> None:
    """The same name, in another class and in none: nothing says that these are the same test."""
    other = in_karma("41.0.2272").replace(b".cart'", b".basket'")
    bare = b"<testsuite name='unit'><testcase classname='cart.unit' name='adds'/></testsuite>"
    with former_reader():
        process(0, other)
        process(1, bare)
    process(2, in_karma("44.0.2403"))
    assert Test.objects.filter(alias_of=None).count() == 3
    assert not Rename.objects.filter(certain=True).exists()


def test_what_one_run_said_of_two_browsers_contradicts_nothing(
    project: Project, process: Callable[..., Upload]
) -> None:
    """Broken in Firefox since ever, fine in Chrome: joined, these are two results of one name in each run and not a
    flaky test, as in a run that is read today."""
    both = in_karma("41.0.2272"), in_karma("99.0", FAILURE, "Firefox")
    with former_reader():
        for hour in range(6):
            process(hour, *both)
    process(6, *both)
    (new,) = Test.objects.filter(alias_of=None)
    assert Test.objects.filter(alias_of=new).count() == 2
    columns = columns_of(analysis_refresh(project=project))
    (row,) = columns.rows([new.number]).values()
    assert columns["state"][row] not in (State.FLAKY, State.RECOVERED)
