"""Reach and changes in the archive of an upload: stored once, told on page and API, and never in the gate's way."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from analytics.reach.evidence import ReachEvidence, reach_evidence
from analytics.reach.models import TouchedFailure
from analytics.reach.ratios import JudgedFailure, ratios
from analytics.reach.selectors import touched
from analytics.reach.services import touched_note
from analytics.reach.touches import Answer
from analytics.services import analysis_refresh
from dashboard.quarantine.gate import service
from dashboard.quarantine.gate.run_uploads import not_understood
from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.models import GateDecision
from dashboard.retention.services import retention_run
from dashboard.web.test.reach import evidence_sentence
from ingest.models import Project, Reach, ReachName, ReachSet, Run, RunChange, Test, Upload
from ingest.processing import upload_process
from ingest.services import token_create, upload_reprocess
from tests.api_client import Program
from tests.lab.experiments import STARTED, junit
from tests.lab.reach.uploads import CART, TAX, change_file, reach_file
from tests.lab.why.uploads import send

RED = junit([CART, TAX], [CART, TAX])


def answers(upload: Upload) -> dict[str, tuple[str, str]]:
    assert upload.run is not None
    upload.run = Run.objects.get(pk=upload.run_id)
    numbers = dict(Test.objects.filter(project=upload.project).values_list("number", "name"))
    found = touched(upload.project, upload.run, list(numbers))
    return {numbers[number]: (touch.answer.value, touch.reason) for number, touch in found.items()}


def test_reach_and_change_say_what_a_failure_touches(project: Project) -> None:
    upload = send(project, RED, reach_file(), change_file("shop/price.py", "Cart.total"))
    assert upload.state == Upload.State.PROCESSED
    assert {file["kind"] for file in upload.files} == {"junit", "reach", "changes"}
    assert answers(upload) == {
        "test_total": ("yes", "it ran Cart.total of shop/price.py"),
        "test_rate": ("no", "none of its 2 functions"),
    }


def test_names_and_sets_are_kept_once_and_take_few_bytes(project: Project) -> None:
    send(project, RED, reach_file(), build_id="1")
    counts = (ReachName.objects.count(), ReachSet.objects.count())
    for build in range(2, 6):
        send(project, junit([CART, TAX], at=STARTED + timedelta(hours=build)), reach_file(), build_id=str(build))
    assert (ReachName.objects.count(), ReachSet.objects.count()) == counts and Reach.objects.count() == 5
    assert max(len(bytes(row.data)) for row in Reach.objects.all()) < 2 * 40


def test_the_same_upload_again_is_stored_once(project: Project) -> None:
    upload = send(project, RED, reach_file(), change_file("a.py", "f"))
    upload_reprocess(upload=upload)
    upload_process(upload_id=upload.pk)
    assert (Reach.objects.count(), RunChange.objects.count()) == (1, 1)


def test_what_changed_is_kept_from_the_first_that_knows(project: Project) -> None:
    unknown = ("flakeboard-changes.json", json.dumps({"flakeboard_changes": 1, "unknown": "shallow"}).encode())
    upload = send(project, RED, unknown, build_id="1")
    assert answers(upload)["test_total"] == ("unknown", "shallow")
    send(project, junit([CART]), change_file("a.py", "f"), build_id="1")
    send(project, junit([TAX]), change_file("b.py", "f"), unknown, build_id="1")
    assert RunChange.objects.get().base == "b" * 40
    assert answers(upload)["test_total"][0] == "unknown", "nothing was recorded"


def test_without_reach_of_its_own_a_run_goes_by_that_of_its_base(project: Project) -> None:
    now = timezone.now()
    send(project, junit([CART, TAX]), reach_file(), commit="b" * 40, build_id="1", at=now)
    other = {CART: ("tests/test_cart.py:test_total",), TAX: ("shop/price.py:Cart.total",)}
    send(
        project, junit([CART, TAX], at=now), reach_file(other), commit="d" * 40, build_id="2", branch="feature", at=now
    )
    upload = send(project, RED, change_file("shop/price.py", "Cart.total"), pull_request="7", build_id="3", at=now)
    assert {name: answer for name, (answer, _) in answers(upload).items()} == {"test_total": "yes", "test_rate": "no"}
    Reach.objects.update(received_at=now - timedelta(days=31))
    assert {answer for answer, _ in answers(upload).values()} == {"unknown"}, "too old"


def test_reach_of_a_fork_is_nobody_elses(project: Project) -> None:
    now = timezone.now()
    send(project, junit([CART, TAX]), reach_file(), commit="b" * 40, build_id="1", untrusted=True, at=now)
    upload = send(project, RED, change_file("x.py", "f"), build_id="2", at=now)
    assert {answer for answer, _ in answers(upload).values()} == {"unknown"}


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("flakeboard-reach.jsonl", b'{"flakeboard_reach": 1}\nnonsense\n', "reach_malformed"),
        ("flakeboard-reach.jsonl", b'{"flakeboard_reach": 9}\n', "reach_version"),
        ("flakeboard-changes.json", b'{"flakeboard_changes": 1}', "changes_malformed"),
        ("flakeboard-changes.json", b'{"flakeboard_changes": 1, "base": "b", "files"', "changes_malformed"),
    ],
)
def test_a_damaged_file_harms_no_report_and_holds_no_gate(
    project: Project, name: str, content: bytes, code: str
) -> None:
    upload = send(project, junit([CART, TAX]), (name, content))
    assert upload.state == Upload.State.PROCESSED and not not_understood([upload])
    (file,) = [file for file in upload.files if file["path"].endswith(name)]
    assert file["error"]["code"] == code and not Reach.objects.exists() and not RunChange.objects.exists()


def test_a_report_that_hides_behind_the_head_of_reach_is_not_overlooked(project: Project) -> None:
    hidden = b'{"flakeboard_reach": 1}\n' + RED
    upload = send(project, junit([CART]), ("flakeboard-reach.jsonl", hidden))
    assert not_understood([upload])


def test_what_no_report_has_is_left_out(project: Project) -> None:
    upload = send(project, junit([CART]), reach_file())
    (file,) = [file for file in upload.files if file["kind"] == "reach"]
    assert [(warning["code"], warning["count"]) for warning in file["warnings"]] == [("reach_without_test", 1)]
    assert Reach.objects.get().tests == 1


def test_secrets_in_names_are_redacted_alike_on_both_sides(project: Project) -> None:
    secret = "ghp_" + "a1B2" * 9
    used = {CART: (f"shop/{secret}.py:f",)}
    upload = send(project, junit([CART], [CART]), reach_file(used), change_file(f"shop/{secret}.py", "f"))
    assert answers(upload)["test_total"][0] == "yes"
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM ingest_reachname WHERE file LIKE %s", [f"%{secret}%"])
        assert cursor.fetchone()[0] == 0


# -- the gate ----------------------------------------------------------------------------------------------------


def decided(upload: Upload) -> GateDecision:
    return gate_decide(decision=gate_ask(upload=upload, exit_code=1, runner="pytest"))


def test_the_gate_tells_what_a_failure_touches_and_decides_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same red run three times: with a change that it touches, with one that it does not, and where asking
    fails. The answers differ in nothing but what they tell."""
    for build in range(4):
        send(project, junit([CART, TAX]), build_id=f"before {build}")
    decisions = []
    for build, changed in (("1", "shop/price.py"), ("2", "shop/other.py"), ("3", "")):
        if not changed:

            def broken(*arguments: Any) -> Any:
                raise RuntimeError("no")

            monkeypatch.setattr(service, "touched", broken)
        upload = send(project, RED, reach_file(), change_file(changed, "Cart.total"), build_id=build)
        decisions.append(decided(upload))
    told = [{row["name"]: row["touches_change"] for row in decision.failing} for decision in decisions]
    assert [each["test_total"] for each in told] == ["yes", "no", "unknown"]
    extra = {"touches_change", "touches_why"}
    rest = [
        (decision.passed, decision.sentence, decision.reasons, decision.notes, [
            {name: value for name, value in row.items() if name not in extra} for row in decision.failing
        ])
        for decision in decisions
    ]  # fmt: skip
    assert rest[0] == rest[1] == rest[2] and not decisions[0].passed


