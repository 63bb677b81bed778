"""The whole way of a trace: pytest under `flakeboard run`, its archive, the server; and no secret on it."""

from __future__ import annotations

import logging
import sys
import zlib
from pathlib import Path

import pytest

from analytics.why.services import differences_refresh
from dashboard.ops.logs import JsonFormatter, LineFormatter
from ingest.models import Project, Trace, Upload
from tests.api_client import Program
from tests.client.commands import flakeboard
from tests.client.misbehaving import PASSED, Misbehaving
from tests.database_text import whole_database
from tests.lab.why.uploads import send

CANARY = "canary81f0c2"
SUITE = """
import os, queue, random, socket, urllib.request

def give(word, *, secret=None):
    return [word, secret]

def refuse(word):
    raise RuntimeError(word)

def test_it(tmp_path):
    word = os.environ["SHOP_TOKEN"]
    give(word, secret={"k": os.getenv("SHOP_TOKEN")})
    random.choice([word])
    shelf = queue.Queue(); shelf.put(word); shelf.get()
    (tmp_path / word).write_text(word); (tmp_path / word).read_text()
    os.listdir(tmp_path)
    for call in (
        lambda: socket.create_connection(("u:" + word + "@127.0.0.1", 1), timeout=1),
        lambda: urllib.request.urlopen("http://127.0.0.1:1/" + word + "?key=" + word, timeout=1),
        lambda: refuse(word),
    ):
        try:
            call()
        except Exception:
            pass
    assert random.random() > 2
"""


@pytest.mark.parametrize("level", ["sources", "calls"])
def test_a_secret_is_in_no_upload_database_log_or_answer(
    project: Project,
    upload_token: str,
    server: Misbehaving,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    level: str,
) -> None:
    (tmp_path / "test_it.py").write_text(SUITE)
    server.answers = [
        (200, {"tests": [{"classname": "test_it", "name": "test_it"}], "level": level, "key": "ab" * 32}),
        (200, {**PASSED, "passed": False}),
    ]
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "flakeboard.pytest_plugin", "-p", "no:cacheprovider"]
    done = flakeboard(
        *("run", "--", *tests, "--flakeboard-trace=flaky"), cwd=tmp_path, environ={**server.environ(), "SHOP_TOKEN": CANARY}
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    files = next(request for request in server.requests if request.path.endswith("/gate")).files()
    (name,) = [name for name in files if name.endswith(".jsonl")]
    assert name.rpartition("/")[2] == "flakeboard-trace.jsonl" and b"random.choice" in files[name]
    assert not any(CANARY.encode() in content for content in files.values())
    caplog.set_level(logging.DEBUG)
    upload = send(project, *files.items())
    assert upload.state == Upload.State.PROCESSED and Trace.objects.get().outcome == "failed"
    differences_refresh(project_id=project.pk)
    program = Program(upload_token)
    answers = [program.get(f"tests/0/{what}") for what in ("why", "traces")]
    answers.append(program.get(f"traces/{Trace.objects.get().pk}"))
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    stored = zlib.decompress(bytes(Trace.objects.get().content)).decode()
    shown = stored + whole_database() + "".join(answer.content.decode() for answer in answers)
    logged = "\n".join(form.format(record) for form in (LineFormatter(), JsonFormatter()) for record in caplog.records)
    for place, text in {"database and answers": shown, "logs": logged, "terminal": done.stdout}.items():
        assert CANARY not in text and CANARY.encode().hex() not in text, place


def test_without_an_answer_a_run_sends_its_report_alone(server: Misbehaving, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    server.answers = [(404, {"error": {"code": "not_found", "sentence": "There is no such thing."}}), (200, PASSED)]
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "flakeboard.pytest_plugin", "--flakeboard-trace=flaky"]
    done = flakeboard("run", "--", *tests, cwd=tmp_path, environ=server.environ())
    assert done.returncode == 0 and "so nothing is traced" in done.stdout
    gate = next(request for request in server.requests if request.path.endswith("/gate"))
    assert [name.rpartition(".")[2] for name in gate.files()] == ["xml"]
