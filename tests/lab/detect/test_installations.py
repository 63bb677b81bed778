"""Detect as people have it: from the single file, on an old Python, without git, and beside plugins that reorder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.commands import environ_with
from tests.client.provision import oldest_python_with_pytest, python_with_plugins
from tests.client.test_single_file import zipped
from tests.extent import WHOLE
from tests.lab.detect.commands import Command
from tests.lab.detect.worlds import World, suite, write_project

TESTS = suite(2, 1)
"""A victim and what pollutes it: the fewest runs that find something."""
FEW = ("--no-upload", "--orders", "1", "--confirm", "1", "--cleaners", "no", "--isolate", "1")


def found_by(client: list[str], folder: Path, python: str, **environ: str) -> dict[str, list[str]]:
    """What the client finds with this interpreter's pytest: the tests, each with its first partner."""
    command = [*client, "detect", *FEW, "--out", "out.json", "--", python, "-m", "pytest"]
    done = subprocess.run(command, cwd=folder, env=environ_with(**environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((folder / "out.json").read_text())
    return {each["test"]: each["groups"][0]["tests"] for each in told["found"]}


def interpreters() -> dict[str, str]:
    """The oldest, which lacks most; this one where that is not here, and in `make whole`."""
    oldest = oldest_python_with_pytest()
    return {**({"oldest": oldest} if oldest else {}), **({"this": sys.executable} if WHOLE or not oldest else {})}


@pytest.mark.parametrize("python", interpreters().values(), ids=interpreters())
def test_the_single_file_works_without_git_and_on_the_oldest_python(tmp_path: Path, python: str) -> None:
    """The plugin is imported out of the zip, and PYTHONPATH of the user stays as it was."""
    folder = write_project(World(TESTS).victim(TESTS[0], TESTS[1]), tmp_path / "project")
    (folder / "test_environment.py").write_text(
        "import os, sys\n"
        "def test_environment():\n"
        "    assert os.environ['PYTHONPATH'] == 'elsewhere' and 'FLAKEBOARD_LAB' not in os.environ\n"
        "    assert not [entry for entry in sys.path if entry.endswith('.pyz')]\n"
    )
    (tmp_path / "bin").mkdir()
    environ = {"PYTHONPATH": "elsewhere", "PATH": str(tmp_path / "bin"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    found = found_by([python, str(zipped(tmp_path))], folder, python, **environ)
    assert found == {TESTS[0]: [TESTS[1]]}


MARKED = """
import pytest
import shared

@pytest.mark.order(1)
def test_first():
    pass

@pytest.mark.flaky(reruns=5)
def test_00():
    shared.check("test_00.py::test_00")
"""
SETTINGS = (
    "[pytest]\naddopts = -n 2 --dist loadfile --reruns 2 --random-order -x --ff --strict-markers --junitxml=r.xml\n"
)


@pytest.mark.usefixtures("shown_once")
def test_plugins_that_reorder_repeat_or_spread_tests_do_none_of_it(
    detect: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = python_with_plugins()
    if not python:
        pytest.skip("no environment with pytest's plugins is here; `make test` makes one where it may")
    folder = write_project(World(TESTS).victim(TESTS[0], TESTS[1]), detect.folder)
    (folder / "test_00.py").write_text(MARKED)
    (folder / "pytest.ini").write_text(SETTINGS)
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    call = detect(*FEW, command=(python, "-m", "pytest"))
    assert (call.code, call.groups(TESTS[0])) == (0, [([TESTS[1]], [])]) and len(call.told["found"]) == 1
    assert not (folder / "r.xml").exists() and not (folder / ".pytest_cache").exists()