def test_the_gates_rules_do_not_know_of_touching() -> None:
    """What decides gets no such thing: neither its inputs nor its failing tests have a field for it."""
    from dataclasses import fields

    from dashboard.quarantine.gate.decision import FailingTest, Inputs

    names = {field.name for kind in (FailingTest, Inputs) for field in fields(kind)}
    assert not {name for name in names if "touch" in name or "reach" in name or "change" in name}


# -- API and page ------------------------------------------------------------------------------------------------


@pytest.fixture
def program(project: Project) -> Program:
    return Program(token_create(project=project, name="ci", scope="upload")[1], project.slug)


def test_the_api_tells_each_failing_test_with_its_reason(project: Project, program: Program) -> None:
    upload = send(project, RED, reach_file(), change_file("shop/tax.py", "rate"))
    body = program.read(f"runs/{upload.run_id}/touched")
    assert body["change"] == {"base": "b" * 40, "head": "a" * 40, "files": 1, "unknown": ""} and body["total"] == 2
    assert {row["name"]: (row["touches_change"], row["reason"]) for row in body["tests"]} == {
        "test_total": ("no", "none of its 2 functions, 1 file"),
        "test_rate": ("yes", "it ran rate of shop/tax.py"),
    }
    assert program.get("runs/999999/touched").status_code == 404


