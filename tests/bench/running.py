"""A benchmark in a process of its own, as `make` starts it."""

import subprocess
import sys

from tests.conftest import ROOT


def small_bench(*words: str) -> list[str]:
    """The lines that it said. It must come to its end; bars of speed may be missed."""
    command = [sys.executable, "-m", "bench", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1_800)
    assert "bars missed" in done.stdout, done.stdout + done.stderr
    return [line.strip() for line in done.stdout.splitlines()]


def assert_said(said: list[str], *lines: str) -> None:
    """Each of these lines was said; if not, the failure shows which and all that was."""
    assert not [line for line in lines if line not in said], said
