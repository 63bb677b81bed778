"""What the gate gathers and keeps: a question, its answer, what was answered before, and the failing tests with it."""

import logging
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.quarantine.gate.service import answer_of, gate_ask, gate_decide, is_ready
from dashboard.quarantine.models import GateDecision, Quarantine
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action, State
from ingest.metadata import RunMetadata
from ingest.models import Project, Report, Test, Upload
from ingest.services import upload_receive
from tests.conftest import Send, body_of
from tests.quarantine.conftest import ANNA, Quarantined, case, report, suite

FLAKY = report(test_03="fail")


@pytest.fixture
def history(send: Send) -> None:
    for number in range(3):
        send(report(), build_id=f"old{number}", branch="main")


@pytest.fixture
def waiting(project: Project) -> Upload:
    metadata = RunMetadata(build_id="waits", branch="main")
    return upload_receive(project=project, body=body_of(FLAKY), metadata=metadata)[0]


@pytest.fixture
def red(history: None, send: Send, quarantined: Quarantined) -> Upload:
    """A red run whose only failing test is quarantined."""
    quarantined("test_03")
    return send(FLAKY, build_id="b", branch="main")


def decide(upload: Upload, exit_code: int = 1, runner: str = "") -> GateDecision:
    return gate_decide(decision=gate_ask(upload=upload, exit_code=exit_code, runner=runner))


def codes(decision: GateDecision) -> list[str]:
    return [reason["code"] for reason in decision.reasons]


# -- the question --------------------------------------------------------------------------------------------------


def test_a_runner_that_was_told_stays_where_it_is_not_told_again(red: Upload) -> None:
    assert decide(red, 2, "make").passed
    again = decide(red, 2)
    assert (again.runner, again.passed, again.earlier) == ("make", True, [])


def test_the_same_question_is_not_decided_again(red: Upload) -> None:
    first = decide(red, runner="pytest")
    with CaptureQueriesContext(connection) as asked:
        again = decide(red, runner="pytest")
    assert (again.decided_at, again.earlier) == (first.decided_at, [])
    assert not any("FOR UPDATE" in query["sql"] for query in asked)


def test_another_runner_is_decided_anew_and_the_answer_before_is_kept(red: Upload) -> None:
    first = decide(red, 2, "make")
    reopened = gate_ask(upload=red, exit_code=2, runner="pytest")
    assert (reopened.decided_at, reopened.passed, reopened.runner) == (None, False, "pytest")
    assert not decide(red, 2, "pytest").passed
    assert GateDecision.objects.get().earlier == [
        {"decided_at": first.decided_at.isoformat(), "passed": True, "sentence": first.sentence}
    ]


def test_so_many_answers_before_are_kept(red: Upload) -> None:
    first = decide(red, 2, "make")
    GateDecision.objects.update(earlier=[{"sentence": str(number)} for number in range(25)])
    kept = gate_ask(upload=red, exit_code=2, runner="pytest").earlier
    assert [answer["sentence"] for answer in kept] == [*map(str, range(6, 25)), first.sentence]


def test_whoever_comes_second_gets_the_answer_of_the_first(red: Upload) -> None:
    """Both saw that nothing was decided; meanwhile the quarantine was released."""
    second = gate_ask(upload=red, exit_code=1, runner="")
    assert decide(red).passed
    quarantine_act(quarantine=Quarantine.objects.get(), version=1, action=Action.RELEASE, actor=ANNA)
    assert gate_decide(decision=second).passed


# -- what waits ----------------------------------------------------------------------------------------------------


def test_a_success_waits_for_nothing_and_a_failure_for_its_reports(waiting: Upload, send: Send) -> None:
    assert is_ready(gate_ask(upload=waiting, exit_code=0, runner=""))
    assert not is_ready(gate_ask(upload=waiting, exit_code=1, runner=""))
    assert is_ready(gate_ask(upload=send(FLAKY, build_id="there"), exit_code=1, runner=""))