def test_the_base_is_the_last_commit_at_which_nothing_failed(project: Project, program: Program) -> None:
    assert program.read("base")["commit"] is None
    now = timezone.now()
    send(project, junit([CART], at=now), commit="1" * 40, build_id="1", at=now - timedelta(hours=3))
    send(project, junit([CART], at=now), commit="2" * 40, build_id="2", at=now - timedelta(hours=2))
    send(
        project, junit([CART], [CART], at=now), commit="2" * 40, build_id="3", job="other", at=now - timedelta(hours=1)
    )
    feature = {"commit": "3" * 40, "build_id": "4", "branch": "feature"}
    send(project, junit([CART], at=now), at=now, **feature)
    base = program.read("base")
    assert (base["commit"], base["takes_changes"], base["default_branch"]) == ("1" * 40, True, "main")
    assert program.read("base?branch=feature")["commit"] == "3" * 40
    assert program.read("base?branch=another")["commit"] == "1" * 40
    assert program.get("base?other=1").status_code == 422


def test_tests_are_listed_by_source(project: Project, program: Program, client: Client) -> None:
    from analytics.services import analysis_refresh

    send(project, junit([CART, TAX]), reach_file(sources=["network"]), at=timezone.now())
    Reach.objects.update(received_at=timezone.now())
    analysis_refresh(project=project)
    assert program.read("tests?source=network")["total"] == 2
    assert program.read("tests?source=randomness")["total"] == 0
    assert program.get("tests?source=weather").status_code == 422


def test_the_page_of_the_run_says_it_beside_the_failure(project: Project, admin_client: Client) -> None:
    upload = send(project, RED, reach_file(), change_file("shop/tax.py", "rate"))
    page = admin_client.get(f"/projects/{project.slug}/runs/{upload.run_id}").content.decode()
    assert "Does not touch this change: none of its 2 functions, 1 file." in page
    assert "Touches this change: it ran rate of shop/tax.py." in page
    assert "1 file against" in page


# -- evidence, retention -----------------------------------------------------------------------------------------


def test_untouched_code_makes_a_suspect_and_flaky_only_where_that_proved_right(
    project: Project, monkeypatch: pytest.MonkeyPatch, admin_client: Client
) -> None:
    now = timezone.now()
    send(project, junit([CART, TAX], at=now), reach_file(), commit="b" * 40, build_id="0", at=now - timedelta(days=5))
    for build in (1, 2):
        at = now - timedelta(days=3 - build)
        upload = send(
            project, junit([CART, TAX], [TAX], at=at), reach_file(), change_file("shop/price.py", "Cart.total"),
            build_id=str(build), commit=str(build) * 40, at=at,
        )  # fmt: skip
        assert upload.run is not None
        assert touched_note(run=upload.run) == 1
        touched_note(run=upload.run)
    number = Test.objects.get(project=project, name="test_rate").number
    assert TouchedFailure.objects.filter(number=number, touches="no", passed_at_base=True).count() == 2
    assert reach_evidence(project, [number])[number].word == "suspect by reach"
    monkeypatch.setattr("analytics.reach.ratios.ENOUGH", 0)
    upload = send(project, junit([CART, TAX], at=now), build_id="again", commit="1" * 40, at=now)
    assert reach_evidence(project, [number])[number].word == "flaky by reach", "it passed at the same commit"
    analysis_refresh(project=project)
    page = admin_client.get(f"/projects/{project.slug}/tests/{number}").content.decode()
    assert "Flaky by reach: in 2 runs on 2 days it failed although it had passed at the base" in page
    assert "1 of 1 judged failure without touch was flaky in this project. No quarantine or gate goes by it." in page


@pytest.mark.parametrize(
    ("days", "judged", "says"),
    [
        (1, 60, "Suspect by reach: in 3 runs on 1 day it failed although"),
        (1, 60, "On 2 days it would be flaky by reach."),
        (2, 49, "49 of 49 judged failures without touch were flaky in this project; it takes 50 of which 95 % were"),
        (2, 50, "Flaky by reach: in 3 runs on 2 days"),
    ],
)
def test_the_word_comes_with_what_it_rests_on(days: int, judged: int, says: str) -> None:
    found = ReachEvidence(3, days, ratios([JudgedFailure(Answer.NO, True)] * judged))
    assert says in evidence_sentence(found)


def test_what_is_too_old_goes(project: Project) -> None:
    send(project, RED, reach_file(), change_file("a.py", "f"))
    old = timezone.now() - timedelta(days=40)
    Reach.objects.update(received_at=old)
    RunChange.objects.update(received_at=old)
    ReachName.objects.update(seen_at=old)
    ReachSet.objects.update(seen_at=old)
    retention_run(project=project)
    assert not any(model.objects.exists() for model in (Reach, ReachName, ReachSet))
    assert RunChange.objects.exists(), "what changed is needed for as long as the window"
    RunChange.objects.update(received_at=timezone.now() - timedelta(days=91))
    retention_run(project=project)
    assert not RunChange.objects.exists()
    assert Test.objects.filter(project=project).count() == 2
