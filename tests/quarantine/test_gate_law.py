"""The gate's law, where it takes a store to see it: the run and not the upload, names that come twice, identities."""

from datetime import timedelta

import pytest
from django.test import Client

from analytics.models import IncidentFinding
from analytics.runs.failing_tests import Excuse
from analytics.services import analysis_refresh
from dashboard.people.models import AuditEntry
from dashboard.quarantine.gate.excuses import excuses_of
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.states import State
from ingest import identity, renames
from ingest.identity import digest_of
from ingest.metadata import RunMetadata
from ingest.models import Project, Rename, Report, Run, Test, Upload
from ingest.services import upload_receive
from tests.conftest import Send, body_of
from tests.quarantine.conftest import Quarantined, case, report, suite

FLAKY = {"test_03": "fail"}


@pytest.fixture
def history(send: Send) -> None:
    """As many green runs as a norm needs."""
    for number in range(3):
        send(report(), build_id=f"old{number}", branch="main")


def reasons(upload: Upload, *, exit_code: int = 1, runner: str = "pytest") -> list[str]:
    decision = gate_decide(decision=gate_ask(upload=upload, exit_code=exit_code, runner=runner))
    assert decision.passed == (not decision.reasons)
    return [reason["code"] for reason in decision.reasons]


# -- the run, not the upload ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [{}, {"commit": "77be01d"}, {"branch": "fix"}, {"branch": ""}, {"tree": "t"}], ids=str)
def test_uploads_of_one_build_are_one_run_however_they_spell_the_commit(
    send: Send, history: None, quarantined: Quarantined, told: dict[str, str]
) -> None:
    quarantined("test_03")
    send(suite(case("real", "fail")), **{"build_id": "b", "branch": "main", **told})
    assert reasons(send(report(**FLAKY), build_id="b", branch="main")) == ["not_quarantined"]


@pytest.mark.parametrize(
    "other",
    [{"build_id": "c"}, {"job": "lint"}, {"shard": "1/2"}, {"environment": {"os": "mac"}}, {"attempt": 2}],
    ids=str,
)
def test_other_jobs_and_builds_are_other_runs(send: Send, history: None, quarantined: Quarantined, other: dict) -> None:
    quarantined("test_03")
    send(suite(case("real", "fail")), **{"build_id": "b", "branch": "main", **other})
    assert reasons(send(report(**FLAKY), build_id="b", branch="main")) == []


def test_what_a_fork_sends_under_our_build_id_holds_nothing(
    send: Send, history: None, quarantined: Quarantined
) -> None:
    quarantined("test_03")
    foreign = send(suite(case("real", "fail")), build_id="b", branch="main", fork=True)
    Upload.objects.filter(pk=foreign.pk).update(untrusted=True)
    assert reasons(send(report(**FLAKY), build_id="b", branch="main")) == []


def test_another_runner_is_another_question(send: Send, history: None, quarantined: Quarantined) -> None:
    quarantined("test_03")
    upload = send(report(**FLAKY), build_id="b", branch="main")
    assert reasons(upload, exit_code=2, runner="make") == []
    assert reasons(upload, exit_code=2, runner="pytest") == ["exit_code_not_tests"]


# -- the exit code -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "expected"), [(1, []), (2, []), (3, ["fewer_failures"]), (40, ["fewer_failures"])])
def test_a_runner_that_counts_has_all_its_failures_in_the_reports(
    send: Send, history: None, quarantined: Quarantined, code: int, expected: list[str]
) -> None:
    """A smaller number is a wrapper's, and hides nothing."""
    quarantined("test_03", "test_04")
    upload = send(report(**FLAKY, test_04="fail"), build_id="b", branch="main")
    assert reasons(upload, exit_code=code, runner="mocha") == expected


# -- names that come twice -----------------------------------------------------------------------------------------


def odd(*cases: str) -> bytes:
    """Of a producer that nobody knows."""
    return suite(*cases).replace(b"pytest", b"mine")


TWICE = odd(case("test_03", "fail"), case("test_03"), case("test_04"))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, []),
        ({"branch": ""}, []),
        ({"branch": "fix"}, ["ambiguous_identity"]),
        ({"pull_request": "7"}, ["ambiguous_identity"]),
    ],
    ids=["on the default branch", "on a branch that is not told", "on another branch", "in a pull request"],
)
def test_a_name_that_came_twice_before_it_was_quarantined_is_excused(
    send: Send, quarantined: Quarantined, told: dict[str, str], expected: list[str]
) -> None:
    for build in ("1", "2", "3"):
        send(odd(case("test_03"), case("test_03"), case("test_04")), **{"build_id": build, "branch": "main", **told})
    quarantined("test_03")
    assert reasons(send(TWICE, build_id="b", branch="main"), runner="other") == expected


