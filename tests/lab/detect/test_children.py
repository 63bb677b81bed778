"""Children of detect: ended with everything that they started, and their last words kept."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import pytest
from flakeboard.detection.execution import children
from flakeboard.detection.execution.children import Child
from flakeboard.problems import Problem

from tests.paths import ROOT

PATIENCE = 120.0
"""Seconds, on a machine that does much else."""
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = os.open(sys.argv[1], os.O_WRONLY)
os.fork()
os.write(held, b".")
time.sleep(3600)
"""


def test_past_its_time_the_whole_group_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what ignores the polite signal. Both hold a pipe, which ends when the last of them has."""
    monkeypatch.setattr(children, "GRACE", 0.1)
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    child = Child([sys.executable, "-c", STUBBORN, str(tmp_path / "pipe")], os.environ, str(tmp_path / "log"))
    said = b""
    while said != b"..":
        said += read_from(pipe, child)
    assert not child.wait(0.05)
    assert read_from(pipe, child) == b""
    os.close(pipe)


def read_from(pipe: int, child: Child) -> bytes:
    """What comes next, or nothing at the end."""
    assert select.select([pipe], [], [], PATIENCE)[0], child.last_words()
    return os.read(pipe, 10)


@pytest.mark.parametrize("opened", [(), ("replies",)])
def test_nobody_serves_orders_to_one_who_has_gone(tmp_path: Path, opened: tuple[str, ...]) -> None:
    """`detect` was killed while the tests were collected: the interpreter that has collected them ends, too."""
    paths = [str(tmp_path / name) for name in ("requests", "replies")]
    for path in paths:
        os.mkfifo(path)
    ends = [os.open(tmp_path / name, os.O_RDONLY | os.O_NONBLOCK) for name in opened]
    code = "import sys; from flakeboard.plugin import lab_server; lab_server.serve(None, *sys.argv[1:])"
    child = Child(
        [sys.executable, "-c", code, *paths], {**os.environ, "PYTHONPATH": str(ROOT / "client")}, str(tmp_path / "log")
    )
    assert child.wait(PATIENCE), "it waits for somebody who asks"
    assert (child.code, child.last_words()) == (0, "")
    for end in ends:
        os.close(end)


def test_its_last_words_are_kept(tmp_path: Path) -> None:
    code = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(4)"
    child = Child([sys.executable, "-c", code], os.environ, str(tmp_path / "log"))
    assert child.wait(60)
    assert child.code == 4
    assert {"one", "two"} <= set(child.last_words().split(" / "))


def test_a_command_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no-such-program could not be started"):
        Child(["no-such-program"], os.environ, str(tmp_path / "log"))
