"""The client's own tests on the oldest Python that it supports, where that is to be had."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.client.conftest import ROOT
from tests.client.provision import OLDEST, oldest_python_with_pytest


def quietly(*command: str, **how: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", **how}
    return subprocess.run(command, cwd=str(ROOT), env=environ, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter with pytest and nothing else. The client is compiled for it once: its tests start it often."""
    if sys.version_info[:2] == OLDEST:
        pytest.skip("this is the oldest Python")
    found = oldest_python_with_pytest()
    if not found:
        pytest.skip("no Python {}.{} with pytest is here; `make test` makes one where it may".format(*OLDEST))
    compile_client(found)
    return found


def compile_client(python: str) -> subprocess.CompletedProcess[str]:
    return quietly(python, "-m", "compileall", "-q", "client/flakeboard")


def test_every_module_of_the_client_is_written_in_the_oldest_python(python: str) -> None:
    """What did not compile is tried again, and named; what did is not."""
    done = compile_client(python)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_clients_tests_pass_on_the_oldest_python(python: str) -> None:
    """Some of each file: `make lint` checks the language of every line, and this that it runs. Size is no matter here, and
    workers are tried with the oldest pytest on this Python."""
    own = ("-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", "--confcutdir", "tests/client")
    others = "not thousand_files and not several_of_one_run and not workers_record_too and not reads_every_module"
    chosen = ("tests/client", "--ignore", "tests/client/test_oldest_python.py", "-k", others)
    done = quietly(python, "-m", "pytest", "-q", *own, *chosen, FIRST_CASES="3")
    assert done.returncode == 0, done.stdout[-3_000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) > 60, done.stdout[-3_000:]
