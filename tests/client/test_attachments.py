"""`--attach`: which files are sent beside a report, and that none of them changes how the command ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flakeboard import cli
from flakeboard.reports import attachments
from flakeboard.reports.attachments import find

from tests.client.commands import GREEN
from tests.client.misbehaving import ACCEPTED, Misbehaving, error

RED = """<testsuite name="s"><testcase classname="c" name="fails"><failure>no</failure>
<system-out>[[ATTACHMENT|shots/a&amp;b.png]]
[[ATTACHMENT|../outside.png]] [[ATTACHMENT|/etc/passwd]] [[ATTACHMENT|gone.png]]</system-out></testcase>
<testcase classname="c" name="flaky"><flakyFailure>no<system-out>[[ATTACHMENT|flaky.png]]</system-out></flakyFailure></testcase>
<testcase classname="c" name="named"><properties><property name="attachment" value="logs/named.log"/></properties><error/></testcase>
<testcase classname="c" name="passes"><system-out>[[ATTACHMENT|passes.png]]</system-out></testcase></testsuite>"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Misbehaving) -> Path:
    here = tmp_path / "work"
    for name in ("shots/a&b.png", "flaky.png", "logs/named.log", "passes.png", "../outside.png"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(b"x" * 10)
    (here / "report.xml").write_text(RED)
    monkeypatch.chdir(here)
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)
    return here


def test_files_of_failing_tests_below_the_folder_are_found(folder: Path) -> None:
    found = find(["reported"], ["report.xml"])
    assert [name for _, name in found.files] == ["shots/a&b.png", "flaky.png", "logs/named.log"]
    assert found.left_out == [
        "../outside.png: outside the current folder",
        "/etc/passwd: outside the current folder",
        "gone.png: there is no such file",
    ]


def test_a_link_that_leads_out_of_the_folder_is_left_out(folder: Path) -> None:
    (folder / "gone.png").symlink_to(folder / "../outside.png")
    assert "gone.png: outside the current folder" in find(["reported"], ["report.xml"]).left_out
    assert find(["gone.png"], []).files == []


def test_patterns_folders_and_limits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [name for _, name in find(["*.png", "logs", "no*thing"], []).files] == [
        "flaky.png",
        "passes.png",
        "logs/named.log",
    ]
    assert find(["no*thing"], []).left_out == ["no*thing matched nothing"]
    monkeypatch.setattr(attachments, "FILES", 1)
    assert find(["*.png"], []).left_out == ["passes.png: more than 1 files"]
    monkeypatch.setattr(attachments, "LARGEST", 9)
    assert len(find(["*.png"], []).left_out) == 2


def test_results_in_json_list_their_files(folder: Path) -> None:
    results = [
        {"status": status, "attachments": [{"name": "shot", "path": path}, {"name": "text"}]}
        for status, path in (("failed", "flaky.png"), ("passed", "passes.png"))
    ]
    (folder / "report.json").write_text(json.dumps({"suites": [{"specs": [{"tests": [{"results": results}]}]}]}))
    assert [name for _, name in find(["reported"], ["report.json"]).files] == ["flaky.png"]


def test_they_are_sent_after_the_reports(folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture) -> None:
    kept = {"kept": [{"name": "flaky.png"}], "refused": [{"name": "b", "code": "x", "sentence": "It is none."}]}
    server.answers = [(200, ACCEPTED), (200, kept)]
    assert cli.main(["upload", "report.xml", "--attach", "reported"]) == 0
    report, files = server.requests
    assert files.path == "/api/v1/projects/shop/uploads/7/attachments"
    assert files.body.count(b'form-data; name="file"') == 3
    assert b"filename*=UTF-8''shots%2Fa%26b.png" in files.body
    said = "".join(capsys.readouterr())
    assert "attached 1 file." in said and "not attached: b: It is none." in said


@pytest.mark.parametrize("broken", [error(422, "x", "No."), error(404, "not_found", "No."), (200, b"<html>")])
def test_files_that_are_not_taken_change_nothing(
    folder: Path, server: Misbehaving, capsys: pytest.CaptureFixture, broken: object
) -> None:
    (folder / "report.xml").write_text(GREEN)
    server.answers = [(200, ACCEPTED), broken]
    assert cli.main(["upload", "report.xml", "--attach", "*.png", "--timeout", "3"]) == 0
    assert "not attached: the files were not sent" in "".join(capsys.readouterr())


def test_nothing_is_attached_unless_it_is_asked_for(folder: Path, server: Misbehaving) -> None:
    assert cli.main(["upload", "report.xml"]) == 0
    assert len(server.requests) == 1
