"""The pytest plugin, in sessions of its own: what it records, masks, reruns and sends."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.client.commands import environ_with, flakeboard
from tests.client.misbehaving import ACCEPTED, PASSED, TOKEN, Misbehaving, error
from tests.client.starter import start

SAMPLE = """
import time
import pytest

def test_z_first() -> None:
    time.sleep(0.01)

class TestCart:
    @pytest.mark.parametrize("x", [1, 2])
    def test_total(self, x) -> None:
        assert x == 1, "x is <%d> & \\x07" % x

@pytest.fixture
def broken():
    raise RuntimeError("no database")

def test_with_broken_fixture(broken) -> None:
    pass

@pytest.fixture
def untidy():
    yield
    raise RuntimeError("left a mess")

def test_untidy(untidy) -> None:
    pass

@pytest.mark.skip(reason="not today")
def test_skipped() -> None:
    pass

@pytest.mark.xfail
def test_expected() -> None:
    assert 0

def test_a_last() -> None:
    pass
"""
COUNTING = """
import pathlib

def attempt(name: str):
    path = pathlib.Path(name)
    count = int(path.read_text()) if path.exists() else 0
    path.write_text(str(count + 1))
    return count

def test_flaky() -> None:
    assert attempt("flaky") == 2, "not yet"

def test_broken() -> None:
    assert attempt("broken") < 0

def test_fine() -> None:
    pass
"""
CRASHES = """
import errno
import os

import pytest

@pytest.fixture
def no_setup():
    raise ValueError

@pytest.fixture
def no_teardown():
    yield
    raise ValueError

class Odd(BaseException):
    pass

def test_setup(no_setup) -> None:
    pass

def test_teardown(no_teardown) -> None:
    pass

def test_exit() -> None:
    raise SystemExit(3)

def test_memory() -> None:
    raise MemoryError

def test_odd() -> None:
    raise Odd

def test_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

def test_machine() -> None:
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

def test_behind() -> None:
    try:
        raise MemoryError
    except MemoryError:
        raise ValueError("no")

def test_cause() -> None:
    raise ValueError("no") from MemoryError()

def test_cycle() -> None:
    error = ValueError("no")
    error.__cause__ = KeyError("no")
    error.__cause__.__cause__ = OSError(errno.EDQUOT, "no")
    error.__cause__.__cause__.__cause__ = error
    raise error
"""
CRASHING = tuple(re.findall(r"def (test_\w+)", CRASHES))
ENDINGS = {
    "KeyboardInterrupt": "def test_it():\n    raise KeyboardInterrupt\n",
    "pytest.exit": "import pytest\n\ndef test_it():\n    pytest.exit('enough')\n",
    "collection": "raise ValueError\n\ndef test_it():\n    pass\n",
    "killed": "import os\n\ndef test_it():\n    os.kill(os.getpid(), 9)\n",
}
"""What ends the whole session."""


def session(folder: Path, *options: str, source: str | None = None, **environ: Any) -> subprocess.CompletedProcess[str]:
    if source is not None:
        (folder / "test_sample.py").write_text(source)
    own = ("-p", "flakeboard.pytest_plugin", "-p", "no:cacheprovider")
    return start("pytest", *own, *options, cwd=folder, environ=environ_with(**environ), timeout=120)


def cases_of(path: Path) -> list[ET.Element]:
    return list(ET.parse(str(path)).getroot().iter("testcase"))


def tags(case: Any) -> list[str]:
    return [child.tag for child in case]


def reader() -> Any:
    """The server's own reader, where this Python can run it."""
    pytest.importorskip("lxml", reason="the server's reader needs lxml")
    if sys.version_info < (3, 11):  # noqa: UP036 - the client's tests run on older ones too
        pytest.skip("the server's reader needs Python 3.11")
    from ingest.junit import upload

    return upload


def quarantine(*names: str, **more: Any) -> tuple[int, dict[str, Any]]:
    tests = [{"number": 4, "suite": "", "classname": "test_sample", "name": name} for name in names]
    row = {"id": 1, "state": "active", "reason": "flaky, TICKET-1", "version": 1, "tests": tests, **more}
    return 200, {"results": [row], "next": None}


# -- recording ---------------------------------------------------------------------------------------------------


