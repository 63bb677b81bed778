"""`flakeboard run`: exit codes, signals, reports that are old or missing, servers that are down, and reruns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.client.commands import FAILED, GREEN, environ_with, flakeboard, python, writes
from tests.client.misbehaving import PASSED, TOKEN, Misbehaving, drip, error, failing, refused

ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
HASTY = ("--report", "report.xml", "--timeout", "0.4")
FLAKY = """
import pathlib, sys

runs = pathlib.Path("runs")
count = int(runs.read_text()) if runs.exists() else 0
runs.write_text(str(count + 1))

def test_good() -> None:
    pass

def test_flaky() -> None:
    assert count >= {passes_at}, "attempt %d" % count
"""


def run(
    folder: Path,
    server: Misbehaving,
    *command: str,
    options: Sequence[str] = ("--report", "report.xml"),
    **environ: str,
) -> subprocess.CompletedProcess[str]:
    return flakeboard("run", *options, "--", *command, cwd=folder, environ={**server.environ(), **environ})


# -- exit codes --------------------------------------------------------------------------------------------------


def test_a_green_command_is_sent_and_stays_green(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, {**PASSED, "sentence": "No test failed."})]
    done = run(tmp_path, server, *writes("report.xml", GREEN))
    assert done.returncode == 0
    assert server.requests[0].path == "/api/v1/projects/shop/gate"
    assert server.requests[0].query["exit_code"] == "0"
    assert set(server.requests[0].files()) == {"report.xml"}


def test_a_red_command_passes_if_the_gate_says_so(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, {**PASSED, "failing": [failing("test_bad", blocks=False, kind="quarantined")]})]
    done = run(tmp_path, server, *writes("report.xml", FAILED, 1))
    assert done.returncode == 0
    assert "flakeboard: PASS: 1 of 2 tests failed: it is quarantined." in done.stdout
    assert "passes  quarantined  test_sample :: test_bad" in done.stdout
    assert "exit code 0; the command itself gave 1." in done.stdout


def test_a_red_command_keeps_its_code_if_the_gate_says_no(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, refused(failing("test_bad")))]
    done = run(tmp_path, server, *writes("report.xml", FAILED, 3))
    assert done.returncode == 3
    assert "BLOCKS  flaky" in done.stdout
    assert "why: 1 failing test is not quarantined." in done.stdout


@pytest.mark.parametrize("answer", [{**PASSED, "decided": False}, []], ids=["not decided", "no object"])
def test_only_a_decided_pass_is_a_pass(tmp_path: Path, server: Misbehaving, answer: Any) -> None:
    server.answers = [(200, answer)]
    options = ("--report", "report.xml", "--timeout", "0.5")
    assert run(tmp_path, server, *writes("report.xml", FAILED, 1), options=options).returncode == 1


def test_an_answer_that_comes_later_is_asked_for_again(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, {**PASSED, "passed": False, "decided": False}), (200, PASSED)]
    assert run(tmp_path, server, *writes("report.xml", FAILED, 1)).returncode == 0
    assert server.requests[1].path == "/api/v1/projects/shop/gate/1"


@pytest.mark.parametrize(
    "answer", [error(500), error(401), error(404), error(422), (302, b"", {"Location": "/x"}), drip]
)
def test_without_an_answer_the_code_is_the_commands_own(tmp_path: Path, server: Misbehaving, answer: Any) -> None:
    server.answers = [answer]
    done = run(tmp_path, server, *writes("report.xml", FAILED, 7), options=HASTY)
    assert done.returncode == 7
    assert "Flakeboard was not asked" in done.stdout


def test_without_an_answer_a_green_command_stays_green(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [error(500)]
    assert run(tmp_path, server, *writes("report.xml", GREEN, 0), options=HASTY).returncode == 0


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({"FLAKEBOARD_URL": "http://127.0.0.1:9"}, "Connection refused"),
        ({"FLAKEBOARD_TOKEN": ""}, "No token:"),
        ({"FLAKEBOARD_URL": ""}, "No address:"),
        ({"FLAKEBOARD_URL": "http://board.example"}, "plain http"),
    ],
)
def test_a_server_that_cannot_be_asked_is_told_with_the_reason(
    tmp_path: Path, server: Misbehaving, environ: dict[str, str], why: str
) -> None:
    done = run(tmp_path, server, *writes("report.xml", FAILED, 1), options=HASTY, **environ)
    assert done.returncode == 1
    assert why in done.stdout
    assert TOKEN not in done.stdout


def test_a_command_that_cannot_be_started_is_127(tmp_path: Path, server: Misbehaving) -> None:
    done = run(tmp_path, server, "no-such-command")
    assert done.returncode == 127
    assert "no-such-command" in done.stdout
    assert server.requests == []


def test_what_is_wrong_with_the_set_up_is_said_before_the_tests_run(tmp_path: Path, server: Misbehaving) -> None:
    done = run(tmp_path, server, *python("print('tests run'); raise SystemExit(1)"), FLAKEBOARD_TOKEN="")
    assert done.returncode == 1
    assert done.stdout.index("No token:") < done.stdout.index("tests run")


def test_a_shard_that_is_none_of_the_parts_is_refused_before_the_tests_run(tmp_path: Path, server: Misbehaving) -> None:
    options = ("--shard", "5/2")
    done = run(tmp_path, server, *python("open('ran', 'w')"), options=options)
    assert done.returncode == 2 and "there is no shard 5/2" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_no_command_is_a_usage_error(tmp_path: Path, server: Misbehaving) -> None:
    assert flakeboard("run", "--report", "x.xml", cwd=tmp_path, environ=server.environ()).returncode == 2


def test_output_passes_through_and_options_behind_the_dashes_are_the_commands(
    tmp_path: Path, server: Misbehaving
) -> None:
    server.answers = [(200, PASSED)]
    code = (
        "import sys; print(sys.argv[1:]); print('err', file=sys.stderr); open('report.xml', 'w').write('<testsuite/>')"
    )
    done = run(tmp_path, server, sys.executable, "-c", code, "--retries", "--", "x")
    assert "['--retries', '--', 'x']" in done.stdout
    assert "err" in done.stdout


# -- what is loaded when -------------------------------------------------------------------------------------------

_WAITS_FOR_THE_CLIENT = """
import os, sys, time
from flakeboard.commands import run
from flakeboard.runners import process

