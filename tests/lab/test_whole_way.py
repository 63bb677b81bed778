"""The whole way: `flakeboard detect` on a planted project, its uploads processed, and what API and pages then say."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from celery.app.task import Task
from django.test import Client

from analytics.lab.models import ExperimentFinding
from analytics.services import analysis_refresh
from ingest.models import Experiment, ExperimentOrder, Project, Run, Upload
from tests.api_client import Program
from tests.lab.detect.commands import Command
from tests.lab.detect.conftest import _no_ci, detect
from tests.lab.detect.worlds import World, suite, write_project

from flakeboard.server import api, transport  # isort: skip

__all__ = ["_no_ci", "detect"]

TESTS = suite(3, 3)
VICTIM, BRITTLE = TESTS[1], TESTS[4]
POLLUTER, CLEANER, SETTER = TESTS[8], TESTS[6], TESTS[2]


@pytest.fixture
def board(project: Project, upload_token: str, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The server in this process: what the client sends reaches it, and what it wakes a worker for is done at once."""
    client = Client()

    def send(settings: Any, method: str, url: str, seconds: float, body: Any = None, headers: Any = None) -> Any:
        parts = urlsplit(url)
        address = f"{parts.path}?{parts.query}" if parts.query else parts.path
        content = body.read() if hasattr(body, "read") else body or b""
        sent = {**(headers or {}), "Authorization": f"Bearer {upload_token}"}
        kind = sent.pop("Content-Type", "application/json")
        sent.pop("Content-Length", None)
        response = client.generic(method, address, content, content_type=kind, headers=sent)
        return transport.Answer(response.status_code, dict(response.headers), response.content)

    monkeypatch.setattr(api, "send", send)
    monkeypatch.setattr(Task, "delay", lambda task, *arguments: task.run(*arguments) if "upload" in task.name else None)
    for name, value in {"URL": "http://127.0.0.1:8000", "PROJECT": project.slug, "TOKEN": upload_token}.items():
        monkeypatch.setenv(f"FLAKEBOARD_{name}", value)
    return Program(upload_token)


def test_what_detect_finds_is_what_the_server_shows(board: Program, project: Project, detect: Command) -> None:
    world = World(TESTS).victim(VICTIM, POLLUTER, cleaners=[CLEANER])
    world.brittles[BRITTLE] = [SETTER]
    write_project(world, detect.folder)
    few = ("--orders", "6", "--isolate", "2", "--fail-on", "new")
    call = detect(*few, "--minimize", "all", "--cleaners", "all")
    assert call.code == 3, call.printed
    assert call.found() == {VICTIM: ("OD", "victim"), BRITTLE: ("OD", "brittle")}
    experiment = Experiment.objects.get()
    assert set(Upload.objects.values_list("state", flat=True)) == {Upload.State.PROCESSED}, "nothing was refused"
    files = [file for upload in Upload.objects.all() for file in upload.files]
    assert [file["path"] for file in files if "error" in file or "not_understood" in file] == []
    orders = ExperimentOrder.objects.filter(experiment=experiment).order_by("round")
    assert [order.round for order in orders if order.round > 0] == list(range(1, 7))
    assert {order.how for order in orders if order.round <= 0} == {"original-order"}
    assert experiment.is_finished and experiment.concluded and experiment.probes > 0
    shown = board.read("dependencies?ground=shown")["results"]
    assert {(one["role"], one["test"]["node_id"], *(test["node_id"] for test in one["before"])) for one in shown} == {
        ("polluter", VICTIM, POLLUTER),
        ("state-setter", BRITTLE, SETTER),
    }
    polluted = next(one for one in shown if one["role"] == "polluter")
    assert [test["node_id"] for test in polluted["cleaners"]] == [CLEANER]
    assert not Run.objects.exists()
    analysis_refresh(project=project)
    assert {one["test"]["node_id"] for one in shown} == {VICTIM, BRITTLE}
    depending = board.read("orders?kind=OD")["results"]
    assert {one["test"]["number"] for one in depending} == {one["test"]["number"] for one in shown}
    assert ExperimentFinding.objects.count() == 2
    again = detect(*few, "--minimize", "no")
    assert again.found().keys() == {VICTIM, BRITTLE}
    assert again.code == 0, "the server knows them now"
    detail = board.read(f"experiments/{experiment.key}")
    assert detail["sentence"].endswith("whole orders showed 2 order-dependent tests.")
