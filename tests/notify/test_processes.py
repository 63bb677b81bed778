"""A real worker, beat and broker: what happens in the browser or by API arrives, and a killed worker loses nothing."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.faults.server import ONE_OF_EACH, Server, running, until
from tests.notify.receiver import Received, Receiver, Says
from tests.quarantine.conftest import report

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver().running() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home: Path = tmp_path_factory.mktemp("home")
    with running(home, OUTGOING_ALLOW="127.0.0.0/8", **ONE_OF_EACH) as started:
        started.send_until_accepted(report(4), "build_id=1")
        until(lambda: started.states() == {"processed": 1}, 30, "the upload is processed")
        started.token = quarantine_token(home)
        yield started


def quarantine_token(home: Path) -> str:
    asked = [sys.executable, "manage.py", "token", "my-project", "--scope", "quarantine"]
    environment = os.environ | {"FLAKEBOARD_HOME": str(home), "DATABASE_URL": "", "BROKER_URL": ""}
    return subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def post(server: Server, path: str, body: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    status, answer = server.request("POST", f"/api/v1/projects/my-project/{path}", json.dumps(body).encode(), **headers)
    assert status == 201, answer
    return dict(json.loads(answer))


@contextmanager
def channel(server: Server, receiver: Receiver, **terms: Any) -> Iterator[None]:
    """A channel that is there for one test, deliveries and all: no other finds it or what it was sent."""
    receiver.received.clear()
    receiver.answers = [Says()]
    made = post(server, "channels", {"name": "hook", "kind": "webhook", "address": receiver.url, **terms})
    try:
        yield
    finally:
        path = f"/api/v1/projects/my-project/channels/{made['id']}"
        status, answer = server.request("DELETE", path, Authorization=f"Bearer {server.token}")
        assert status == 204, answer


def deliveries(server: Server) -> list[tuple[Any, ...]]:
    return server.query("SELECT state, tries FROM notify_delivery ORDER BY id")


def test_what_is_done_by_api_arrives_once(server: Server, receiver: Receiver) -> None:
    with channel(server, receiver):
        post(server, "quarantines", {"test": 0, "state": "active", "reason": "It flakes."})
        until(lambda: deliveries(server) == [("sent", 1)], 30, "it is sent")
        assert [got.json()["kind"] for got in receiver.received] == ["quarantined"]


def test_what_a_killed_worker_held_is_taken_over(server: Server, receiver: Receiver) -> None:
    """Killed while it waits for an answer; its lease is made to run out instead of waited for."""
    asked, killed = threading.Event(), threading.Event()

    def held(got: Received) -> Says:
        asked.set()
        killed.wait(300)
        return Says(200)

    with channel(server, receiver), closing(server.connection()) as connection:
        receiver.answers = held
        post(server, "quarantines", {"test": 1, "state": "active", "reason": "It flakes."})
        assert asked.wait(150)
        until(lambda: server.kill("celery", "worker"), 20, "the worker is killed")
        killed.set()
        assert deliveries(server) == [("sending", 1)]
        with connection, connection.cursor() as cursor:
            cursor.execute("UPDATE notify_delivery SET lease_until = now() WHERE state = 'sending'")
        until(lambda: deliveries(server) == [("sent", 2)], 60, "another worker sends it")
        assert len(receiver.received) == 2
        same = {got.headers["x-flakeboard-delivery"] for got in receiver.received}
        assert len(same) == 1, "the receiver can tell that it is the same"


def test_an_alert_that_was_decided_when_the_worker_was_killed_arrives_once(server: Server, receiver: Receiver) -> None:
    """Killed between deciding and sending: while it waits to store the delivery."""
    with closing(server.connection()) as connection, ExitStack() as until_it_arrived:
        with connection, connection.cursor() as cursor:
            cursor.execute("UPDATE ingest_upload SET received_at = now() - interval '2 hours'")
        with connection, connection.cursor() as cursor:
            cursor.execute("LOCK TABLE notify_delivery IN SHARE MODE")
            until_it_arrived.enter_context(channel(server, receiver, silence_hours=1))
            until(lambda: alerts(server) == [(False,)], 60, "it is decided")
            until(lambda: server.query(_WAITS) == [(True,)], 60, "a worker waits to store the delivery")
            until(lambda: server.kill("celery", "worker"), 20, "the worker is killed")
        until(
            lambda: [got.json()["kind"] for got in receiver.received] == ["no_uploads"], 90, "another worker sends it"
        )
        until(lambda: alerts(server) == [(True,)], 30, "it is noted as done")
        until(lambda: deliveries(server) == [("sent", 1)], 30, "the delivery is noted as sent")
        assert len(receiver.received) == 1


_WAITS = "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'notify_delivery'::regclass AND NOT granted"


def alerts(server: Server) -> list[tuple[Any, ...]]:
    return server.query("SELECT sent_at IS NOT NULL FROM quarantine_notification WHERE kind = 'no_uploads'")