late = ("http.client", "xml.etree.ElementTree", "flakeboard.gate.judgement")
before = [name for name in late if name in sys.modules]
waits = "import os, time\\nwhile not os.path.exists('loaded'): time.sleep(0.01)"

def load():
    run._load_judgement()
    open("loaded", "w").close()

result = process.run([sys.executable, "-c", waits], meanwhile=load)
print(before, result.code, [name for name in late if name not in sys.modules])
"""


def test_what_follows_the_command_is_loaded_while_it_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WAITS_FOR_THE_CLIENT]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ_with(), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == "[] 0 []\n", done.stderr


_GONE_MEANWHILE = """
import sys
from flakeboard import cli

sys.modules["flakeboard.gate.judgement"] = None  # as where the command removed the client
sys.exit(cli.main(["run", "--report", "report.xml", "--", sys.executable, "-c", "import sys; sys.exit(3)"]))
"""


def test_a_client_that_is_gone_after_the_command_leaves_its_exit_code(tmp_path: Path, server: Misbehaving) -> None:
    command = [sys.executable, "-c", _GONE_MEANWHILE]
    environ = environ_with(**server.environ())
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 3
    assert "Flakeboard was not asked: its client cannot be loaded" in done.stdout + done.stderr


# -- signals -----------------------------------------------------------------------------------------------------


def test_a_command_that_is_killed_is_told_so_and_never_passes_quietly(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, refused(code="killed_by_signal"))]
    code = f"import os; open('report.xml', 'w').write({GREEN!r}); os.kill(os.getpid(), 9)"
    done = run(tmp_path, server, *python(code))
    assert done.returncode == 137
    assert server.requests[0].query["exit_code"] == "-9"


_SIGNALLED_WHILE_STARTING = """
import os, signal, subprocess, sys
from flakeboard.runners import process

