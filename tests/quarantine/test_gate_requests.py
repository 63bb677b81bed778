"""The gate as CI asks it: what a request must have, many of them at once, and projects without the usual history."""

from functools import partial

import pytest

from analytics.services import analysis_refresh
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import quarantine_act
from dashboard.quarantine.states import Action
from ingest.models import Project, Upload
from tests.at_once import at_once
from tests.quarantine.asking import FLAKY, Ci, codes
from tests.quarantine.conftest import ANNA, case, report, suite


@pytest.fixture
def ci(upload_token: str, worker: None) -> Ci:
    return Ci(upload_token)


@pytest.fixture
def history(send) -> None:
    """Three green runs of 20 tests on the default branch: as many as a norm needs."""
    for number in range(3):
        send(report(), build_id=f"old{number}", branch="main")


def test_two_results_of_one_name_are_not_excused(ci: Ci, send, quarantined) -> None:
    """Of a producer that nobody knows: the pass may be another test's."""
    odd = lambda *cases: suite(*cases).replace(b"pytest", b"mine")  # noqa: E731
    send(odd(case("test_03"), case("test_04")), build_id="old", branch="main")
    quarantined("test_03")
    answer = ci.ask(odd(case("test_03", "fail"), case("test_03"), case("test_04")))
    assert codes(answer) == ["ambiguous_identity"]
    assert (answer["failing"][0]["class"], answer["failing"][0]["blocks"]) == ("new", True)
    assert "It is quarantined, but the report names it more than once" in answer["failing"][0]["sentence"]


def test_a_known_flaky_test_is_named_with_its_reruns(ci: Ci, project: Project, send) -> None:
    for number in range(12):
        verdict = "fail" if number % 4 == 0 else ""
        send(report(test_03=verdict), build_id=f"h{number}", branch="main", commit=f"c{number // 4}")
    analysis_refresh(project=project)
    failing = ci.ask(report(**FLAKY))["failing"][0]
    assert (failing["class"], failing["blocks"]) == ("flaky", True)
    assert failing["reruns"] >= 1


@pytest.mark.parametrize(
    ("job", "branch", "pull_request", "environment"),
    [
        ("shop/PR-7", "fix", "7", None),
        ("shop/PR-8", "main", "8", None),
        ("shop/feature%2Fx", "feature/x", "", None),
        ("shop/main", "main", "", "image=shop:77be01d"),
    ],
)
def test_branch_and_image_tag_are_no_part_of_a_job(
    ci: Ci, quarantined, send, job: str, branch: str, pull_request: str, environment: str | None
) -> None:
    image = {"image": "shop:3f2a91c"} if environment else {}
    for number in range(3):
        send(report(), build_id=f"old{number}", branch="main", job="shop/main", environment=image)
    quarantined("test_03")
    told = {"job": job, "branch": branch, "pull_request": pull_request, "environment": environment}
    answer = ci.ask(report(10, **FLAKY), **told)
    assert codes(answer) == ["too_few_tests"]
    assert "such runs have 20" in answer["reasons"][0]["sentence"]
    assert answer["notes"] == []


def test_a_run_that_ends_with_a_failure_is_not_believed_to_be_all_without_a_norm(ci: Ci, send, quarantined) -> None:
    send(suite(case("test_00"), case("test_03")), build_id="old", branch="main", job="old")
    quarantined("test_03")
    others = [case(f"other_{n}") for n in range(6)]
    assert codes(ci.ask(suite(*others, case("test_03", "fail")), job="new")) == ["cut_short"]
    assert ci.ask(suite(case("test_03", "fail"), *others), job="new")["passed"]


@pytest.mark.django_db(transaction=True)
def test_many_at_once_have_one_answer(ci: Ci, upload_token: str, history, quarantined) -> None:
    quarantined("test_03")
    answers = at_once(*[lambda: Ci(upload_token).ask(report(**FLAKY), build_id="same")] * 6)
    decided = [answer for answer in answers if answer["decided"]]
    assert len(answers) == 6 and decided
    assert {answer["id"] for answer in answers} == {answers[0]["id"]}
    assert all(one == decided[0] for one in decided)


@pytest.mark.django_db(transaction=True)
def test_a_release_while_uploads_are_judged_comes_before_or_after_each_answer(ci: Ci, history, quarantined) -> None:
    """Each is judged by the quarantine as it was before or after, and after the release none passes."""
    quarantine = quarantined("test_03")
    asked = [ci.post(report(**FLAKY), build_id=f"r{n}", wait=0) for n in range(2)]
    assert all(one.json()["passed"] for one in asked)

    def ask(number: int) -> list[dict]:
        return [ci.ask(report(**FLAKY), build_id=f"n{number}-{n}") for n in range(4)]

    def release() -> Quarantine:
        return quarantine_act(quarantine=quarantine, version=1, action=Action.RELEASE, actor=ANNA)

    *asked, released = at_once(*(partial(ask, number) for number in range(4)), release)
    assert isinstance(released, Quarantine)
    answers = [answer for answered in asked for answer in answered]
    assert len(answers) == 16
    assert {tuple(codes(one)) for one in answers} <= {(), ("not_quarantined",)}
    for one in answers:
        assert one["failing"][0]["blocks"] == (not one["passed"])
    assert codes(ci.ask(report(**FLAKY), build_id="after")) == ["not_quarantined"]


def test_the_exit_code_is_needed_and_a_number(ci: Ci) -> None:
    for wrong in (None, "x", "1.5", str(2**40)):
        response = ci.post(report(), exit_code=wrong)
        assert response.status_code == 422
        assert "exit_code" in response.json()["error"]["sentence"]
    assert ci.post(report(), runner="abacus").status_code == 422
    assert Upload.objects.count() == 0


def test_errors_are_those_of_uploads(ci: Ci, upload_token: str, read_token: str, quarantine_token: str) -> None:
    assert ci.post(report(), colour="red").json()["error"]["code"] == "unknown_field"
    assert ci.post(exit_code=1).status_code == 422
    for token, status in ((read_token, 403), (quarantine_token, 403), ("nothing", 401)):
        assert Ci(token).post(report()).status_code == status
    assert Ci(upload_token, "other").post(report()).status_code == 404


def test_the_gate_has_a_rate_of_its_own(ci: Ci, settings) -> None:
    settings.GATES_PER_MINUTE = 2
    assert [ci.post(report(), exit_code=0).status_code for _ in range(3)] == [200, 200, 429]
