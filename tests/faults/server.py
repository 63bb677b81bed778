"""A whole Flakeboard of its own: real processes that a test may kill."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg2

from dashboard.ops.paths import socket_directory
from tests.conftest import ROOT
from tests.homes import furnish_where_shared


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


BUSY = 5
"""A machine that others keep busy takes so much longer at most. Whoever waits for a condition loses nothing by it."""


def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait until the condition holds, and give its value; `seconds` is plenty on a machine that does nothing else."""
    deadline = time.monotonic() + BUSY * seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {BUSY} times {seconds} s: {what}")
        time.sleep(0.05)


def stretched(seconds: float) -> float:
    """How long these seconds of a quiet machine are on this one, by how much of a core it gives us now."""
    began, used = time.monotonic(), time.process_time()
    while time.process_time() - used < 0.5:
        pass
    return seconds * max(1.0, 2 * (time.monotonic() - began))


class Server:
    """`manage.py serve` in a home of its own."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        self.port = free_port()
        self.output = home / "output.log"
        inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}
        self._environment = inherited | {
            "FLAKEBOARD_HOME": str(home),
            "PORT": str(self.port),
            "UPLOAD_LEASE_SECONDS": "3",
            "SWEEP_SECONDS": "1",
            "UPLOAD_TRIES": "50",
            "UPLOADS_PER_MINUTE": "100000",
            "LOG_LEVEL": "WARNING",
            "WORKER_NICE": "0",  # other tests are at work here, too
            **environment,
        }
        self.token = ""
        self.accepted: dict[int, int] = {}
        """Build -> upload id, of what was answered 202."""
        self.process: subprocess.Popen[bytes] | None = None
        self._asking: psycopg2.extensions.connection | None = None

    # -- starting and stopping -----------------------------------------------------------------------------------

    def start(self) -> float:
        """Start, wait until it answers, and tell how many seconds that took."""
        began = time.monotonic()
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve"], cwd=ROOT, env=self._environment, stdout=output, stderr=output
            )
        until(self.answers, 180, f"the server answers; it said: {self.output.read_text()[-2000:]}")
        took = time.monotonic() - began
        if not self.token:
            self.token = self.printed("flk_upload_")
        return took

    def printed(self, start: str) -> str:
        words = self.output.read_text().split()
        return next(word for word in words if word.startswith(start))

    def answers(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            raise AssertionError(f"the server ended: {self.output.read_text()[-2000:]}")
        try:
            return self.request("GET", "/sign-in")[0] == 200
        except OSError:
            return False

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(60 * BUSY) == 0, self.output.read_text()[-3_000:]

    # -- its processes -------------------------------------------------------------------------------------------

    def children(self, *words: str) -> list[psutil.Process]:
        """Processes of this server whose command line has all the words."""
        assert self.process is not None
        found = []
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                line = " ".join(child.cmdline())
            except psutil.Error:
                continue
            if all(word in line for word in words):
                found.append(child)
        return found

    def kill(self, *words: str) -> int:
        """kill -9 all processes whose command line has the words, and wait until they are gone."""
        victims = self.children(*words)
        for victim in victims:
            with suppress(psutil.NoSuchProcess):
                victim.kill()
        psutil.wait_procs(victims, timeout=30 * BUSY)
        return len(victims)

    # -- talking to it -------------------------------------------------------------------------------------------

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30 * BUSY)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()

    def send(self, content: bytes, query: str = "") -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/xml"}
        status, answer = self.request("POST", f"/api/v1/projects/my-project/uploads?{query}", content, **headers)
        return status, json.loads(answer)

    def send_until_accepted(self, content: bytes, query: str, seconds: float = 90) -> int:
        """As a client does that retries; gives the upload's id."""

        def attempt() -> int | None:
            try:
                status, answer = self.send(content, query)
            except (OSError, ValueError):
                return None
            assert status in (200, 202, 503), (status, answer)
            return answer["id"] if status != 503 else None

        return int(until(attempt, seconds, f"upload {query} is accepted"))

    def connection(self) -> "psycopg2.extensions.connection":
        return psycopg2.connect(host=str(socket_directory(self.home)), user="flakeboard", dbname="flakeboard")

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """By a connection that is kept: whoever waits asks twenty times a second, and a new one costs the most of it."""
        if self._asking is not None:
            with suppress(psycopg2.OperationalError, psycopg2.InterfaceError):  # its server is gone, and may be back
                return self._ask(self._asking, statement)
        self._asking = None
        connection = self.connection()
        connection.autocommit = True
        rows = self._ask(connection, statement)
        self._asking = connection
        return rows

    @staticmethod
    def _ask(connection: "psycopg2.extensions.connection", statement: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    @contextmanager
    def endless_analysis(self) -> Iterator[None]:
        """Until the block ends no analysis can: what it would write to is locked."""
        holder = self.connection()
        try:
            with holder.cursor() as cursor:
                cursor.execute("LOCK TABLE analytics_testfinding IN ACCESS EXCLUSIVE MODE")
            yield
        finally:
            holder.close()

    def analysing(self) -> bool:
        try:
            return bool(self.query("SELECT 1 FROM analytics_refresh WHERE claim IS NOT NULL"))
        except psycopg2.OperationalError:
            return False

    def states(self) -> dict[str, int]:
        try:
            return dict(self.query("SELECT state, count(*) FROM ingest_upload GROUP BY state"))
        except psycopg2.OperationalError:
            return {}


@contextmanager
def running(home: Path, token: str = "", **environment: str) -> Iterator[Server]:
    """One that is started here and stopped at the end; with a token where its database has one already."""
    if not any(home.iterdir()):
        furnish_where_shared(home)
    server = Server(home, **environment)
    server.token = token
    try:
        server.start()
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.stop()


def try_to_start(home: Path, **environment: str) -> tuple[int, str]:
    """How `serve` ended that something keeps from starting, and what it said."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}
    done = subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=inherited | {"FLAKEBOARD_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=60 * BUSY,
    )
    return done.returncode, done.stderr


ONE_OF_EACH = {"WEB_CONCURRENCY": "1", "WORKER_CONCURRENCY": "1"}
"""Where a test needs no second process of web or for uploads: each has to load what it needs for its first request."""
NEVER = "86400"
"""Seconds until an analysis, where a test is about uploads: whoever makes the first in a process loads half of scipy."""
CASES = 400


def suite(build: int, cases: int = CASES) -> bytes:
    """A report of its own: the number of failures is the build's, as far as there are cases."""
    parts = [
        f"<testcase classname='c{i // 100}' name='t{i}' time='0.01'>{'<failure>x</failure>' if i < build else ''}</testcase>"
        for i in range(cases)
    ]
    return f"<testsuite name='s'>{''.join(parts)}</testsuite>".encode()


def send_all(server: Server, builds: Iterable[int], cases: int = CASES) -> None:
    for build in builds:
        server.accepted[build] = server.send_until_accepted(suite(build, cases), f"build_id={build}")


class Sender(threading.Thread):
    """A CI system that goes on sending, and retries, while a test breaks things."""

    def __init__(self, server: Server, builds: Iterable[int], cases: int) -> None:
        super().__init__()
        self._server, self._builds, self._cases = server, builds, cases

    def run(self) -> None:
        send_all(self._server, self._builds, self._cases)


def sending(server: Server, builds: Iterable[int], cases: int = CASES) -> Sender:
    sender = Sender(server, builds, cases)
    sender.start()
    return sender


def assert_each_counted_once(server: Server, accepted: dict[int, int], cases: int = CASES) -> None:
    """Every accepted build is processed, has one report, and its counts are exact."""
    until(lambda: server.states() == {"processed": len(accepted)}, 90, f"all are processed: {server.states()}")
    rows = server.query(
        "SELECT run.build_id::int, count(*), min(report.tests), min(report.failed) FROM ingest_report AS report "
        "JOIN ingest_run AS run ON run.id = report.run_id GROUP BY run.build_id"
    )
    failed = {build: min(build, cases) for build in accepted}
    assert sorted(rows) == [(build, 1, cases, failed[build]) for build in sorted(accepted)]
    failures = server.query("SELECT count(*) FROM ingest_failure")[0][0]
    assert failures == sum(failed.values())
