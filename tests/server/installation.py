"""Flakeboard in server mode, as an operator would run it: each process apart, with a real Redis between them.

The test is the operator's supervisor: what is killed is started again, as systemd or Kubernetes would."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import redis

from dashboard.ops.embedded import Cluster
from dashboard.ops.serve import Keeper
from dashboard.ops.supervisor import Child, Supervisor
from tests.conftest import ROOT
from tests.faults.server import BUSY, Server, free_port, until
from tests.homes import furnish
from tests.server.provision import NO_REDIS, redis_server

PROCESSES = {
    "web": ("web",),
    "worker-uploads": ("worker", "uploads"),
    "worker-analyses": ("worker", "analyses", "notifications"),
    "beat": ("beat",),
}
METRICS_TOKEN = "a-scrapers-secret"
_FAREWELL = "\nworker: Warm shutdown (MainProcess)\n"
"""Celery prints it past all logging when a worker is stopped."""
_LOGGED = 'log=$1; shift; exec "$@" >>"$log" 2>&1'


class Installation(Server):
    def __init__(self, home: Path, **environment: str) -> None:
        super().__init__(home, **environment)
        self.redis_port = free_port()
        self.cluster = Cluster(home)
        self._keeper = Keeper(self.cluster)
        socket = urllib.parse.quote(str(self.cluster.socket), safe="")
        self._environment |= {
            "DATABASE_URL": f"postgresql://flakeboard@{socket}/flakeboard",
            "BROKER_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "METRICS_TOKEN": METRICS_TOKEN,
            "LOG_FORMAT": "json",
            "LOG_LEVEL": "INFO",
            **environment,
        }
        self.supervisor = Supervisor(say=self._say)
        self._thread = threading.Thread(target=self.supervisor.run)
        self.said: list[str] = []

    # -- starting and stopping -----------------------------------------------------------------------------------

    def _say(self, line: str) -> None:
        self.said.append(line)

    def _child(self, name: str, command: list[str]) -> Child:
        return Child(name, ["sh", "-c", _LOGGED, "sh", str(self.log(name)), *command], dict(self._environment))

    def log(self, name: str) -> Path:
        return self.home / f"{name}.log"

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self._environment, capture_output=True, text=True, timeout=120 * BUSY
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self) -> float:
        program = redis_server()
        assert program is not None, NO_REDIS
        self.prepare()
        listen = ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.home)]
        self.supervisor.children = [
            self._child("redis", [str(program), *listen]),
            *(self._child(name, [sys.executable, "manage.py", *words]) for name, words in PROCESSES.items()),
        ]
        self.supervisor.watchers = [self._keeper.restart_if_crashed]
        self._thread.start()
        until(lambda: self.answers() and len(self.children("celery", "worker")) > 4, 180, "all processes run")
        return 0.0

    def prepare(self) -> None:
        """A database with the tables of this code, and a token."""
        furnish(self.home)
        self.cluster.start()
        self.manage("upgrade")
        self.token = re.search(r"flk_upload_\w+", self.manage("token", "my-project", "--create"))[0]

    def stop(self) -> None:
        self.supervisor.stop()
        self._thread.join()
        self.cluster.stop()

    # -- its parts -----------------------------------------------------------------------------------------------

    def children(self, *words: str) -> list[psutil.Process]:
        found: list[psutil.Process] = []
        for child in self.supervisor.children:
            with suppress(psutil.Error, AttributeError):
                top = psutil.Process(child.process.pid)  # type: ignore[union-attr]
                found += [top, *top.children(recursive=True)]
        return [process for process in found if all(word in _line(process) for word in words)]

    def redis(self) -> "redis.Redis":
        return redis.Redis(port=self.redis_port, socket_timeout=5 * BUSY)

    def broker_answers(self) -> bool:
        with suppress(redis.ConnectionError, redis.TimeoutError):
            return bool(self.redis().ping())
        return False

    @contextmanager
    def suspended(self, *words: str) -> Iterator[None]:
        """Processes that live and do nothing, as on a machine that hangs."""
        victims = self.children(*words)
        assert victims
        for victim in victims:
            victim.suspend()
        try:
            yield
        finally:
            for victim in victims:
                with suppress(psutil.NoSuchProcess):
                    victim.resume()

    @contextmanager
    def without_database(self) -> Iterator[None]:
        """The database is stopped, and its operator is slow to start it again."""
        self.supervisor.watchers.clear()
        self.cluster.stop()
        try:
            yield
        finally:
            self.cluster.start()
            self.supervisor.watchers.append(self._keeper.restart_if_crashed)

    def execute(self, statement: str) -> int:
        """How many rows it was about."""
        connection = self.connection()
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(statement)
                return int(cursor.rowcount)
        finally:
            connection.close()

    # -- what it tells an operator -------------------------------------------------------------------------------

    def ready(self) -> tuple[int, dict[str, Any]]:
        status, body = self.request("GET", "/health/ready", Host="10.1.2.3")
        return status, json.loads(body)

    def metrics(self) -> dict[str, float]:
        """Sample with its labels -> value."""
        status, body = self.request("GET", "/metrics", Authorization=f"Bearer {METRICS_TOKEN}")
        assert status == 200, body
        lines = (line.rpartition(" ") for line in body.decode().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Whole log lines of a process, without one that is being written; each must be an object."""
        written = self.log(name).read_text().replace(_FAREWELL, "")
        return [json.loads(line) for line in written.splitlines(keepends=True) if line[-1] == "\n"]


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@contextmanager
def installed(home: Path, **environment: str) -> Iterator[Installation]:
    installation = Installation(home, **environment)
    try:
        installation.start()
        yield installation
    finally:
        installation.stop()


def long_text_of(installation: Installation) -> str:
    """Everything that any of its processes wrote down."""
    names = [*PROCESSES, "redis"]
    return "\n".join(installation.log(name).read_text() for name in names if os.path.exists(installation.log(name)))
