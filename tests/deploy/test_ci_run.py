"""`.ci/run` sends its own results to a Flakeboard where one is named, and its exit code is that of lint and tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.misbehaving import Misbehaving
from tests.conftest import ROOT

REPORT = '<testsuites><testsuite name="pytest"><testcase classname="c" name="t"/></testsuite></testsuites>'
MAKE = f"""#!/bin/sh
[ "$2" = lint ] && {{ echo "$LINT_SAYS"; exit "${{LINT_EXITS:-0}}"; }}
[ "$2" = test ] || exit 0
[ -z "$FLAKEBOARD_URL$FLAKEBOARD_TOKEN" ] || exit 9
for word; do case "$word" in ARGS=*) file=${{word#*--junitxml=}}; echo '{REPORT}' > "${{file%% *}}";; esac; done
echo "1 passed in 0.01s"
exit "$SUITE_EXITS"
"""
"""In place of the suite: writes its report where it is told to, and must not see the address of the Flakeboard."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    (tmp_path / "client").symlink_to(ROOT / "client")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "make").write_text(MAKE)
    (tmp_path / "bin" / "make").chmod(0o755)
    return tmp_path


def run(checkout: Path, exits: int = 0, **environ: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FLAKEBOARD_")}
    told = {**inherited, "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "SUITE_EXITS": str(exits), **environ}
    return subprocess.run([checkout / ".ci" / "run"], env=told, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("exits", [0, 1])
def test_results_are_sent_and_the_exit_code_is_that_of_the_tests(checkout: Path, exits: int) -> None:
    with Misbehaving() as board:
        done = run(checkout, exits, **board.environ())
    assert done.returncode == exits, done.stderr
    (sent,) = board.requests
    assert [content.decode().strip() for content in sent.files().values()] == [REPORT]
    assert sent.metadata()["job"] == "suite"
    assert done.stdout.splitlines()[-1] == "1 passed in 0.01s"


def test_a_flakeboard_that_refuses_changes_nothing(checkout: Path) -> None:
    with Misbehaving() as board:
        board.answers = [(403, {"error": {"code": "forbidden", "sentence": "No."}})]
        done = run(checkout, **board.environ())
    assert board.requests
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1 passed in 0.01s", "")


def test_nothing_is_sent_where_none_is_named(checkout: Path) -> None:
    with Misbehaving() as board:
        done = run(checkout)
    assert (done.returncode, board.requests) == (0, [])


def test_a_failed_check_is_shown_and_ends_it_before_the_tests(checkout: Path) -> None:
    done = run(checkout, LINT_EXITS="1", LINT_SAYS="E501 too long")
    assert (done.returncode, done.stdout) == (1, "E501 too long\n")
