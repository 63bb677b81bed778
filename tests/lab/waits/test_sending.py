"""`waits` and a server: what it is asked, what it is sent, and what happens without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flakeboard import cli
from flakeboard.commands import waits as command

from tests.client.misbehaving import Misbehaving
from tests.lab.waits.test_waits import TEST, MadeLaboratory

ROW = {"number": 18, "classname": "test_it", "name": "test", "reruns": {"to_expose": 14}}
LISTED = (200, {"results": [{**ROW, "number": 3, "name": "test_other"}, ROW], "next": None})


@pytest.fixture
def board(server: Misbehaving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Misbehaving:
    """A server, and a made laboratory in place of processes."""
    monkeypatch.chdir(tmp_path)
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)

    class Lab(MadeLaboratory):
        def __init__(self, *given: Any) -> None:
            super().__init__(tmp_path)

        def collect(self) -> None:
            return

        def close(self) -> None:
            return

    monkeypatch.setattr(command, "Laboratory", Lab)
    return server


def test_the_server_is_asked_and_told(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    site = {"file": "test_it.py", "function": "test", "callee": "threading.Thread.join", "nth": 1}
    board.answers = [
        LISTED,
        (200, {"differences": [{"site": site}, {"site": None}, 7]}),
        (200, {"slowest": 0.765, "runs_a_day": 150}),
        (201, {}),
        (200, {"url": "http://board.example/x"}),
    ]
    assert cli.main(["waits", TEST, "--margin", "5%"]) == 0
    paths = [request.path.rpartition("/shop/")[2] for request in board.requests]
    key = json.loads(board.requests[3].body)["key"]
    assert paths == ["tests", "tests/18/why", "tests/18/durations", "experiments", f"experiments/{key}/finish"]
    announced, answer = (json.loads(request.body) for request in board.requests[3:])
    assert (announced["protocol"], announced["whole"]) == ("waits", False)
    assert announced["parameters"]["test"] == TEST and announced["parameters"]["margin"] == "5%"
    assert [each["place"] for each in answer["searched"]] == ["test_it.py:7", "test_it.py:5"], "why named the join"
    assert answer["searched"][1]["factor"] == 1.5 and answer["searched"][1]["proposal"] == 0.1
    printed = capsys.readouterr().out
    assert "150 runs a day" in printed and "http://board.example/x" in printed


def test_a_server_that_knows_nothing_changes_nothing(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    board.answers = [(404, {"error": {"code": "not_found", "message": "no"}})]
    assert cli.main(["waits", TEST, "--value", "test_it.py:5"]) == 0
    captured = capsys.readouterr()
    assert "Write 200 ms" in captured.out and "the experiment was not sent" in captured.err


def test_offline_nobody_is_asked(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["waits", TEST, "--offline", "--json", "--value", "test_it.py:5"]) == 0
    assert board.requests == [] and json.loads(capsys.readouterr().out)["searched"][0]["verdict"] == "smaller"


def test_wrong_use(board: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["waits", TEST, "--", "make", "check"]) == 2
    assert cli.main(["waits", TEST, "--offline", "--value", "nowhere.py:1"]) == 1
    assert "is no time value of this test" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["waits", TEST, "--margin", "200%"])
