"""Sending an experiment: announced first, its runs as files, what was found at the end; or later, out of the journal."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from flakeboard import cli
from flakeboard.detection.journal import Journal

from tests.client.misbehaving import Misbehaving, Request
from tests.lab.detect.commands import Command
from tests.lab.detect.worlds import World, suite, write_project

TESTS = suite(2, 3)
PAGE = "http://board.example/projects/shop/experiments/1"
REPLY = {"id": 7, "state": "processed", "url": PAGE, "new": [], "results": [], "next": None}
FEW = ("--orders", "2", "--cleaners", "no", "--isolate", "1")
pytestmark = pytest.mark.usefixtures("shown_once")


@pytest.fixture
def board(server: Misbehaving, monkeypatch: pytest.MonkeyPatch) -> Misbehaving:
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)
    server.answers = [(200, REPLY)]
    return server


def paths(board: Misbehaving) -> list[str]:
    return [f"{request.method} {request.path.partition('/projects/shop/')[2]}" for request in board.requests]


def upload_of(board: Misbehaving) -> Request:
    return next(request for request in board.requests if request.path.endswith("/uploads"))


def properties(content: bytes) -> dict[str, str]:
    tree = ElementTree.fromstring(content)
    return {each.get("name", ""): each.get("value", "") for each in tree.iter("property")}


def test_an_experiment_is_announced_uploaded_and_finished(detect: Command, board: Misbehaving) -> None:
    write_project(World(TESTS).victim(TESTS[0], TESTS[5]), detect.folder)
    call = detect(*FEW, "--fail-on", "new")
    key = call.told["experiment"]
    assert call.code == 0, "the server knew it"
    assert PAGE in call.printed
    sent = paths(board)
    assert sent[0] == "POST experiments"
    assert sent[-1] == f"POST experiments/{key}/finish"
    assert "POST uploads" in sent and "GET dependencies" in sent
    announced = json.loads(board.requests[0].body)
    assert (announced["key"], announced["protocol"], announced["seed"], announced["whole"]) == (
        key,
        "orders",
        "s",
        True,
    )
    assert announced["parameters"]["orders"] == 2
    _look_at_the_archive(upload_of(board), key)
    finished = json.loads(board.requests[-1].body)
    assert [each["test"] for each in finished["found"]] == [TESTS[0]]
    assert finished["probes"]["sent"] > 10


def _look_at_the_archive(upload: Request, key: str) -> None:
    assert upload.metadata()["experiment"] == key
    files = upload.files()
    orders = {name: content for name, content in files.items() if name.endswith(".xml")}
    by_round = {properties(content)["flakeboard.round"]: content for content in orders.values()}
    assert sorted(by_round, key=int) == ["-1", "0", "1", "2"]
    reverse = properties(by_round["1"])
    assert (reverse["flakeboard.how"], reverse["flakeboard.experiment"]) == ("reverse-class-method", key)
    assert reverse["flakeboard.order"] == "executed"
    cases = list(ElementTree.fromstring(by_round["1"]).iter("testcase"))
    assert [f"{case.get('file')}::{case.get('name')}" for case in cases] == TESTS[::-1]
    assert [case.find("failure") is not None for case in cases] == [False] * 5 + [True]
    head, *probes = [json.loads(line) for line in files["probes.jsonl"].splitlines()]
    assert (head["experiment"], head["tests"]) == (key, TESTS)
    pair = [probe for probe in probes if probe["why"] == "verify" and len(probe["order"]) == 2]
    assert [(probe["order"], probe["verdict"], probe["for"]) for probe in pair] == [([5, 0], "F", 0)]
    assert len({probe["n"] for probe in probes}) == len(probes)


def test_an_experiment_that_cannot_begin_is_ended_on_the_server_too(detect: Command, board: Misbehaving) -> None:
    (detect.folder / "test_broken.py").write_text("import nothing_of_that_name\n")
    call = detect(*FEW)
    assert call.code == 1
    sent = paths(board)
    assert (sent[0], sent[-1].rpartition("/")[2], "POST uploads" in sent) == ("POST experiments", "finish", False)
    body = json.loads(board.requests[-1].body)
    assert (body["ended"], body["orders"], body["found"]) == ("crash", [], [])
    assert Journal.open(str(detect.journals[0])).answer is None, "or --resume would have nothing to go on with"


def test_a_suspect_of_the_server_ends_the_search_at_once(detect: Command, board: Misbehaving) -> None:
    write_project(World(TESTS).victim(TESTS[0], TESTS[5]), detect.folder)
    suspects = [
        {"ground": "inferred", "p_value": 0.01, "before": [{"classname": "test_01", "name": "test_00"}]},
        {"ground": "shown", "before": [{"classname": "test_01", "name": "test_02"}]},
        {"ground": "stated", "before": [{"classname": "gone", "name": "'; rm -rf /"}]},
    ]
    board.answers = [(200, {**REPLY, "results": suspects, "new": [{"number": 0}]})]
    call = detect(*FEW, "--how", "reverse-class-method", "--fail-on", "new")
    assert call.code == 3, "the server did not know it"
    assert call.groups(TESTS[0]) == [([TESTS[5]], [])]
    probes = [json.loads(line) for line in upload_of(board).files()["probes.jsonl"].splitlines()[1:]]
    assert [probe["order"] for probe in probes if probe["why"] in ("suspect", "ddmin")] == [[5, 0]]


def test_without_the_server_the_file_stays_and_is_sent_later(
    detect: Command, board: Misbehaving, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(World(TESTS).victim(TESTS[0], TESTS[5]), detect.folder)
    monkeypatch.setenv("FLAKEBOARD_URL", "http://127.0.0.1:9")
    few = ("--orders", "1", "--minimize", "no", "--isolate", "1", "--timeout", "1", "--fail-on", "new")
    call = detect(*few)
    assert call.code == 3, "without the server's answer everything is new"
    assert f"flakeboard upload --experiment {detect.journals[0].relative_to(detect.folder)}" in call.printed
    monkeypatch.setenv("FLAKEBOARD_URL", board.url)
    assert cli.main(["upload", "--experiment", str(detect.journals[0])]) == 0
    assert PAGE in capsys.readouterr().out
    finished = json.loads(board.requests[-1].body)
    assert [each["test"] for each in finished["found"]] == [TESTS[0]]
    assert {properties(content).get("flakeboard.round") for content in _xml(upload_of(board))} == {"-1", "0", "1"}


def _xml(upload: Request) -> list[bytes]:
    return [content for name, content in upload.files().items() if name.endswith(".xml")]


@pytest.mark.parametrize(
    ("code", "words"), [("unknown_field", "the server is too old for experiments"), ("other", "No such thing")]
)
def test_a_refusal_is_told_and_the_file_stays(detect: Command, board: Misbehaving, code: str, words: str) -> None:
    write_project(World(TESTS), detect.folder)

    def answer(handler: Any) -> None:
        from tests.client.misbehaving import reply

        refused = {"error": {"code": code, "sentence": "No such thing."}}
        reply(handler, *((422, refused) if handler.path.endswith("uploads") else (200, REPLY)))

    board.answers = [answer]
    call = detect("--orders", "1")
    assert call.code == 0
    assert words in call.printed and "upload --experiment" in call.printed