start = subprocess.Popen
def start_slowly(*words, **options):
    started = start(*words, **options)
    os.kill(os.getpid(), signal.SIGTERM)  # before anybody can have been told that it runs
    return started
subprocess.Popen = start_slowly
result = process.run([sys.executable, "-c", "import time; time.sleep(60)"])
print(result.code, result.cancelled)
"""


def test_a_signal_that_comes_while_the_command_starts_reaches_it() -> None:
    """The command is cancelled, not the client: reports and exit code are still told."""
    command = [sys.executable, "-c", _SIGNALLED_WHILE_STARTING]
    done = subprocess.run(command, env=environ_with(), capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "-15 True\n", done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_command_and_its_end_is_reported(tmp_path: Path, server: Misbehaving, number: int) -> None:
    server.answers = [(200, PASSED)]
    code = (
        "import signal, sys, time\n"
        f"signal.signal({int(number)}, lambda *a: (open('report.xml', 'w').write({FAILED!r}), sys.exit(5)))\n"
        "open('ready', 'w').close()\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "flakeboard", "run", "--report", "report.xml", "--", *python(code)],
        cwd=str(tmp_path),
        env=environ_with(**server.environ()),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )
    wait_for(tmp_path / "ready")
    process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == 5, "a cancelled run is never green, whatever the gate says"
    assert server.requests[0].query["exit_code"] == "5"


def wait_for(path: Path) -> None:
    for _ in range(6_000):
        if path.exists():
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} did not appear")


# -- reports -----------------------------------------------------------------------------------------------------


def test_an_old_report_is_told_and_not_sent(tmp_path: Path, server: Misbehaving) -> None:
    (tmp_path / "report.xml").write_text(GREEN)
    done = run(tmp_path, server, *python("import sys; sys.exit(1)"))
    assert done.returncode == 1
    assert "report.xml is older than this run" in done.stdout
    assert server.requests == []


def test_a_report_that_was_written_again_is_fresh_and_its_old_neighbour_is_not(
    tmp_path: Path, server: Misbehaving
) -> None:
    for name in ("TEST-a.xml", "TEST-b.xml"):
        (tmp_path / name).write_text(GREEN)
    server.answers = [(200, PASSED)]
    done = run(tmp_path, server, *writes("TEST-a.xml", FAILED, 1), options=("--report", "TEST-*.xml"))
    assert list(server.requests[0].files()) == ["TEST-a.xml"]
    assert "TEST-b.xml is older" in done.stdout


def test_a_file_that_came_with_an_old_time_is_not_of_this_run(tmp_path: Path, server: Misbehaving) -> None:
    code = f"import os; open('report.xml', 'w').write({GREEN!r}); os.utime('report.xml', (1e9, 1e9))"
    assert "older than this run" in run(tmp_path, server, *python(code)).stdout
    assert server.requests == []


def test_a_report_that_is_missing_beside_others_blocks(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, PASSED)]
    options = ("--report", "report.xml", "--report", "api/*.xml")
    done = run(tmp_path, server, *writes("report.xml", FAILED, 1), options=options)
    assert done.returncode == 1
    assert "No report was written that matches api/*.xml." in done.stdout


def test_a_green_run_tells_what_was_not_sent_and_stays_green(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, PASSED)]
    options = ("--report", "report.xml", "--report", "api/*.xml")
    done = run(tmp_path, server, *writes("report.xml", GREEN, 0), options=options)
    assert done.returncode == 0
    assert server.requests[0].metadata()["unsent"] == ["No report was written that matches api/*.xml."]


def test_without_a_report_the_code_is_the_commands_own(tmp_path: Path, server: Misbehaving) -> None:
    done = run(tmp_path, server, *python("import sys; sys.exit(4)"))
    assert (done.returncode, server.requests) == (4, [])
    assert "wrote no report" in done.stdout


def test_pytest_needs_no_report_option(tmp_path: Path, server: Misbehaving) -> None:
    (tmp_path / "test_sample.py").write_text("def test_bad():\n    assert 0\n")
    server.answers = [(200, PASSED)]
    done = run(tmp_path, server, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", options=(), **ALONE)
    assert done.returncode == 0
    assert server.requests[0].query["runner"] == "pytest"
    assert b'classname="test_sample" name="test_bad"' in list(server.requests[0].files().values())[0]


# -- what CI shows -----------------------------------------------------------------------------------------------


def test_github_gets_a_summary_and_annotations(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, refused(failing("test_bad")))]
    summary = tmp_path / "summary.md"
    done = run(
        tmp_path, server, *writes("report.xml", FAILED, 1), GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary)
    )
    assert (
        "::error file=test_sample.py,title=test_sample %3A%3A test_bad (flaky)::It is known to be flaky." in done.stdout
    )
    assert "### Flakeboard's gate failed" in summary.read_text()
    assert "| blocks | test\\_sample \\:\\: test\\_bad |" in summary.read_text()


def test_gitlab_gets_a_section(tmp_path: Path, server: Misbehaving) -> None:
    server.answers = [(200, PASSED)]
    done = run(tmp_path, server, *writes("report.xml", FAILED, 1), GITLAB_CI="true")
    assert "section_start:" in done.stdout
    assert done.stdout.index("section_start:") < done.stdout.index("PASS") < done.stdout.index("section_end:")


# -- reruns ------------------------------------------------------------------------------------------------------


def rerun(
    folder: Path, server: Misbehaving, passes_at: int, *options: str, answers: list[Any]
) -> subprocess.CompletedProcess[str]:
    (folder / "test_sample.py").write_text(FLAKY.format(passes_at=passes_at))
    server.answers = answers
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--junitxml=report.xml", ".")
    return run(folder, server, *command, options=("--timeout", "20", *options), **ALONE)


def test_a_test_that_passes_when_run_again_lets_the_build_pass(tmp_path: Path, server: Misbehaving) -> None:
    no, yes = refused(failing("test_flaky", reruns=2)), {**PASSED, "sentence": "The command succeeded."}
    done = rerun(tmp_path, server, 2, "--retries", "auto", answers=[(200, no), (200, yes)])
    assert done.returncode == 0, done.stdout
    assert "passed in a rerun" in done.stdout
    asked = [(request.path.rpartition("/")[2], request.query.get("exit_code")) for request in server.requests]
    assert asked == [("gate", "1"), ("uploads", None), ("gate", "0")], "each rerun is a report of its own"
    reports = [request.files() for request in server.requests[1:]]
    assert [list(files) for files in reports] == [["rerun/1/0/report.xml"], ["rerun/2/0/report.xml"]]
    assert all(b"test_good" not in text for files in reports for text in files.values()), "only what failed is rerun"
    told = [{**request.metadata(), "started_at": ""} for request in server.requests]
    assert told[0] == told[1] == told[2], "the attempts belong to the same run"


def test_a_test_that_keeps_failing_blocks_and_its_attempts_are_sent(tmp_path: Path, server: Misbehaving) -> None:
    no = refused(failing("test_flaky", reruns=2))
    done = rerun(tmp_path, server, 9, "--retries", "auto", answers=[(200, no), (200, refused())])
    assert done.returncode == 1
    assert "failed in every rerun" in done.stdout
    assert len(server.requests) == 3
    assert (tmp_path / "runs").read_text() == "3"


def test_the_commands_own_report_is_afterwards_what_it_was(tmp_path: Path, server: Misbehaving) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --junitxml=report.xml -q -rA\n")
    (tmp_path / "test_sample.py").write_text(FLAKY.format(passes_at=1))
    server.answers = [(200, refused(failing("test_flaky", reruns=1))), (200, PASSED)]
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
    done = run(tmp_path, server, *command, options=("--retries", "auto"), **ALONE)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("short test summary info") == 2, "addopts hold for reruns too"
    assert (tmp_path / "report.xml").read_bytes() == server.requests[0].files()["report.xml"]
    assert b"test_good" in (tmp_path / "report.xml").read_bytes(), "and not what the rerun wrote"


def test_auto_reruns_nothing_that_has_no_number(tmp_path: Path, server: Misbehaving) -> None:
    done = rerun(tmp_path, server, 1, "--retries", "auto", answers=[(200, refused(failing("test_flaky")))])
    assert done.returncode == 1
    assert "no rerun is recommended" in done.stdout
    assert (tmp_path / "runs").read_text() == "1"


def test_a_number_reruns_without_asking(tmp_path: Path, server: Misbehaving) -> None:
    no = refused(failing("test_flaky", kind="new"))
    done = rerun(tmp_path, server, 1, "--retries", "1", answers=[(200, no), (200, PASSED)])
    assert done.returncode == 0, done.stdout


def test_no_rerun_answers_what_is_wrong_with_the_run_itself(tmp_path: Path, server: Misbehaving) -> None:
    no = refused(failing("test_flaky", reruns=3), code="cut_short")
    assert rerun(tmp_path, server, 1, "--retries", "auto", answers=[(200, no)]).returncode == 1
    assert (tmp_path / "runs").read_text() == "1"


def test_a_failing_test_that_the_report_does_not_show_cannot_be_cleared(tmp_path: Path, server: Misbehaving) -> None:
    no = refused(failing("test_flaky", reruns=1), failing("test_other", reruns=1))
    done = rerun(tmp_path, server, 1, "--retries", "auto", answers=[(200, no), (200, PASSED)])
    assert done.returncode == 1
    assert "it is not in the report" in done.stdout


def test_reruns_do_not_count_if_the_gate_does_not_agree(tmp_path: Path, server: Misbehaving) -> None:
    no = refused(failing("test_flaky", reruns=2))
    for second in ((200, refused(failing("test_flaky"))), error(422)):
        (tmp_path / "runs").exists() and (tmp_path / "runs").unlink()
        done = rerun(tmp_path, server, 1, "--retries", "auto", answers=[(200, no), second])
        assert done.returncode == 1, done.stdout


def test_the_budget_ends_reruns(tmp_path: Path, server: Misbehaving) -> None:
    no = refused(failing("test_flaky", reruns=2))
    done = rerun(tmp_path, server, 1, "--retries", "auto", "--budget", "0", answers=[(200, no)])
    assert done.returncode == 1
    assert "time for reruns" in done.stdout
    assert (tmp_path / "runs").read_text() == "1"


@pytest.mark.parametrize(
    ("again", "code"),
    [
        (GREEN.replace("test_good", "test_neighbour").replace('0.1"/>', '0.1"><failure/></testcase>'), 1),
        (GREEN, 1),
        (GREEN.replace(' name="test_bad" time="0.1">', ' name="test_bad" time="0.1"><skipped/>'), 0),
        (GREEN[: len(GREEN) // 2], 0),
        ("", 0),
    ],
    ids=["another test fails", "no test says why it failed", "it is skipped", "the report is cut", "there is none"],
)
def test_a_rerun_that_is_in_doubt_clears_nothing(tmp_path: Path, server: Misbehaving, again: str, code: int) -> None:
    server.answers = [(200, refused(failing("test_bad", reruns=1))), (200, PASSED)]
    (tmp_path / "test_sample.py").write_text("")
    script = tmp_path / "pytest"
    script.write_text(
        f"#!{sys.executable}\nimport os, sys\nfirst = not os.path.exists('once')\nopen('once', 'w').close()\n"
        f"told = {FAILED!r} if first else {again!r}\nif told:\n    open('report.xml', 'w').write(told)\n"
        f"sys.exit(1 if first else {code})\n"
    )
    os.chmod(str(script), 0o755)
    done = run(tmp_path, server, "./pytest", options=("--report", "report.xml", "--retries", "auto"))
    assert done.returncode == 1, done.stdout
