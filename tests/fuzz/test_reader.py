"""A short run of the reader under atheris; `make fuzz` is the long one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("atheris", reason="there is no atheris for this Python or system")
SECONDS = 10


def fuzz(folder: Path) -> "subprocess.CompletedProcess[str]":
    """By way of a shell: what a process starts is counted as large as it was itself, and this one may be."""
    fuzzer = [sys.executable, "-m", "tests.fuzz.reader", str(SECONDS), "--seed", "1", "--folder", str(folder)]
    command = ["sh", "-c", '"$@"; exit $?', "sh", *fuzzer]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS + 120, check=False)


def test_no_bytes_that_atheris_finds_break_the_reader(tmp_path: Path) -> None:
    done = fuzz(tmp_path)
    finds = [path.name for path in tmp_path.iterdir() if path.is_file()]
    assert (done.returncode, finds) == (0, []), done.stderr[-3_000:]
    runs = re.search(r"stat::number_of_executed_units:\s+(\d+)", done.stderr)
    assert runs and int(runs[1]) > 100, done.stderr[-2_000:]
