"""Answers of `waits` and `verify` as the server keeps and shows them: believed as far as they make sense."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analytics.lab.answers.answer import answer_in
from analytics.lab.answers.verification import verification_answer
from analytics.lab.answers.waits import waits_answer
from analytics.services import analysis_refresh
from dashboard.people.models import Role
from ingest.models import Project, Test
from tests.api_client import Program
from tests.conftest import Send
from tests.dashboard.openapi import Schema
from tests.lab.experiments import junit
from tests.people.signed_in import browser_of, member
from tests.web.listing import words_of

TEST = "tests/test_cart.py::test_total"
ROWS = [
    {"value": 0.0, "failed": 10, "runs": 10, "mean": None, "median": None},
    {"value": 0.0625, "failed": 0, "runs": 100, "mean": 0.2, "median": 0.19},
    {"value": 0.5, "failed": 0, "runs": 62, "mean": 0.64, "median": 0.63},
]
WAIT: dict[str, Any] = {
    "place": "tests/test_cart.py:17",
    "callee": "time.sleep",
    "kind": "sleep",
    "now": 0.5,
    "verdict": "smaller",
    "sentence": "62.5 ms is enough in tests/test_cart.py:17 here.",
    "table": ROWS,
    "smallest_good": 0.0625,
    "proposal": 0.2,
    "factor": 2.0,
    "polling": {
        "condition": "cart.ready",
        "runs": 30,
        "never": 0,
        "broke": "",
        "median": 0.05,
        "p99": 0.055,
        "longest": 0.056,
        "deadline": 1.1,
        "text": "    deadline = time.monotonic() + 1.1",
    },
}
WAITS: dict[str, Any] = {
    "test": TEST,
    "ended": "done",
    "sentence": "62.5 ms is enough in tests/test_cart.py:17 here: 0 of 100 failed (at most 3.6%).",
    "runs": 205,
    "values": [
        {"place": "tests/test_cart.py:17", "callee": "time.sleep", "kind": "sleep", "value": 0.5, "can_vary": True},
        {
            "place": "tests/test_cart.py:9",
            "callee": "requests.get",
            "kind": "timeout",
            "value": 5,
            "can_vary": False,
            "reason": "no run came there",
            "origin": "<b>TIMEOUT</b>",
        },
    ],
    "searched": [WAIT],
}
VERIFIED: dict[str, Any] = {
    "test": TEST,
    "ended": "done",
    "sentence": "The fix is effective: 15 of 300 runs failed before, 0 of 300 after (at most 1.2%; p < 0.0001).",
    "outcome": "effective",
    "before": {"failed": 15, "runs": 300},
    "after": {"failed": 0, "runs": 300},
    "p": 2.55e-05,
    "smallest_effect": 0.03,
    "revisions": {"before": "a" * 40, "after": "b" * 40},
}


def test_what_is_kept_of_waits() -> None:
    kept = waits_answer(WAITS)
    (wait,) = kept["searched"]
    assert (wait["verdict"], wait["proposal"], wait["polling"]["p99"]) == ("smaller", 0.2, 0.055)
    row = wait["table"][1]
    assert (row["failed"], row["runs"], row["low"]) == (0, 100, 0.0) and row["high"] == pytest.approx(0.0362, abs=1e-4)
    assert [value["can_vary"] for value in kept["values"]] == [True, False] and kept["runs"] == 205


@pytest.mark.parametrize(
    "wrong",
    [
        {"now": -1},
        {"now": "1"},
        {"now": True},
        {"now": 1e300},
        {"kind": "nap"},
        {"verdict": "good"},
    ],
)
def test_a_wait_that_is_none_is_left_out(wrong: dict[str, Any]) -> None:
    assert waits_answer({**WAITS, "searched": [{**WAIT, **wrong}, WAIT]})["searched"] == waits_answer(WAITS)["searched"]


@pytest.mark.parametrize(
    "row", [{"failed": 11}, {"runs": 0}, {"runs": -3}, {"value": None}, {"value": []}, {"runs": 2.5}, {"runs": 10**12}]
)
def test_a_row_that_cannot_be_is_left_out(row: dict[str, Any]) -> None:
    kept = waits_answer({"searched": [{**WAIT, "table": [{**ROWS[0], **row}, *ROWS[1:], 7, None]}]})
    assert [each["value"] for each in kept["searched"][0]["table"]] == [0.0625, 0.5]


@pytest.mark.parametrize("broken", [{}, {"searched": "x", "values": 3}, {"searched": [None, 1], "values": [{}]}])
def test_an_answer_without_anything(broken: dict[str, Any]) -> None:
    assert waits_answer(broken)["searched"] == []


def test_a_secret_in_an_answer_is_not_kept() -> None:
    text = "x = 'ghp_" + "a" * 36 + "'"
    kept = waits_answer({"searched": [{**WAIT, "polling": {**WAIT["polling"], "text": text}}]})
    assert "ghp_" not in kept["searched"][0]["polling"]["text"]


def test_what_is_kept_of_a_verification() -> None:
    kept = verification_answer(VERIFIED)
    assert (kept["outcome"], kept["before"], kept["after"]) == (
        "effective",
        {"failed": 15, "runs": 300},
        {"failed": 0, "runs": 300},
    )
    assert kept["p"] == 2.55e-05 and kept["revisions"] == {"before": "a" * 40, "after": "b" * 40}


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "fixed"},
        {"p": 2},
        {"p": None},
        {"before": {"failed": 5, "runs": 3}},
        {"before": None},
        {"after": [1, 2]},
    ],
)
def test_an_outcome_rests_on_counts(wrong: dict[str, Any]) -> None:
    assert verification_answer({**VERIFIED, **wrong})["outcome"] is None


def test_answers_by_protocol() -> None:
    waits, verified = answer_in("waits", WAITS), answer_in("verify", VERIFIED)
    assert waits is not None and waits.data["searched"] and waits.test == TEST
    assert verified is not None and verified.data["outcome"] == "effective"


# -- pages and the API -------------------------------------------------------------------------------------------


@pytest.fixture
def program(upload_token: str) -> Program:
    return Program(upload_token)


def finish(program: Program, protocol: str, answer: dict[str, Any], key: str) -> None:
    stated = {"key": key, "protocol": protocol, "parameters": {"test": TEST}, "whole": False}
    assert program.post("experiments", **stated).status_code == 201
    assert program.post(f"experiments/{key}/finish", **answer).status_code == 200


@pytest.fixture
def reader(project: Project) -> Client:
    return browser_of(member(User.objects.create_user("mia"), project, Role.VIEWER))


def test_waits_on_the_pages(program: Program, project: Project, send: Send, reader: Client) -> None:
    send(junit([TEST]), build_id="1")
    analysis_refresh(project=project)
    address = f"/projects/shop/tests/{Test.objects.get().number}"
    before = reader.get(address).content.decode()
    assert 'id="waits"' not in before, "a stable test that nobody measured has no such section"
    finish(program, "waits", WAITS, "w1")
    finish(program, "verify", VERIFIED, "v1")
    assert 'id="waits"' in reader.get(address).content.decode()
    page = words_of(reader, address)
    assert "62.5 ms is enough" in page
    assert "Write 200 ms in place of 500 ms" in page and "It held after 50 ms" in page
    assert "deadline = time.monotonic() + 1.1" in page and "flakeboard waits tests/test_cart.py::test_total" in page
    assert "no run came there" in page and "<b>TIMEOUT</b>" in page, "as text"
    shown = words_of(reader, "/projects/shop/experiments/w1")
    assert "How often it fails, by the value of this wait" in shown and "62.5 ms 0 100" in shown
    verified = words_of(reader, "/projects/shop/experiments/v1")
    assert "Before and after the fix: effective" in verified and "aaaaaaaaaaaa" in verified
    assert "flakeboard verify tests/test_cart.py::test_total" in verified


def test_durations_by_host(program: Program, project: Project, send: Send) -> None:
    schema = Schema()
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(12):
        moment = at + timedelta(hours=6 * number)
        send(junit([TEST], at=moment), build_id=str(number), host="slow" if number % 2 else "quick")
    analysis_refresh(project=project)
    number = program.read("tests")["results"][0]["number"]
    answer = program.read(f"tests/{number}/durations")
    schema.check("tests_durations", 200, answer)
    assert {host["host"]: host["executions"] for host in answer["hosts"]} == {"slow": 6, "quick": 6}
    assert answer["slowest"] == pytest.approx(0.01) and answer["runs_a_day"] > 0
    assert program.get("tests/999/durations").status_code == 404