def test_a_name_that_came_twice_only_since_is_not(send: Send, quarantined: Quarantined) -> None:
    for build in ("1", "2", "3"):
        send(odd(case("test_03"), case("test_04")), build_id=build, branch="main")
    quarantined("test_03")
    send(odd(case("test_03"), case("test_03"), case("test_04")), build_id="4", branch="main")
    assert reasons(send(TWICE, build_id="b", branch="main"), runner="other") == ["ambiguous_identity"]


def test_a_name_that_came_twice_just_when_it_was_quarantined_is_excused(send: Send, quarantined: Quarantined) -> None:
    for build in ("1", "2", "3"):
        upload = send(odd(case("test_03"), case("test_03"), case("test_04")), build_id=build, branch="main")
    quarantined("test_03")
    Run.objects.update(received_at=upload.received_at)
    Quarantine.objects.update(created_at=upload.received_at)
    assert reasons(send(TWICE, build_id="b", branch="main"), runner="other") == []


def test_a_quarantined_name_in_two_uploads_is_like_one_in_two_files(
    send: Send, history: None, quarantined: Quarantined
) -> None:
    quarantined("test_03")
    first, second = report(**FLAKY), suite(case("test_03", "fail"))
    assert reasons(send(first, second, build_id="together", branch="main")) == ["ambiguous_identity"]
    send(second, build_id="apart", branch="main")
    assert reasons(send(first, build_id="apart", branch="main")) == ["ambiguous_identity"]


# -- which quarantine excuses ----------------------------------------------------------------------------------------


@pytest.fixture
def two(history: None, quarantined: Quarantined) -> list[Quarantine]:
    """Two quarantines of what is one test now."""
    quarantined("test_03")
    quarantined("test_04")
    renames.test_alias(old=Test.objects.get(name="test_04"), new=Test.objects.get(name="test_03"))
    return list(Quarantine.objects.order_by("pk"))


@pytest.mark.parametrize(("expired", "named"), [((), 0), ((0,), 1), ((1,), 0), ((0, 1), 1)])
def test_of_two_quarantines_one_that_holds_excuses(
    send: Send, two: list[Quarantine], expired: tuple[int, ...], named: int
) -> None:
    Quarantine.objects.filter(pk__in=[two[at].pk for at in expired]).update(state=State.EXPIRED)
    upload = send(report(**FLAKY), build_id="b", branch="main")
    decision = gate_decide(decision=gate_ask(upload=upload, exit_code=1, runner="pytest"))
    assert decision.passed is (len(expired) < 2)
    assert [failing_test["quarantine"] for failing_test in decision.failing] == [two[named].pk]


@pytest.mark.parametrize(("seconds", "expired"), [(-1, False), (0, True), (1, True)])
def test_a_quarantine_ends_at_the_moment_of_its_expiry(
    project: Project, send: Send, quarantined: Quarantined, seconds: int, expired: bool
) -> None:
    upload = send(report(**FLAKY), build_id="b", branch="main")
    quarantined("test_03")
    test, quarantine = Test.objects.get(name="test_03"), Quarantine.objects.get()
    now = quarantine.expires_at + timedelta(seconds=seconds)
    assert excuses_of(project, {test.number: [upload.run_id]}, now) == {
        test.number: Excuse(quarantine.pk, expired, quarantine.created_at)
    }


def test_a_test_is_excused_where_every_run_in_which_it_failed_is_in_the_scope(
    send: Send, history: None, quarantined: Quarantined
) -> None:
    """Whichever upload of the build asks; where it passed does not matter."""
    quarantined("test_03", branches=["main"])
    send(suite(case("fine")), build_id="b", branch="other")
    assert reasons(send(report(**FLAKY), build_id="b", branch="main")) == []
    last = send(suite(case("test_03", "fail"), case("fine_too")), build_id="b", branch="other")
    assert "not_quarantined" in reasons(last)


@pytest.mark.parametrize("asked_first", [True, False])
def test_the_runner_that_is_told_counts_also_where_it_was_not_told_before(
    send: Send, history: None, quarantined: Quarantined, asked_first: bool
) -> None:
    quarantined("test_03")
    upload = send(report(**FLAKY), build_id="b", branch="main")
    if asked_first:
        gate_ask(upload=upload, exit_code=2, runner="")
    assert reasons(upload, exit_code=2, runner="make") == []


