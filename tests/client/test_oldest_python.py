"""The client's own tests on the oldest Python that it supports, where that is to be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.conftest import ROOT

OLDEST = (3, 8)


def oldest_python() -> str:
    """The interpreter, from PATH or from pyenv, that runs (pyenv's shims may have none behind them); or nothing."""
    kept = sorted(Path.home().glob(".pyenv/versions/{}.{}*/bin/python".format(*OLDEST)))
    named = shutil.which("python{}.{}".format(*OLDEST))
    return next((one for one in (named, *map(str, kept)) if one and quietly(one, "-c", "").returncode == 0), "")


def quietly(*command: str, **how: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", **how}
    return subprocess.run(command, cwd=str(ROOT), env=environ, capture_output=True, text=True, check=False)


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter with pytest and nothing else."""
    if sys.version_info[:2] == OLDEST:
        pytest.skip("this is the oldest Python")
    found = oldest_python()
    if not found:
        pytest.skip("no Python {}.{} is here".format(*OLDEST))
    if quietly(found, "-c", "import pytest").returncode == 0:
        return found
    made = str(tmp_path / "oldest" / "bin" / "python")
    quietly(found, "-m", "venv", str(tmp_path / "oldest"))
    if not Path(made).exists():
        pytest.skip("it can make no environment")
    if quietly(made, "-m", "pip", "install", "-q", "pytest", "pytest-xdist").returncode:
        pytest.skip("pytest cannot be installed for it")
    return made


def test_the_clients_tests_pass_on_the_oldest_python(python: str) -> None:
    """All but the one that is about size: it says nothing of the language."""
    own = ("-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".", "--confcutdir", "tests/client")
    chosen = ("tests/client", "--ignore", "tests/client/test_oldest_python.py", "-k", "not thousand_files")
    done = quietly(python, "-m", "pytest", "-q", *own, *chosen)
    assert done.returncode == 0, done.stdout[-3_000:]
    assert " passed" in done.stdout