def test_without_its_options_it_does_nothing(tmp_path: Path) -> None:
    done = session(tmp_path, source="def test_a():\n    pass\n")
    assert done.returncode == 0
    assert "flakeboard" not in done.stdout
    assert [path.name for path in tmp_path.glob("*.xml")] == []


def test_the_report_is_in_order_of_execution_with_pytests_own_names(tmp_path: Path) -> None:
    done = session(tmp_path, "--flakeboard-report=mine.xml", "--junitxml=theirs.xml", source=SAMPLE)
    assert done.returncode == 1

    def names(path: Path) -> list[tuple[str | None, str | None]]:
        return list(dict.fromkeys((case.get("classname"), case.get("name")) for case in cases_of(tmp_path / path)))

    assert names("mine.xml") == names("theirs.xml")
    by_name = {case.get("name"): case for case in cases_of(tmp_path / "mine.xml")}
    assert tags(by_name["test_total[2]"]) == ["failure"]
    assert by_name["test_total[2]"].find("failure").get("message").startswith("AssertionError: x is <2> & #x07")
    assert tags(by_name["test_with_broken_fixture"]) == ["error"]
    assert by_name["test_untidy"].find("error").get("message").startswith("failed on teardown")
    assert tags(by_name["test_skipped"]) == tags(by_name["test_expected"]) == ["skipped"]
    assert float(by_name["test_z_first"].get("time")) >= 0.01
    assert by_name["test_z_first"].get("file") == "test_sample.py"
    assert by_name["test_z_first"].get("line") == "5"


def test_a_collection_error_is_in_the_report(tmp_path: Path) -> None:
    assert session(tmp_path, "--flakeboard-report=r.xml", source="import nowhere_to_be_found\n").returncode == 2
    (case,) = cases_of(tmp_path / "r.xml")
    assert case.find("error").get("message") == "collection failure"


def test_the_reader_knows_its_order_and_its_attempts(tmp_path: Path) -> None:
    reading = reader()
    session(tmp_path, "--flakeboard-report=r.xml", "--flakeboard-reruns=2", source=COUNTING)
    with open(str(tmp_path / "r.xml"), "rb") as file:
        report = reading.read_upload([("r.xml", file)]).report
    assert (report.producer, report.order_reliable, report.run_errors) == ("pytest", True, [])
    flaky, broken, fine = report.cases()
    assert [attempt.verdict.name for attempt in flaky.attempts] == ["FAIL", "FAIL", "PASS"]
    assert [attempt.verdict.name for attempt in broken.attempts] == ["FAIL", "FAIL", "FAIL"]
    assert {attempt.provenance.value for case in (flaky, broken) for attempt in case.attempts} == {"explicit"}
    assert (flaky.verdict.name, broken.verdict.name, len(fine.attempts)) == ("PASS", "FAIL", 1)


# -- reruns ------------------------------------------------------------------------------------------------------


def test_reruns_stop_at_the_first_pass_and_leave_the_broken_test_red(tmp_path: Path) -> None:
    done = session(tmp_path, "--flakeboard-reruns=2", "--flakeboard-report=r.xml", "-rA", source=COUNTING)
    assert done.returncode == 1
    assert re.search(r"1 failed, 2 passed, 4 rerun", done.stdout), done.stdout
    flaky, broken, fine = cases_of(tmp_path / "r.xml")
    assert tags(flaky) == ["flakyFailure", "flakyFailure"]
    assert tags(broken) == ["failure", "rerunFailure", "rerunFailure"]
    assert tags(fine) == []


def test_auto_reruns_as_often_as_is_recommended(tmp_path: Path, server: Misbehaving) -> None:
    row = {"classname": "test_sample", "name": "test_flaky", "reruns": {"to_get_past": 2}}
    server.answers = [(200, {"results": [row, {"name": "test_broken", "reruns": {"to_get_past": None}}], "next": None})]
    session(tmp_path, "--flakeboard-reruns=auto", source=COUNTING, **server.environ())
    assert ((tmp_path / "flaky").read_text(), (tmp_path / "broken").read_text()) == ("3", "1")
    assert server.requests[0].path.endswith("/tests")


def test_a_crash_is_not_rerun(tmp_path: Path) -> None:
    done = session(tmp_path, "--flakeboard-reruns=3", source=CRASHES)
    assert done.returncode == 1
    assert " 8 failed, 1 passed, 2 errors in " in done.stdout, done.stdout