# -- how a run ended -----------------------------------------------------------------------------------------------


def test_the_end_of_each_file_counts(send: Send, quarantined: Quarantined) -> None:
    """Two files make one report without an order, and one of them stopped at its failing test."""
    send(report(**FLAKY), build_id="old", branch="main")
    quarantined("test_03")
    whole = suite(*(case(f"other_{number}") for number in range(20)))
    stopped = suite(case("test_00"), case("test_03", "fail"))
    assert "cut_short" in reasons(send(whole, stopped, build_id="b", branch="main"))


@pytest.mark.parametrize(("last", "expected"), [("fail", ["cut_short"]), ("", [])])
def test_the_end_of_a_report_whose_sender_tells_the_order_counts(
    send: Send, quarantined: Quarantined, last: str, expected: list[str]
) -> None:
    """Nobody knows this producer's order; behind the last test that ran there are skipped ones."""
    told = {"branch": "main", "order": "executed"}
    send(odd(case("test_03"), case("test_04"), case("test_05")), build_id="old", **told)
    quarantined("test_03", "test_04")
    ended = odd(case("test_03", "fail"), case("test_04", last), case("test_05", "skip"))
    assert [
        code for code in reasons(send(ended, build_id="b", **told), runner="other") if code == "cut_short"
    ] == expected


def test_a_command_that_succeeded_passes_before_its_report_is_processed(project: Project) -> None:
    upload, _ = upload_receive(project=project, body=body_of(report()), metadata=RunMetadata(build_id="b"))
    decision = gate_decide(decision=gate_ask(upload=upload, exit_code=0, runner=""))
    assert decision.passed
    assert decision.decided_at is not None
    assert decision.runner == "other"


# -- what is said of a failing test ----------------------------------------------------------------------------------


def told_of(upload: Upload, runner: str = "other") -> dict[str, tuple[str, str]]:
    decision = gate_decide(decision=gate_ask(upload=upload, exit_code=1, runner=runner))
    return {
        failing_test["name"]: (failing_test["class"], failing_test["sentence"]) for failing_test in decision.failing
    }


_UNEXPLAINED = "Nothing that is known explains this failure: no analysis covers this run."


def test_a_sentence_says_why_a_failing_test_blocks(send: Send, quarantined: Quarantined) -> None:
    names = [f"test_{number:02}" for number in range(20)]
    send(odd(*map(case, names)), build_id="old", branch="main")
    quarantined("test_03")
    quarantined("test_04")
    quarantined("test_05")
    Quarantine.objects.filter(members__test__name="test_05").update(state=State.EXPIRED)
    failed = [case(name, "fail") for name in ("test_03", "test_04", "test_04", "test_05", "test_06")]
    passed = [case(name) for name in names if name not in ("test_03", "test_04", "test_05", "test_06")]
    assert told_of(send(odd(*failed, *passed), build_id="b", branch="main")) == {
        "test_03": ("quarantined", "It is quarantined: its failure does not block."),
        "test_04": (
            "new",
            "It is quarantined, but the report names it more than once, and not as attempts: it blocks.",
        ),
        "test_05": ("new", f"Its quarantine has expired. {_UNEXPLAINED}"),
        "test_06": ("new", _UNEXPLAINED),
    }


@pytest.mark.parametrize("why", [["bulk"], []])
def test_a_run_that_the_analysis_calls_an_incident_is_called_so(
    project: Project, send: Send, history: None, why: list[str]
) -> None:
    upload = send(report(**FLAKY), build_id="b", branch="main")
    analysis = analysis_refresh(project=project)
    stored = Report.objects.get(upload=upload)
    IncidentFinding.objects.create(analysis=analysis, report=stored, data={"why": why, "decided": ""})
    assert (told_of(upload, "pytest")["test_03"][0] == "incident") is bool(why)


# -- identities that changed with the reader -------------------------------------------------------------------------


def with_id(name: str, inside: str = "") -> bytes:
    told = "<properties><property name='test_id' value='T-1'/></properties>"
    return (
        f"<testsuite name='s'><testcase classname='shop' name='{name}'>{told}{inside}</testcase></testsuite>".encode()
    )


