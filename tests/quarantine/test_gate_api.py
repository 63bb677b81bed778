"""The gate as CI asks it in a project that has a norm: real reports, real quarantines, the answer as the schema says."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics.services import analysis_refresh
from dashboard.quarantine.models import GateDecision, Quarantine
from dashboard.quarantine.policy.settings import FirstRuns, PolicySettings
from dashboard.quarantine.selectors import decisions_of_run
from dashboard.quarantine.services import policy_set, quarantine_act
from dashboard.quarantine.states import Action
from ingest.metadata import RunMetadata
from ingest.models import Project, Run, Test, Token, Upload
from ingest.processing import upload_process
from ingest.renames import test_alias as alias
from ingest.services import project_create, token_create, upload_receive, upload_reprocess
from tests.api_client import committed_once
from tests.conftest import body_of, send_files
from tests.dashboard.openapi import Schema
from tests.quarantine.asking import FLAKY, Ci, codes
from tests.quarantine.conftest import ANNA, case, report, suite


@dataclass(frozen=True)
class History:
    project: Project


def make() -> History:
    """Three green runs of 20 tests on the default branch: as many as a norm needs."""
    project = project_create(slug="shop", name="Shop")
    for number in range(3):
        send_files(project, report(), build_id=f"old{number}", branch="main")
    return History(project)


@pytest.fixture(scope="module")
def history(django_db_setup: None, django_db_blocker: Any) -> Iterator[History]:
    """Made once for all tests here: what one changes is rolled back."""
    with committed_once(django_db_blocker, make) as made:
        yield made


@pytest.fixture
def project(history: History, db: None) -> Project:
    return Project.objects.get(pk=history.project.pk)


@pytest.fixture
def ci(upload_token: str, worker: None) -> Ci:
    return Ci(upload_token)


# -- the contract ------------------------------------------------------------------------------------------------


def test_a_run_whose_only_failure_is_quarantined_passes(ci: Ci, quarantined) -> None:
    quarantine = quarantined("test_03")
    answer = ci.ask(report(**FLAKY))
    Schema().check("gate_create", 200, answer)
    assert (answer["passed"], answer["decided"], answer["runner"]) == (True, True, "pytest")
    assert answer["sentence"] == "1 of 20 tests failed, and it is quarantined: the build may pass."
    assert answer["page"].endswith(f"/projects/shop/runs/{answer['run']}")
    failing = answer["failing"][0]
    assert (failing["name"], failing["class"], failing["blocks"]) == ("test_03", "quarantined", False)
    assert failing["quarantine"] == quarantine.pk


def test_a_new_failure_blocks_beside_a_quarantined_one(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    answer = ci.ask(report(**FLAKY, test_04="error"))
    assert codes(answer) == ["not_quarantined"]
    assert answer["sentence"] == "2 of 20 tests failed: 1 is quarantined, 1 blocks."
    assert [(one["name"], one["class"], one["blocks"]) for one in answer["failing"]] == [
        ("test_04", "new", True), ("test_03", "quarantined", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "fields", "expected"),
    [
        ([report(**FLAKY)], {"exit_code": 2}, ["exit_code_not_tests"]),
        ([report(**FLAKY)], {"exit_code": -15}, ["killed_by_signal"]),
        ([report(**FLAKY)], {"runner": "nextest"}, ["exit_code_not_tests"]),
        ([report()], {}, ["failed_without_failures"]),
        ([b"\0not a report"], {}, ["not_understood", "report_missing"]),
        ([b""], {}, ["not_understood", "report_missing"]),
        ([report(**FLAKY), b"<testsuite><testcase"], {}, ["not_understood"]),
        ([report(**FLAKY), b""], {}, ["not_understood"]),
        ([report(**FLAKY)[:-60]], {}, ["report_partial"]),
        ([report(10, **FLAKY)], {}, ["too_few_tests"]),
        ([report(4, **FLAKY)], {}, ["cut_short", "too_few_tests"]),
        (
            [suite(case("", "error", "").replace("'no'", "'collection failure'"), case("test_03", "fail"), *(case(f"test_{n:02}") for n in range(20) if n != 3))],
            {},
            ["run_errors"],
        ),
        ([report(**FLAKY, **{f"test_{n:02}": "skip" for n in range(4, 20)})], {}, ["cut_short", "too_few_tests"]),
    ],
    ids=[
        "interrupted", "killed", "another runner's code", "no failure", "not a report", "an empty file", "one cut",
        "one empty", "cut", "half of the tests", "stopped at the failure", "collection error", "the rest skipped",
    ],
)  # fmt: skip
def test_never_pass(ci: Ci, quarantined, files: list[bytes], fields, expected: list[str]) -> None:
    quarantined("test_03")
    answer = ci.ask(*files, **fields)
    assert codes(answer) == expected
    assert answer["passed"] is False


def test_another_kind_of_file_beside_the_report_does_not_matter(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    assert ci.ask(report(**FLAKY), b"<coverage line-rate='1'/>")["passed"]


def test_an_expired_quarantine_blocks_also_before_the_clock_was_there(ci: Ci, quarantined) -> None:
    quarantine = quarantined("test_03")
    Quarantine.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = ci.ask(report(**FLAKY))
    assert codes(answer) == ["quarantine_expired"]
    assert answer["failing"][0]["quarantine"] == quarantine.pk
    quarantine_act(quarantine=quarantine, version=1, action=Action.EXPIRE, actor=ANNA)
    assert codes(ci.ask(report(**FLAKY))) == ["quarantine_expired"]


@pytest.mark.parametrize(
    ("scope", "passes"),
    [
        ({"branches": ["main"]}, True),
        ({"branches": ["rel*"]}, False),
        ({"environments": {"os": "linux"}}, True),
        ({"environments": {"os": ["mac", "windows"]}}, False),
        ({"environments": {"arch": "arm"}}, False),
    ],
)
def test_a_quarantine_holds_within_its_scope(ci: Ci, quarantined, scope, passes: bool) -> None:
    quarantined("test_03", **scope)
    assert ci.ask(report(**FLAKY), environment="os=linux")["passed"] == passes


def test_a_pull_request_from_a_branch_of_the_same_name_is_not_the_default_branch(ci: Ci, quarantined) -> None:
    quarantined("test_03", branches=["main"])
    assert ci.ask(report(**FLAKY), pull_request="7")["passed"] is False


@pytest.mark.parametrize(
    ("branches", "passes"),
    [
        (["release/*"], False),
        (["*"], False),
        (["*/*", "[a-z]*", "release/evil"], False),
        (["pull/8"], False),
        (["release/*", "pull/*"], True),
        (["pull/7"], True),
        ([], True),
    ],
)
def test_a_pull_request_gets_nothing_by_the_name_of_its_branch(
    ci: Ci, quarantined, branches: list[str], passes: bool
) -> None:
    quarantined("test_03", branches=branches)
    assert ci.ask(report(**FLAKY), branch="release/evil", pull_request="7")["passed"] is passes


def test_a_release_branch_itself_is_within_the_scope(ci: Ci, quarantined) -> None:
    quarantined("test_03", branches=["release/*"])
    assert ci.ask(report(**FLAKY), branch="release/2")["passed"] is True


@pytest.mark.parametrize("action", [Action.RELEASE, Action.FIX])
def test_what_has_ended_blocks_again(ci: Ci, quarantined, action: Action) -> None:
    quarantine_act(quarantine=quarantined("test_03"), version=1, action=action, actor=ANNA)
    assert codes(ci.ask(report(**FLAKY))) == ["not_quarantined"]


def test_a_proposal_excuses_nothing(ci: Ci, quarantined) -> None:
    quarantined("test_03", action=Action.PROPOSE)
    assert codes(ci.ask(report(**FLAKY))) == ["not_quarantined"]


def test_the_last_attempt_decides(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    tests = "".join(case(f"test_{n:02}") for n in range(20) if n not in (3, 4))
    retried = case("test_04").replace("</testcase>", "<flakyFailure message='no'>no</flakyFailure></testcase>")
    surefire = f"<testsuite name='s' xmlns:xsi='x' xsi:schemaLocation='surefire'>{tests}{retried}{case('test_03', 'fail')}</testsuite>"
    answer = ci.ask(surefire.encode(), runner="maven")
    assert [one["name"] for one in answer["failing"]] == ["test_03"]


def test_a_second_upload_of_the_run_cannot_hide_a_failure_of_the_first(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    ci.ask(report(**FLAKY, test_04="fail"), build_id="same")
    assert codes(ci.ask(report(**FLAKY), build_id="same")) == ["ambiguous_identity", "not_quarantined"]


BULK = {f"test_{number:02}": "fail" for number in range(15)}


def test_a_bulk_of_failures_is_called_an_incident(ci: Ci, project: Project) -> None:
    analysis_refresh(project=project)
    answer = ci.ask(report(**BULK))
    assert {one["class"] for one in answer["failing"]} == {"incident"}
    assert {one["sentence"] for one in answer["failing"]} == {
        "So many tests failed at once that it looks like an infrastructure problem."
    }
    assert codes(answer) == ["not_quarantined"]


def test_without_an_analysis_nobody_knows_what_was_to_be_expected(ci: Ci) -> None:
    answer = ci.ask(report(**BULK))
    assert {one["class"] for one in answer["failing"]} == {"new"}
    assert "no analysis covers this run" in answer["failing"][0]["sentence"]


def test_an_incident_excuses_nothing_and_takes_no_excuse_away(ci: Ci, project: Project, quarantined) -> None:
    quarantined("test_03")
    analysis_refresh(project=project)
    answer = ci.ask(report(**BULK))
    by_name = {one["name"]: one for one in answer["failing"]}
    assert (by_name["test_03"]["class"], by_name["test_03"]["blocks"]) == ("quarantined", False)
    assert "looks like an infrastructure problem" in by_name["test_03"]["sentence"]
    assert [one["blocks"] for name, one in by_name.items() if name != "test_03"] == [True] * 14
    assert codes(answer) == ["not_quarantined"]
    quarantined(*(name for name in BULK if name != "test_03"))
    assert ci.ask(report(**BULK))["passed"], "each is excused by name"


def test_a_success_passes_with_whatever_report(ci: Ci) -> None:
    for files in ([report(**FLAKY)], [b"broken"]):
        answer = ci.ask(*files, exit_code=0)
        assert (answer["passed"], answer["decided"], answer["reasons"]) == (True, True, [])


def test_a_renamed_test_stays_quarantined(ci: Ci, project: Project, quarantined, send) -> None:
    quarantined("test_03")
    send(report(20, test_new=""), build_id="x", branch="main")
    old, new = (Test.objects.get(project=project, name=name) for name in ("test_03", "test_new"))
    alias(old=old, new=new)
    others = [case(f"test_{n:02}") for n in range(20) if n != 3]
    assert ci.ask(suite(case("test_new", "fail"), *others))["passed"]


# -- the whole run -------------------------------------------------------------------------------------------------


def test_another_upload_of_the_run_that_waits_keeps_the_gate_waiting(ci: Ci, quarantined, project, monkeypatch) -> None:
    quarantined("test_03")
    metadata = RunMetadata(build_id="same", branch="main")
    waiting, _ = upload_receive(project=project, body=body_of(report(test_04="fail")), metadata=metadata)
    answer = ci.ask(report(**FLAKY), build_id="same", wait=0)
    assert (answer["decided"], codes(answer)) == (False, ["not_processed"])
    upload_process(upload_id=waiting.pk)
    assert codes(ci.get(answer["id"]).json()) == ["ambiguous_identity", "not_quarantined"]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (b"<testsuite><testcase", ["not_understood"]),
        (report(test_19="fail")[:700], ["report_partial", "ambiguous_identity"]),  # both name the quarantined test
        (b"what is this\0", ["not_understood"]),
    ],
)
def test_another_upload_of_the_run_that_was_damaged_holds(ci: Ci, quarantined, send, file, expected) -> None:
    quarantined("test_03")
    send(file, build_id="same", branch="main")
    assert codes(ci.ask(report(**FLAKY), build_id="same")) == expected


def test_what_comes_after_a_pass_is_judged_when_the_gate_is_asked_again(ci: Ci, quarantined, send) -> None:
    quarantined("test_03")
    first = ci.ask(report(**FLAKY), build_id="same")
    assert first["passed"]
    send(suite(case("test_99", "fail")), build_id="same", branch="main")
    assert codes(ci.get(first["id"]).json()) == ["not_quarantined"]
    kept = GateDecision.objects.get(pk=first["id"])
    assert [answer["passed"] for answer in kept.earlier] == [True], "what let the build pass is not forgotten"


def test_a_pass_is_taken_back_while_something_new_waits(ci: Ci, quarantined, project) -> None:
    quarantined("test_03")
    first = ci.ask(report(**FLAKY), build_id="same")
    metadata = RunMetadata(build_id="same", branch="main")
    upload_receive(project=project, body=body_of(report(test_04="fail")), metadata=metadata)
    again = ci.get(first["id"]).json()
    assert (first["passed"], again["passed"], again["decided"]) == (True, False, False)


def test_without_a_build_id_the_answer_says_that_one_request_was_judged(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    told = {key: [note["code"] for note in ci.ask(report(**FLAKY), build_id=key)["notes"]] for key in ("", "b")}
    assert told == {"": ["one_request"], "b": []}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"truncated": "pytest ran with -x"}, ["cut_short"]),
        ({"unsent": ["a.xml cannot be opened.", "b.xml is a socket."]}, ["not_sent"]),
        ({"metadata": json.dumps({"unsent": ["c.xml is away."]})}, ["not_sent"]),
    ],
)
def test_what_the_sender_says_is_missing_holds(ci: Ci, quarantined, told, expected) -> None:
    quarantined("test_03")
    assert ci.ask(report(**FLAKY), build_id="same")["passed"]
    assert codes(ci.ask(report(**FLAKY), build_id="same", **told)) == expected, "also of bytes that are known"
    assert codes(ci.ask(report(**FLAKY), build_id="other", **told)) == expected


# -- the norm ----------------------------------------------------------------------------------------------------


def test_the_norm_is_that_of_the_same_job_and_shard(ci: Ci, quarantined, send) -> None:
    quarantined("test_03")
    for number in range(3):
        send(report(5), build_id=f"s{number}", branch="main", job="shard", shard="1/4")
    assert ci.ask(report(5, **FLAKY), job="shard", shard="1/4")["passed"]
    assert codes(ci.ask(report(5, **FLAKY))) == ["too_few_tests"]


def test_a_branch_without_runs_of_its_own_has_the_norm_of_all(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    assert codes(ci.ask(report(10, **FLAKY), branch="feature")) == ["too_few_tests"]


def test_a_new_job_is_compared_with_runs_of_the_same_tests(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    answer = ci.ask(report(10, **FLAKY), job="new")
    assert codes(answer) == ["too_few_tests"]
    assert "other runs with these tests have 20" in answer["reasons"][0]["sentence"]
    assert ci.ask(report(**FLAKY), job="new")["passed"]


def test_a_job_of_other_tests_is_the_first_of_its_kind(ci: Ci, project: Project, quarantined, send) -> None:
    quarantined("test_03")
    others = [case(f"other_{n}") for n in range(6)]
    answer = ci.ask(suite(case("test_03", "fail"), *others), job="new")
    assert (answer["passed"], [note["code"] for note in answer["notes"]]) == (True, ["first_of_its_kind"])
    policy_set(project=project, settings=PolicySettings(first_runs=FirstRuns.HOLD), version=0, actor=ANNA)
    assert codes(ci.ask(suite(case("test_03", "fail"), *others), job="new")) == ["first_of_its_kind"]


@pytest.mark.parametrize("clock", ["1970-01-01T00:00:00Z", "two hours ago", "2019-05-05T05:05:05Z"])
def test_a_runners_clock_does_not_switch_the_norm_off(ci: Ci, quarantined, clock: str) -> None:
    quarantined("test_03")
    stated = (timezone.now() - timedelta(hours=2)).isoformat() if clock == "two hours ago" else clock
    assert codes(ci.ask(report(10, **FLAKY), started_at=stated)) == ["too_few_tests"]


def test_one_short_run_does_not_make_the_norm(ci: Ci, quarantined, send) -> None:
    quarantined("test_03")
    send(report(3), build_id="short", branch="main")
    assert codes(ci.ask(report(10, **FLAKY))) == ["too_few_tests"]


def test_the_share_that_may_be_missing_is_the_policys(ci: Ci, project: Project, quarantined) -> None:
    quarantined("test_03")
    assert not ci.ask(report(12, **FLAKY))["passed"]
    policy_set(project=project, settings=PolicySettings(missing_share=0.5), version=0, actor=ANNA)
    assert ci.ask(report(12, **FLAKY))["passed"]


def test_exit_codes_are_the_policys(ci: Ci, project: Project, quarantined) -> None:
    quarantined("test_03")
    policy_set(project=project, settings=PolicySettings(exit_codes={"pytest": (1, 6)}), version=0, actor=ANNA)
    assert ci.ask(report(**FLAKY), exit_code=6)["passed"]


# -- the same answer for the same input --------------------------------------------------------------------------


def test_the_same_question_has_the_same_answer_whatever_changed_since(ci: Ci, quarantined) -> None:
    quarantine = quarantined("test_03")
    first = ci.ask(report(**FLAKY), build_id="same")
    quarantine_act(quarantine=quarantine, version=1, action=Action.RELEASE, actor=ANNA)
    assert ci.ask(report(**FLAKY), build_id="same") == first
    assert ci.get(first["id"]).json() == first
    assert GateDecision.objects.count() == 1
    assert not ci.ask(report(**FLAKY), build_id="another")["passed"]


def test_another_exit_code_is_another_question(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    one = ci.ask(report(**FLAKY), build_id="same")
    two = ci.ask(report(**FLAKY), build_id="same", exit_code=139)
    assert (one["passed"], two["passed"], one["upload"]) == (True, False, two["upload"])


def test_what_is_not_processed_in_time_is_decided_when_asked_again(
    upload_token: str, quarantined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.api.quarantine.gate.wake_worker", lambda upload_id: None)
    quarantined("test_03")
    ci = Ci(upload_token)
    answer = ci.ask(report(**FLAKY), wait=0)
    Schema().check("gate_create", 200, answer)
    assert (answer["passed"], answer["decided"], codes(answer), answer["run"]) == (
        False,
        False,
        ["not_processed"],
        None,
    )
    assert ci.get(answer["id"]).json() == answer
    upload_process(upload_id=answer["upload"])
    decided = ci.get(answer["id"]).json()
    Schema().check("gate_retrieve", 200, decided)
    assert (decided["id"], decided["passed"], decided["decided"]) == (answer["id"], True, True)


def test_an_upload_that_we_could_not_process_never_passes(ci: Ci, quarantined, monkeypatch) -> None:
    monkeypatch.setattr("dashboard.api.quarantine.gate.wake_worker", lambda upload_id: None)
    quarantined("test_03")
    answer = ci.ask(report(**FLAKY), wait=0)
    Upload.objects.filter(pk=answer["upload"]).update(state=Upload.State.FAILED)
    assert codes(ci.get(answer["id"]).json()) == ["upload_failed", "report_missing"]
    upload_reprocess(upload=Upload.objects.get(pk=answer["upload"]))
    upload_process(upload_id=answer["upload"])
    assert ci.get(answer["id"]).json()["passed"], "once it is processed, the same question is answered anew"


def test_a_decision_is_kept_with_its_run(ci: Ci, quarantined) -> None:
    answer = ci.ask(report(**FLAKY))
    kept = decisions_of_run(Run.objects.get(pk=answer["run"])).get()
    assert (kept.passed, kept.sentence, kept.reasons) == (False, answer["sentence"], answer["reasons"])


# -- who may ask, and how ----------------------------------------------------------------------------------------


def test_fields_come_by_query_or_json_part_too(ci: Ci, quarantined) -> None:
    quarantined("test_03")
    answer = ci.raw(report(**FLAKY), "?exit_code=1&runner=jest&branch=main&build_id=q").json()
    assert (answer["runner"], answer["passed"]) == ("jest", True)
    part = json.dumps({"exit_code": 137, "branch": "main", "build_id": "p"})
    answer = ci.ask(report(**FLAKY), exit_code=None, branch=None, build_id=None, metadata=part)
    assert codes(answer) == ["killed_by_signal"]


def test_another_projects_decision_is_not_found(ci: Ci) -> None:
    number = ci.ask(report(**FLAKY))["id"]
    other = project_create(slug="other", name="Other")
    stranger = Ci(token_create(project=other, name="ci", scope=Token.Scope.UPLOAD)[1], "other")
    assert stranger.get(number).status_code == stranger.get(10**9).status_code == 404
    assert stranger.get(number).content == stranger.get(10**9).content