def test_fixtures_are_made_anew_for_each_attempt(tmp_path: Path) -> None:
    source = """
import pytest
made = []

@pytest.fixture
def thing():
    made.append(1)
    yield len(made)
    made.append(0)

def test_it(thing) -> None:
    assert made == [1, 0, 1]
"""
    assert session(tmp_path, "--flakeboard-reruns=1", source=source).returncode == 0


# -- quarantine --------------------------------------------------------------------------------------------------


def test_a_quarantined_failure_does_not_fail_the_session_and_is_still_reported(
    tmp_path: Path, server: Misbehaving
) -> None:
    server.answers = [quarantine("test_broken", "test_flaky")]
    options = ("--flakeboard-quarantine", "--flakeboard-report=r.xml", "-rx")
    done = session(tmp_path, *options, source=COUNTING, **server.environ())
    assert done.returncode == 0, done.stdout
    assert "2 xfailed" in done.stdout
    assert "quarantined: flaky, TICKET-1" in done.stdout
    assert [tags(case) for case in cases_of(tmp_path / "r.xml")] == [["failure"], ["failure"], []]


def test_others_fail_as_ever(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [quarantine("test_flaky")]
    assert session(tmp_path, "--flakeboard-quarantine", source=COUNTING, **server.environ()).returncode == 1


def test_a_crash_is_never_masked(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [quarantine(*CRASHING)]
    done = session(tmp_path, "--flakeboard-quarantine", source=CRASHES, **server.environ())
    assert done.returncode == 1
    assert " 8 failed, 1 passed, 2 errors in " in done.stdout, done.stdout


def test_an_error_that_was_dealt_with_is_no_crash(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [quarantine("test_it")]
    source = """
def test_it() -> None:
    try:
        raise MemoryError
    except MemoryError:
        raise OSError(2, "no such file") from None
"""
    done = session(tmp_path, "--flakeboard-quarantine", source=source, **server.environ())
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_ends_the_session_is_never_masked(tmp_path: Path, server: Misbehaving, ending: str) -> None:
    server.answers = [quarantine("test_it")]
    done = session(tmp_path, "--flakeboard-quarantine", source=ENDINGS[ending], **server.environ())
    assert done.returncode != 0, done.stdout


PULL = {"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/pull/7/merge", "GITHUB_HEAD_REF": "main"}


@pytest.mark.parametrize(("branches", "code"), [(["main"], 1), (["pull/*"], 0), ([], 0)])
def test_a_pull_request_from_a_branch_called_main_is_not_main(
    tmp_path: Path, server: Misbehaving, branches: list[str], code: int
) -> None:
    server.answers = [quarantine("test_broken", "test_flaky", branches=branches)]
    done = session(tmp_path, "--flakeboard-quarantine", source=COUNTING, **server.environ(), **PULL)
    assert done.returncode == code
    asked = server.requests[0].query
    assert (asked["branch"], asked["pull_request"]) == ("main", "7")


def test_a_quarantine_that_does_not_hold_here_masks_nothing(tmp_path: Path, server: Misbehaving) -> None:
    scopes: list[dict[str, Any]] = [
        {"branches": ["main"]},
        {"environments": {"os": "Plan9"}},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"state": "proposed"},
        {"expires_at": "never"},
    ]
    rows = [quarantine("test_broken", "test_flaky", **scope)[1]["results"][0] for scope in scopes]
    server.answers = [(200, {"results": rows, "next": None})]
    environ = {**server.environ(), "GITHUB_ACTIONS": "true", "GITHUB_REF_NAME": "other"}
    done = session(tmp_path, "--flakeboard-quarantine", source=COUNTING, **environ)
    assert done.returncode == 1
    assert "2 failed, 1 passed" in done.stdout


def test_without_the_server_nothing_is_masked_and_the_summary_says_so(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [error(401, "unauthenticated", "The token is revoked: " + TOKEN)]
    done = session(tmp_path, "--flakeboard-quarantine", source=COUNTING, **server.environ())
    assert done.returncode == 1
    assert "nothing is masked or rerun: The token is revoked" in done.stdout
    assert TOKEN not in done.stdout


# -- sending -----------------------------------------------------------------------------------------------------


def test_results_are_sent_at_the_end_in_their_order(tmp_path: Path, server: Misbehaving) -> None:
    done = session(tmp_path, "--flakeboard-upload", source=COUNTING, **server.environ())
    assert done.returncode == 1
    assert ACCEPTED["page"] in done.stdout
    (content,) = server.requests[0].files().values()
    assert content.index(b"test_flaky") < content.index(b"test_broken") < content.index(b"test_fine")
    assert b'name="flakeboard.order" value="executed"' in content


def test_results_that_cannot_be_sent_change_nothing(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [error(413, "limit", "Too large.")]
    done = session(tmp_path, "--flakeboard-upload", source="def test_a():\n    pass\n", **server.environ())
    assert done.returncode == 0
    assert "the results were not sent: Too large." in done.stdout


@pytest.mark.parametrize("workers", ["", "2"], ids=["alone", "xdist"])
def test_the_command_finds_the_plugins_reports_and_sends_them_once(
    tmp_path: Path, server: Misbehaving, workers: str
) -> None:
    (tmp_path / "test_sample.py").write_text(COUNTING)
    server.answers = [(200, PASSED)]
    if workers:
        pytest.importorskip("xdist")
    command = ("-p", "flakeboard.pytest_plugin", "--flakeboard-upload", "--flakeboard-report=r.xml")
    parallel = ("-p", "xdist", "-n" + workers) if workers else ()
    arguments = ("run", "--", sys.executable, "-m", "pytest", *command, *parallel)
    environ = {**server.environ(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    assert flakeboard(*arguments, cwd=tmp_path, environ=environ).returncode == 0
    (request,) = server.requests
    assert request.path == "/api/v1/projects/shop/gate"
    assert sorted(request.files()) == (["r.gw0.xml", "r.gw1.xml"] if workers else ["r.xml"])


# -- xdist -------------------------------------------------------------------------------------------------------

MANY = "import os, pytest\n\n@pytest.mark.parametrize('x', range(12))\ndef test_it(x):\n    with open('log-' + os.environ['PYTEST_XDIST_WORKER'], 'a') as file:\n        file.write('test_it[%d]\\n' % x)\n    assert x != 3\n"


def parallel(folder: Path, *options: str, source: str | None, **environ: Any) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("xdist")
    return session(folder, "-p", "xdist", "-n2", *options, source=source, **environ)


def test_each_worker_has_its_own_file_in_its_own_order(tmp_path: Path) -> None:
    done = parallel(tmp_path, "--flakeboard-report=r.xml", source=MANY)
    assert done.returncode == 1
    assert sorted(path.name for path in tmp_path.glob("*.xml")) == ["r.gw0.xml", "r.gw1.xml"]
    for worker in ("gw0", "gw1"):
        executed = (tmp_path / ("log-" + worker)).read_text().split()
        assert [case.get("name") for case in cases_of(tmp_path / f"r.{worker}.xml")] == executed
    assert "[gw" not in (tmp_path / "r.gw0.xml").read_text() + (tmp_path / "r.gw1.xml").read_text()


def test_workers_come_in_one_upload_and_the_reader_trusts_the_order_of_each(
    tmp_path: Path, server: Misbehaving
) -> None:
    reading = reader()
    parallel(tmp_path, "--flakeboard-upload", source=MANY, **server.environ())
    (request,) = server.requests
    reports = reading.read_upload([(name, io.BytesIO(content)) for name, content in request.files().items()]).reports
    assert [report.order_reliable for report in reports] == [True, True]
    executed = [(tmp_path / ("log-" + worker)).read_text().split() for worker in ("gw0", "gw1")]
    assert [[key[2] for key in report.keys] for report in reports] == executed


def test_masks_and_reruns_work_in_workers_without_asking_again(tmp_path: Path, server: Misbehaving) -> None:
    source = COUNTING
    server.answers = [quarantine("test_broken")]
    done = parallel(tmp_path, "--flakeboard-quarantine", "--flakeboard-reruns=2", source=source, **server.environ())
    assert done.returncode == 0, done.stdout
    assert len(server.requests) == 1
    assert re.search(r"2 passed, 1 xfailed, 2 rerun", done.stdout), done.stdout


def test_a_worker_that_crashes_in_a_quarantined_test_fails_the_session(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [quarantine("test_it")]
    done = parallel(
        tmp_path, "--flakeboard-quarantine", "--flakeboard-report=r.xml", source=ENDINGS["killed"], **server.environ()
    )
    assert done.returncode == 1, done.stdout
    assert "crashed while running" in "".join(path.read_text() for path in tmp_path.glob("r*.xml"))