@pytest.fixture
def before(project: Project, send: Send) -> Test:
    """A test that an earlier version stored by its `test_id`."""
    send(b"<testsuite name='s'><testcase classname='shop' name='other'/></testsuite>", build_id="old", branch="main")
    Test.objects.update(digest=digest_of("id", "T-1"), classname="shop", name="t")
    return Test.objects.get()


def quarantine(test: Test, quarantined: Quarantined) -> Quarantine:
    return quarantined(test.name)


def test_a_test_that_was_known_by_its_test_id_keeps_its_quarantine(
    before: Test, send: Send, quarantined: Quarantined
) -> None:
    held = quarantine(before, quarantined)
    for build in ("1", "2", "3"):
        send(with_id("t"), build_id=build, branch="main")
    assert reasons(send(with_id("t", "<failure/>"), build_id="b", branch="main"), runner="other") == []
    before.refresh_from_db()
    assert before.alias_of == Test.objects.exclude(pk=before.pk).get()
    assert held.events.order_by("-version").first().reason.endswith("it is the same test.")
    entry = AuditEntry.objects.get(action="rename.accepted")
    assert entry.after["widened"][0]["quarantine"] == held.pk


def test_a_test_of_another_name_is_only_suggested(before: Test, send: Send, quarantined: Quarantined) -> None:
    """Anybody can write that id into a report."""
    quarantine(before, quarantined)
    upload = send(with_id("real", "<failure/>"), build_id="b", branch="main")
    assert "not_quarantined" in reasons(upload, runner="other")
    rename = Rename.objects.get()
    assert (rename.state, rename.certain, rename.old) == ("suggested", False, before)


def test_an_id_that_two_tests_carry_names_neither(before: Test, send: Send) -> None:
    both = with_id("t").replace(b"</testsuite>", with_id("u")[len(b"<testsuite name='s'>") :])
    send(both, build_id="1", branch="main")
    assert not Rename.objects.filter(certain=True).exists()


KARMA = ("Chrome 41.0.2272 (Mac OS X 10.8.5)", "Firefox 102.0 (Ubuntu 0.0.0)")


def in_browser(browser: str, inside: str = "") -> bytes:
    classname = browser.replace(" ", "_").replace(".", "_") + ".cart"
    return f"<testsuite name='{browser}'><testcase classname='{classname}' name='t'>{inside}</testcase></testsuite>".encode()


def test_tests_that_were_stored_by_browser_are_one_test_now_and_it_is_audited(send: Send) -> None:
    send(b"<testsuite name='s'><testcase name='a'/><testcase name='b'/></testsuite>", build_id="old", branch="main")
    for browser, old in zip(KARMA, Test.objects.order_by("name"), strict=True):
        classname = browser.replace(" ", "_").replace(".", "_") + ".cart"
        old.suite, old.classname, old.name = browser, classname, "t"
        old.digest = identity.test_digest((browser, classname, "t", "", ""))
        old.save()
    upload = send(*map(in_browser, KARMA), build_id="new", branch="main")
    reasons(upload, runner="other")
    new = Test.objects.get(classname="cart")
    assert Test.objects.filter(alias_of=new).count() == 2
    assert AuditEntry.objects.filter(action="rename.accepted").count() == 2
    assert not AuditEntry.objects.filter(action="rename.dismissed").exists()


def test_a_failure_in_one_of_two_browsers_blocks(send: Send, history: None) -> None:
    upload = send(in_browser(KARMA[0]), in_browser(KARMA[1], "<failure/>"), build_id="b", branch="main")
    assert "not_quarantined" in reasons(upload, runner="other")


# -- the ledger ----------------------------------------------------------------------------------------------------

LEDGER = (
    ("a.xml", report(5, test_01="fail").replace(b"<testsuite ", b"<testsuite failures='3' ")),
    ("shot.log", b"all is well\n"),
    ("b.xml", b"<unheard-of/>"),
)


def test_the_api_tells_what_became_of_everything(send: Send, read_token: str) -> None:
    upload = send(*LEDGER, build_id="b")
    answer = (
        Client()
        .get(f"/api/v1/projects/shop/uploads/{upload.pk}", headers={"authorization": f"Bearer {read_token}"})
        .json()
    )
    assert answer["ledger"] == {"read": 1, "not_results": 1, "not_understood": 1, "unclear": 1}
    assert {file["path"]: file["account"] for file in answer["files"]} == {
        "a.xml": "read",
        "shot.log": "not_results",
        "b.xml": "not_understood",
    }
    (line,) = answer["files"][0]["not_understood"]
    assert (line["code"], line["count"]) == ("header_surplus", 1)