def test_what_waits_is_not_decided(waiting: Upload) -> None:
    asked = gate_ask(upload=waiting, exit_code=1, runner="")
    assert gate_decide(decision=asked) is asked
    assert asked.decided_at is None
    answer = answer_of(asked)
    assert answer is not None
    assert [reason.code for reason in answer.reasons] == ["not_processed"]


def test_a_success_that_waits_is_judged_without_its_reports(project: Project) -> None:
    upload, _ = upload_receive(project=project, body=body_of(FLAKY), metadata=RunMetadata())
    decision = decide(upload, 0)
    assert (decision.passed, decision.runner, decision.notes, decision.run) == (True, "other", [], None)
    assert answer_of(decision) is None
    assert decide(upload, 0, "make").runner == "make"


def test_a_pass_is_taken_back_while_the_run_has_something_new(red: Upload, project: Project) -> None:
    assert decide(red).passed
    upload_receive(
        project=project, body=body_of(report()), metadata=RunMetadata(build_id="b", branch="main", commit="c")
    )
    again = decide(red)
    assert (again.decided_at, again.passed, len(again.earlier)) == (None, False, 1)
    assert (GateDecision.objects.get().passed, GateDecision.objects.get().decided_at) == (False, None)


# -- the run -------------------------------------------------------------------------------------------------------


def test_the_run_is_that_of_the_upload_that_asks(red: Upload, send: Send) -> None:
    other = send(suite(case("fine")), build_id="b", branch="other")
    assert other.run_id != red.run_id
    assert [decide(upload).run_id for upload in (red, other)] == [red.run_id, other.run_id]


def test_an_upload_of_which_nothing_was_read_speaks_for_the_run_of_the_others(red: Upload, send: Send) -> None:
    unread = send(b"\0", build_id="b", branch="main")
    assert unread.run_id is None
    decision = decide(unread)
    assert (decision.run_id, codes(decision)) == (red.run_id, ["not_understood"])
    assert decision.failing != []


def test_a_run_whose_reports_are_gone_is_held(red: Upload) -> None:
    Report.objects.filter(upload=red).delete()
    assert codes(decide(red)) == ["report_missing"]


def test_a_report_that_is_known_to_be_partial_holds_also_where_no_file_says_so(red: Upload) -> None:
    Report.objects.filter(upload=red).update(partial=True)
    assert codes(decide(red)) == ["report_partial"]


def test_tests_are_counted_as_the_reports_name_them(history: None, send: Send, quarantined: Quarantined) -> None:
    """Without the first test of all, and with one that was skipped."""
    quarantined("test_03")
    cases = [case(f"test_{n:02}", {3: "fail", 5: "skip"}.get(n, "")) for n in range(1, 20)]
    decision = decide(send(suite(*cases), build_id="b", branch="main"))
    assert decision.sentence.startswith("1 of 19 tests failed")
    assert codes(decision) == ["too_few_tests"]
    assert decision.reasons[0]["sentence"] == "18 tests ran; such runs have 20 of late."


def test_a_report_without_tests_is_held(history: None, send: Send) -> None:
    decision = decide(send(b"<testsuite name='pytest'><error message='no'/></testsuite>", build_id="b", branch="main"))
    assert "run_errors" in codes(decision)
    assert decision.failing == []


@pytest.mark.parametrize(("order", "expected"), [("executed", ["cut_short"]), ("", [])])
def test_the_last_test_says_something_only_where_the_order_is_known(
    send: Send, quarantined: Quarantined, order: str, expected: list[str]
) -> None:
    whole, cut = (
        suite(*cases).replace(b"pytest", b"mine")
        for cases in ([case("test_00"), case("test_03"), case("test_04")], [case("test_00"), case("test_03", "fail")])
    )
    send(whole, build_id="old", branch="main", order=order)
    quarantined("test_03")
    decision = decide(send(cut, build_id="b", branch="main", job="new", order=order), runner="other")
    assert [code for code in codes(decision) if code == "cut_short"] == expected


