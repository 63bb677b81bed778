"""Children of detect: ended with everything that they started, and their last words kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from flakeboard.detection.execution import children
from flakeboard.detection.execution.children import Child
from flakeboard.problems import Problem

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
inner = os.fork()
if inner:
    open(sys.argv[1] + ".part", "w").write(f"{os.getpid()} {inner}")
    os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(3600)
"""


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_past_its_time_the_whole_group_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what ignores the polite signal."""
    monkeypatch.setattr(children, "GRACE", 0.1)
    told = tmp_path / "pids"
    child = Child([sys.executable, "-c", STUBBORN, str(told)], os.environ, str(tmp_path / "log"))
    while not told.exists():
        assert child.code is None
    assert not child.wait(0.05)
    assert [is_alive(int(process)) for process in told.read_text().split()] == [False, False]


def test_its_last_words_are_kept(tmp_path: Path) -> None:
    code = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(4)"
    child = Child([sys.executable, "-c", code], os.environ, str(tmp_path / "log"))
    assert child.wait(60)
    assert child.code == 4
    assert {"one", "two"} <= set(child.last_words().split(" / "))


def test_a_command_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no-such-program could not be started"):
        Child(["no-such-program"], os.environ, str(tmp_path / "log"))
