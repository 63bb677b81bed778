"""A laboratory without processes, and the command as CI starts it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client.conftest import CI_VARIABLES as CI_VARIABLES
from tests.client.conftest import _no_ci as _no_ci
from tests.client.conftest import server as server  # noqa: F401 - fixtures for these tests, too
from tests.client.starter import KNOWN, forked_pytest

from flakeboard.detection.journal import Journal  # isort: skip
from flakeboard.detection.laboratory import Laboratory  # isort: skip
from flakeboard.detection.search import verification  # isort: skip
from tests.lab.detect.commands import Command  # isort: skip
from tests.lab.detect.worlds import Simulated, World  # isort: skip


@pytest.fixture
def laboratory(tmp_path: Path) -> Callable[[World], Laboratory]:
    """Builds one for a planted suite; the clock is the executor's."""

    def build(world: World, seed: int = 0) -> Laboratory:
        executor = Simulated(world, seed)
        path = str(tmp_path / f"journal-{len(list(tmp_path.iterdir()))}.jsonl")
        journal = Journal.create(path, {"key": "k"}, executor.clock)
        return Laboratory(world.tests, journal, executor)

    return build


@pytest.fixture
def shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is verified by one run each way: every further one costs a process and shows nothing new here."""
    monkeypatch.setattr(verification, "TIMES", 1)


@pytest.fixture
def detect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in an empty folder that is no checkout; nothing of this session reaches pytest below it.

    Each order that it runs in a process has one of its own, forked from one that has loaded pytest already."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in [name for name in os.environ if name.startswith("PYTHON") and name not in KNOWN]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(subprocess, "Popen", forked_pytest())
    return Command(folder, capsys)
