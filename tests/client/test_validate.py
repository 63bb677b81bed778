"""`flakeboard validate`: what a file holds and whether the server would read it, without a server."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from flakeboard import cli
from flakeboard.reports.inspection import inspect

from tests.client.commands import FAILED, GREEN
from tests.client.conftest import ROOT

PRODUCERS = ROOT / "tests" / "data" / "producers"
CASE = '<testcase classname="a" name="b" time="0.5"/>'


def validate(*words: str) -> int:
    return cli.main(["validate", *words])


def test_counts_repeated_names_and_the_sum_are_shown_and_red_tests_are_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "a.xml").write_text(FAILED)
    (tmp_path / "b.xml").write_text(f'<testsuite failures="2">{CASE}{CASE}</testsuite>')
    assert validate(str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "2 tests in 1 suites: 1 passed, 1 failed, 0 with errors, 0 skipped, 0.2 s" in shown
    assert "its header counts 2 failing tests, but it holds 0: a gate holds" in shown
    assert "names that repeat (1;" in shown and "a :: b" in shown
    assert "2 file(s), 4 tests, 1 failing; 1 upload(s) of one run. Nothing was sent." in shown


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is empty"),
        (b"make: *** no rule\n", "it does not begin as a report"),
        (GREEN[:-20].encode(), "line 1, column "),
        (b"<!DOCTYPE a><testsuites/>", "it has a DOCTYPE"),
        (b"<html><body>502</body></html>", "its root <html>"),
        (b"<testsuites/>", "it has no test case"),
        (b"<testsuite>" + b"<testsuite>" * 70, "nested deeper than 64"),
        (b'<?xml version="1.0" encoding="klingon"?><testsuite/>', "encoding"),
        (gzip.compress(GREEN.encode(), mtime=0)[:60], "ended before the end-of-stream"),
    ],
    ids=["empty", "log", "truncated", "doctype", "html", "no case", "deep", "encoding", "half a gzip"],
)
def test_what_the_server_would_not_read_whole_is_told_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture, content: bytes, why: str
) -> None:
    (tmp_path / "report.xml").write_bytes(content)
    assert validate(str(tmp_path / "report.xml")) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("FAIL") and why in shown


def test_a_pattern_that_matches_nothing_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(GREEN)
    assert validate(str(tmp_path / "*.xml"), str(tmp_path / "b/*.xml")) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_encodings_and_gzip_are_read(tmp_path: Path, encoding: str) -> None:
    declared = '<?xml version="1.0" encoding="iso-8859-1"?>' if encoding == "latin-1" else ""
    text = f'{declared}<testsuite name="ä">{CASE}</testsuite>'
    (tmp_path / "report.xml.gz").write_bytes(gzip.compress(text.encode(encoding), mtime=0))
    seen = inspect(str(tmp_path / "report.xml.gz"))
    assert (seen.problem, seen.cases, seen.seconds) == ("", 1, 0.5)


def test_real_reports_are_counted_as_their_producers_meant_them(capsys: pytest.CaptureFixture) -> None:
    expected = json.loads((PRODUCERS / "expected.json").read_text())
    validate("--json", *(str(PRODUCERS / name) for name in sorted(expected)))
    rows = {Path(row["path"]).name: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert set(rows) == set(expected)
    whole = {name for name, row in rows.items() if row["form"] == "JUnit XML" and not row["problem"]}
    damaged = {name for name in expected if not expected[name]["well_formed"] and name.endswith(".xml")}
    assert len(whole) > 80 and not whole & damaged
    odd = {name for name in whole if expected[name]["attempts"] or expected[name]["run_errors"]}
    plain = [name for name in whole - odd if not rows[name]["repeated"] and not name.startswith("qtest")]
    assert {name: rows[name]["cases"] for name in plain} == {
        name: expected[name]["readable"]["tests"] for name in plain
    }
    assert len(plain) > 30
