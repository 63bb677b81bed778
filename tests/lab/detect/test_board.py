"""The whole way: the command runs orders, the server stores the experiment, and dependencies stand for all to read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.lab.detect.worlds import World, write_project

TESTS = [f"test_{file}.py::test_{name}" for file in ("one", "two") for name in ("first", "second", "third")]
COMMAND = ("--", sys.executable, "-m", "pytest")


@pytest.fixture
def board(db: None, monkeypatch: pytest.MonkeyPatch):
    from ingest.models import Token
    from ingest.processing import upload_process
    from ingest.services import project_create, token_create
    from tests.runners.board import Board

    monkeypatch.setattr(
        "dashboard.api.upload.uploads.wake_worker", lambda upload_id: upload_process(upload_id=upload_id)
    )
    project = project_create(slug="lab", name="Laboratory")
    return Board(project, token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1])


def test_what_is_detected_is_stored_as_shown_dependencies(board, tmp_path: Path) -> None:
    from analytics.lab.models import Dependency
    from ingest.models import Experiment, ExperimentOrder, Test

    world = World(TESTS).victim(TESTS[0], TESTS[5], cleaners=[TESTS[3]])
    folder = write_project(world, tmp_path / "project")
    words = ["detect", "--orders", "3", "--isolate", "3", "--seed", "s"]
    ran = board.start([*words, *COMMAND], folder, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    assert ran.exit_code == 0, ran.output
    experiment = Experiment.objects.get(project=board.project)
    assert experiment.is_finished and experiment.how == "orders", ran.output
    assert experiment.probes > 10
    rounds = ExperimentOrder.objects.filter(experiment=experiment).values_list("round", flat=True)
    assert sorted(rounds) == [-1, 0, 1, 2, 3]
    number = {f"{test.file}::{test.name}": test.number for test in Test.objects.filter(project=board.project)}
    rows = Dependency.objects.filter(project=board.project)
    stored = {(row.number, tuple(row.before), tuple(row.cleaners), row.role, row.ground) for row in rows}
    victim, polluter, cleaner = (number[TESTS[at]] for at in (0, 5, 3))
    assert stored == {(victim, (polluter,), (cleaner,), "polluter", "shown")}
    assert f"/projects/lab/experiments/{experiment.key}" in ran.output