@pytest.mark.parametrize(("untrusted", "expected"), [(True, ["too_many_excused"]), (False, [])])
def test_of_a_fork_so_many_failures_are_excused(
    history: None, send: Send, quarantined: Quarantined, settings: Any, untrusted: bool, expected: list[str]
) -> None:
    settings.FORK_EXCUSES = 1
    quarantined("test_03", "test_04")
    upload = send(report(test_03="fail", test_04="fail"), build_id="b", branch="main")
    Upload.objects.filter(pk=upload.pk).update(untrusted=untrusted)
    assert codes(decide(upload)) == expected


# -- what is kept --------------------------------------------------------------------------------------------------


def test_everything_is_kept_of_a_failing_test(history: None, send: Send, quarantined: Quarantined) -> None:
    held, expired = quarantined("test_03"), quarantined("test_04")
    Quarantine.objects.filter(pk=expired.pk).update(state=State.EXPIRED)
    decision = decide(send(report(test_03="fail", test_04="fail", test_05="fail"), build_id="b", branch="main"))
    assert [(row["name"], row["quarantine"], row["expired"], row["blocks"]) for row in decision.failing] == [
        ("test_04", expired.pk, True, True),
        ("test_05", None, False, True),
        ("test_03", held.pk, False, False),
    ]
    assert decision.failing[2] == {
        "number": Test.objects.get(name="test_03").number,
        "suite": "",
        "classname": "tests.cart",
        "name": "test_03",
        "file": "",
        "class": "quarantined",
        "blocks": False,
        "sentence": "It is quarantined: its failure does not block.",
        "quarantine": held.pk,
        "expired": False,
        "reruns": None,
        "touches_change": "unknown",
        "touches_why": "CI did not tell what changed",
        "remedy": "",
        "fixes": [],
    }


def test_a_failing_test_comes_with_fixes_of_tests_like_it(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://x.example/compare/a...b"
    answer = lambda project, causes: {test.number: [address] for test in Test.objects.filter(project=project)}  # noqa: E731
    monkeypatch.setattr("dashboard.quarantine.gate.service.fix_addresses", answer)
    decision = decide(send(report(test_03="fail"), build_id="b", branch="main"), runner="pytest")
    assert [row["fixes"] for row in decision.failing] == [[address]]


@pytest.mark.parametrize(
    ("attributes", "label"),
    [
        ("classname='shop.Cart'", "shop.Cart test_a"),
        ("file='shop/cart.js'", "cart test_a"),
    ],
)
def test_a_reason_names_the_test_with_its_class_or_else_its_suite(send: Send, attributes: str, label: str) -> None:
    document = f"<testsuite name='cart'><testcase {attributes} name='test_a'><failure/></testcase></testsuite>"
    decision = decide(send(document.encode(), build_id="b", branch="main"), runner="other")
    assert {
        "code": "not_quarantined",
        "sentence": f"{label} failed without being quarantined here.",
    } in decision.reasons


def test_all_failing_tests_count_and_so_many_are_kept(send: Send) -> None:
    cases = (case(f"test_{number}", "fail") for number in range(503))
    decision = decide(send(suite(*cases), build_id="b", branch="main"))
    assert decision.sentence.startswith("503 of 503 tests failed")
    assert len(decision.failing) == 500


def test_the_log_tells_each_answer(red: Upload, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "dashboard.quarantine.gate.service"):
        passed, held = decide(red), decide(red, 2)
    about = f"(project {red.project_id}, upload {red.pk})"
    assert [record.getMessage() for record in caplog.records if record.name.endswith("gate.service")] == [
        f"gate {passed.pk} {about} passes",
        f"gate {held.pk} {about} fails: exit_code_not_tests",
    ]
