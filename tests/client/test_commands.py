"""`quarantine`, `status` and `doctor`, as they are used in a terminal."""

from __future__ import annotations

import json
import subprocess
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from flakeboard import cli
from flakeboard.commands import doctor
from flakeboard.server.transport import Answer

from tests.client.commands import GREEN, environ_with, python
from tests.client.misbehaving import TOKEN, Misbehaving, error

ROW = {
    "id": 5,
    "state": "active",
    "version": 3,
    "owner": "team-a",
    "reason": "slow\nnetwork",
    "expires_at": "2026-03-01T00:00:00Z",
    "tests": [{"number": 4, "classname": "tests.test_cart", "name": "test_total"}],
}
FOUND = {"results": [{"number": 4, "classname": "tests.test_cart", "name": "test_total"}], "next": None}


@pytest.fixture
def board(server: Misbehaving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Misbehaving:
    monkeypatch.chdir(tmp_path)
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)
    return server


# -- quarantine --------------------------------------------------------------------------------------------------


def test_the_active_ones_are_listed_over_all_pages(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    other = {**ROW, "id": 6, "tests": None, "test": {"number": 9, "name": "test_other"}}
    board.answers = [(200, {"results": [ROW], "next": "http://x/?page=2"}), (200, {"results": [other], "next": None})]
    assert cli.main(["quarantine", "list"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "5  active  2026-03-01  team-a  tests.test_cart::test_total  slow network"
    assert "test_other" in second
    assert [request.query["page"] for request in board.requests] == ["1", "2"]
    assert board.requests[0].query["state"] == "active"


def test_a_list_for_a_runner_is_passed_on_as_it_is(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [(200, b"--deselect tests/test_cart.py::test_total\n")]
    assert cli.main(["quarantine", "list", "--format", "pytest"]) == 0
    assert capsys.readouterr().out == "--deselect tests/test_cart.py::test_total\n"
    assert board.requests[0].path.endswith("/quarantines/export/pytest")


def test_a_test_is_quarantined_by_its_name(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [(200, FOUND), (201, {"id": 8, "state": "active"})]
    arguments = ["--reason", "flaky", "--owner", "me", "--days", "14", "--branch", "main", "--env", "os=linux"]
    assert cli.main(["quarantine", "add", "tests.test_cart::test_total", *arguments]) == 0
    sent = json.loads(board.requests[1].body)
    assert sent == {
        "test": 4,
        "reason": "flaky",
        "owner": "me",
        "days": 14,
        "branches": ["main"],
        "mode": "mute",
        "environments": {"os": "linux"},
        "state": "active",
    }
    assert "quarantine 8 is active." in capsys.readouterr().out


def test_the_first_test_of_a_project_has_number_0(board: Misbehaving) -> None:
    board.answers = [(201, {"id": 8, "state": "active"})]
    assert cli.main(["quarantine", "add", "0", "--reason", "flaky"]) == 0
    assert json.loads(board.requests[0].body)["test"] == 0


def test_a_name_that_several_tests_have_is_refused(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [
        (200, {"results": [*FOUND["results"], {"number": 5, "classname": "b", "name": "test_total"}], "next": None})
    ]
    assert cli.main(["quarantine", "add", "test_total", "--reason", "x"]) == 1
    assert "2 tests are named test_total" in capsys.readouterr().err


def test_a_release_says_which_version_it_saw(board: Misbehaving) -> None:
    board.answers = [(200, {"results": [ROW], "next": None}), (200, {"id": 5, "state": "released"})]
    assert cli.main(["quarantine", "release", "4", "--reason", "fixed"]) == 0
    assert board.requests[1].path.endswith("/quarantines/5/release")
    assert json.loads(board.requests[1].body) == {"reason": "fixed", "version": 3}


def test_somebody_else_was_first(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [(200, {"results": [ROW], "next": None}), error(409, "changed", "It was released meanwhile.")]
    assert cli.main(["quarantine", "release", "4", "--reason", "fixed"]) == 1
    assert "It was released meanwhile." in capsys.readouterr().err


def test_nothing_to_release_is_told(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [(200, {"results": [], "next": None})]
    assert cli.main(["quarantine", "release", "4", "--reason", "fixed"]) == 1
    assert "No active quarantine" in capsys.readouterr().err


# -- status ------------------------------------------------------------------------------------------------------


def test_status_tells_states_and_runs(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    analysis = {
        "finished_at": "2026-02-01T10:00:02Z",
        "reports": 40,
        "states": {"stable": 9, "flaky": 2, "broken": 0},
        "runs": {"total": 40, "flaky": 16},
    }
    board.answers = [(200, {"analysis": analysis})]
    assert cli.main(["status"]) == 0
    output = capsys.readouterr().out
    assert "tests: 9 stable, 2 flaky." in output
    assert "runs: 16 of 40 failed because of flaky tests." in output


@pytest.mark.parametrize("due", [True, False])
def test_status_says_when_an_experiment_is_due(board: Misbehaving, capsys: pytest.CaptureFixture, due: bool) -> None:
    why = "212 commits and 41 days since the last whole experiment"
    board.answers = [(200, {"analysis": None}), (200, {"due": due, "why": why})]
    assert cli.main(["status"]) == 0
    assert (f"an experiment is due ({why})" in capsys.readouterr().out) is due


def test_status_of_a_server_without_experiments(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [(200, {"analysis": None}), error(404, "not_found")]
    assert cli.main(["status"]) == 0
    told = capsys.readouterr()
    assert "no analysis yet" in told.out and "experiment" not in told.out + told.err


def test_status_before_the_first_analysis(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [(200, {"analysis": None})]
    assert cli.main(["status"]) == 0
    assert "no analysis yet" in capsys.readouterr().out


# -- doctor ------------------------------------------------------------------------------------------------------


def test_all_is_well(board: Misbehaving, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "r.xml").write_text(GREEN)
    board.answers = [(200, {"results": []})]
    assert cli.main(["doctor", "r.xml"]) == 0
    output = capsys.readouterr().out
    assert "ok    the server accepts the token and knows the project" in output
    assert "ok    the clocks agree" in output
    assert "ok    r.xml: 1 file, 2 test cases" in output
    assert "the token's scope is upload" in output
    assert TOKEN not in output


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("main", "warn  CI's default branch is trunk, the project's is main: change it in the project's settings"),
        ("trunk", "ok    the project's default branch is trunk"),
        ("release%2F1", "warn  CI's default branch is trunk, the project's is release/1"),
    ],
)
def test_a_default_branch_that_ci_does_not_mean_is_a_warning(
    board: Misbehaving, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, known: str, said: str
) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_DEFAULT_BRANCH", "trunk")
    board.answers = [(200, {"results": []}, {"X-Flakeboard-Default-Branch": known})]
    assert cli.main(["doctor"]) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error(401, "x", "The token is revoked."), "create a new token"),
        (error(404, "x", "Nothing here."), "is this the token of this project?"),
        ((200, b"<html>"), "not from Flakeboard"),
        ((301, b"", {"Location": "https://board.example/"}), "redirects to https://board.example/"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_do(
    board: Misbehaving, capsys: pytest.CaptureFixture, answer: Any, words: list[str]
) -> None:
    board.answers = [answer]
    assert cli.main(["doctor"]) == 1
    assert words in capsys.readouterr().out


def test_files_that_are_missing_or_empty_are_failures(
    board: Misbehaving, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "empty.xml").write_text("<testsuite/>")
    board.answers = [(200, {"results": []})]
    assert cli.main(["doctor", "none/*.xml", "empty.xml"]) == 1
    output = capsys.readouterr().out
    assert "FAIL  no file matches none/*.xml" in output
    assert "FAIL  empty.xml: no test case in 1 file" in output


def test_a_clock_that_is_wrong_is_told() -> None:
    answer = Answer(200, {"Date": formatdate(1_000_000, usegmt=True)}, b"")
    assert "300 s ahead of" in doctor._clock(answer, lambda: 1_000_300.0).text
    assert "300 s behind" in doctor._clock(answer, lambda: 999_700.0).text
    assert "agree" in doctor._clock(answer, lambda: 1_000_010.0).text
    assert doctor._clock(Answer(200, {}, b"")).mark == doctor.DOUBTFUL


def test_nothing_is_set_up(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["doctor"]) == 1
    assert "FAIL  No address:" in capsys.readouterr().out


def test_a_command_loads_no_other_one() -> None:
    """CI starts it many times a day; `--help` tells of all of them."""
    code = "import sys; from flakeboard import cli; cli.build_parser({!r}); print('flakeboard.commands.why' in sys.modules)"
    for word, others in (("run", "False"), ("--help", "True")):
        done = subprocess.run(
            python(code.format(word)), env=environ_with(), stdout=subprocess.PIPE, text=True, check=True
        )
        assert done.stdout.strip() == others
