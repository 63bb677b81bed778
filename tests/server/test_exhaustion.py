"""What others use up: connections of the database, locks, connections of the web server. It is told, and it passes."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import psycopg2
import pytest

from tests.faults.server import BUSY, assert_each_counted_once, send_all, sending, stretched, suite, until
from tests.server.installation import Installation

pytestmark = pytest.mark.processes
UPLOAD = "/api/v1/projects/my-project/uploads?build_id=1"
GATE = "/api/v1/projects/my-project/gate?build_id={}&exit_code=1&wait=5"


def asked(installation: Installation, path: str, build: int = 1) -> tuple[int, str | None, dict[str, Any]]:
    """Status, Retry-After and body of a request with a report."""
    headers = {"Authorization": f"Bearer {installation.token}", "Content-Type": "application/xml"}
    with closing(http.client.HTTPConnection("127.0.0.1", installation.port, timeout=60 * BUSY)) as connection:
        connection.request("POST", path, suite(build), headers)
        response = connection.getresponse()
        return response.status, response.headers["Retry-After"], json.loads(response.read())


def assert_told_to_come_back(installation: Installation) -> None:
    for path in (UPLOAD, GATE.format(1)):
        status, again, body = asked(installation, path)
        assert (status, bool(again)) == (503, True)
        assert "passed" not in body, "no error is ever a pass"


def assert_held(installation: Installation, build: int) -> None:
    """The gate is back, and what it is sent is judged, held and counted as any upload."""

    def decided() -> dict[str, Any] | None:
        body = asked(installation, GATE.format(build), build)[2]
        return body if body.get("decided") else None

    body = until(decided, 30, "the gate has decided")
    assert body["passed"] is False
    installation.accepted[build] = body["upload"]


@contextmanager
def all_connections_taken(installation: Installation) -> Iterator[None]:
    """Somebody else has every connection that the database gives; those of web are ended."""
    taken = [installation.connection()]
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL(%s)"
    )
    try:
        for _ in range(3):  # others come back in between: again until nothing is left for them
            with suppress(psycopg2.OperationalError):
                while True:
                    taken.append(installation.connection())
            with taken[0].cursor() as cursor:
                cursor.execute(ended, [[one.info.backend_pid for one in taken]])
            taken[0].commit()
        with suppress(psycopg2.OperationalError):
            while True:
                taken.append(installation.connection())
        yield
    finally:
        for one in taken:
            one.close()


def test_without_a_free_connection_one_is_told_to_come_back(installation: Installation) -> None:
    with all_connections_taken(installation):
        assert_told_to_come_back(installation)
    send_all(installation, range(92, 94))
    assert_held(installation, 96)
    assert_each_counted_once(installation, installation.accepted)


def test_behind_a_lock_of_a_minute_one_is_told_to_come_back(installation: Installation) -> None:
    """All the while clients try again, and pages that have no need of the table are served."""
    with closing(installation.connection()) as holder:
        with holder.cursor() as cursor:
            cursor.execute("LOCK TABLE ingest_upload IN ACCESS EXCLUSIVE MODE")
        ends = time.monotonic() + 60
        sender = sending(installation, range(94, 96))
        while time.monotonic() < ends:
            assert_told_to_come_back(installation)
            assert installation.answers()
            assert installation.request("GET", "/health/live")[0] == 200
        assert sender.is_alive(), "an upload was taken where none can be written down"
    sender.join(stretched(15))
    assert not sender.is_alive(), "it has not recovered within 15 seconds"
    assert_held(installation, 97)
    assert_each_counted_once(installation, installation.accepted)


@pytest.mark.parametrize("said", [b"", b"GET /sign-in HTTP/1.1\r\nHost: a"], ids=["nothing", "half of the headers"])
def test_connections_that_stop_speaking_keep_nobody_out(installation: Installation, said: bytes) -> None:
    until(installation.answers, 30, "web is back")
    idle = [socket.create_connection(("127.0.0.1", installation.port)) for _ in range(200)]
    try:
        for one in idle:
            one.sendall(said)
        first = 100 if said else 98
        send_all(installation, range(first, first + 2))
    finally:
        for one in idle:
            one.close()
    assert_each_counted_once(installation, installation.accepted)
