"""`flakeboard gate`: a step of its own after the tests answers as `flakeboard run` does, and trusts no more."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.client.commands import FAILED, flakeboard
from tests.client.misbehaving import PASSED, Misbehaving, error, failing, refused

EXCUSED = {**PASSED, "failing": [failing("test_bad", blocks=False, kind="quarantined")]}


def gate(
    folder: Path, server: Misbehaving, *words: str, report: str = FAILED, **environ: str
) -> subprocess.CompletedProcess[str]:
    if report:
        (folder / "report.xml").write_text(report)
    return flakeboard("gate", *words, cwd=folder, environ={**server.environ(), **environ})


@pytest.mark.parametrize(
    ("answer", "code", "expected"),
    [
        ((200, EXCUSED), "1", 0),
        ((200, refused(failing("test_bad"))), "1", 1),
        ((200, refused(failing("test_bad"))), "0", 0),
        (error(500), "7", 7),
        ((200, {**EXCUSED, "decided": False}), "3", 3),
    ],
    ids=["excused", "held", "green", "down", "undecided"],
)
def test_the_gate_or_the_tests_own_code_decides(
    tmp_path: Path, server: Misbehaving, answer: Any, code: str, expected: int
) -> None:
    server.answers = [answer]
    done = gate(tmp_path, server, "--exit-code", code, "--timeout", "0.4", "report.xml")
    assert done.returncode == expected, done.stdout
    first = server.first_request()
    assert first.path == "/api/v1/projects/shop/gate" and first.query["exit_code"] == code
    assert set(first.files()) == {"report.xml"}


def test_the_command_that_ran_names_its_runner_and_what_cuts_it_short(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, refused(failing("test_bad")))]
    done = gate(tmp_path, server, "--exit-code", "1", "report.xml", "--", "pytest", "-x")
    assert done.returncode == 1
    assert server.requests[0].query["runner"] == "pytest"
    assert "-x" in server.requests[0].metadata()["truncated"]


@pytest.mark.parametrize("since", ["start", "absent", ""])
def test_a_report_from_before_the_tests_excuses_nothing(tmp_path: Path, server: Misbehaving, since: str) -> None:
    """Even though the gate would let it pass: the old report may be the only one with the failing test."""
    (tmp_path / "start").touch()
    (tmp_path / "old.xml").write_text(FAILED)
    long_ago = time.time() - 2 * 86_400
    os.utime(tmp_path / "old.xml", (long_ago, long_ago))
    server.answers = [(200, EXCUSED)]
    words = ["--since", since] if since else []
    done = gate(tmp_path, server, "--exit-code", "1", *words, "*.xml")
    assert done.returncode == 1, done.stdout
    assert "old.xml is older than this run" in done.stdout


def test_a_report_from_before_the_jobs_checkout_excuses_nothing(tmp_path: Path, server: Misbehaving) -> None:
    """In a workspace that stays, the report of the last build is there when the tests crash before they write theirs."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "report.xml").write_text(FAILED)
    an_hour_ago = time.time() - 3_600
    os.utime(tmp_path / "report.xml", (an_hour_ago, an_hour_ago))
    server.answers = [(200, EXCUSED)]
    assert gate(tmp_path, server, "--exit-code", "1", "report.xml", report="").returncode == 0, "nothing tells"
    (tmp_path / ".git" / "FETCH_HEAD").touch()
    assert gate(tmp_path, server, "--exit-code", "1", "report.xml", report="").returncode == 1


def test_gitlabs_start_of_the_job_tells_old_reports(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, EXCUSED)]
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 600))
    done = gate(tmp_path, server, "--exit-code", "1", "report.xml", GITLAB_CI="true", CI_JOB_STARTED_AT=later)
    assert done.returncode == 1 and not server.requests, done.stdout


def test_a_kept_list_names_quarantined_tests_and_excuses_none(tmp_path: Path, server: Misbehaving) -> None:
    """The run that reaches the server keeps the list; the one that does not shows it, and stays red."""
    listed = {"results": [{"state": "active", "reason": "", "test": {"classname": "test_sample", "name": "test_bad"}}]}
    server.answers = [(200, listed), (200, EXCUSED)]
    (tmp_path / "write.sh").write_text("sleep 0; cp source.xml report.xml; exit 1")
    (tmp_path / "source.xml").write_text(FAILED)
    words = ("run", "--timeout", "0.9", "--report", "report.xml", "--", "/bin/sh", "write.sh")
    environ = {**server.environ(), "FLAKEBOARD_CACHE": "kept"}
    assert flakeboard(*words, cwd=tmp_path, environ=environ).returncode == 0
    (tmp_path / "report.xml").unlink()
    server.answers = [error(503)]
    done = flakeboard(*words, cwd=tmp_path, environ=environ)
    assert done.returncode == 1, done.stdout
    assert "of 1 failing tests 1 were quarantined on" in done.stdout and "test_sample :: test_bad" in done.stdout


def test_no_exit_code_is_a_usage_error(tmp_path: Path, server: Misbehaving) -> None:
    assert gate(tmp_path, server, "report.xml").returncode == 2
    assert gate(tmp_path, server, "--exit-code", "red", "report.xml").returncode == 2
