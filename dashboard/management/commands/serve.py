"""Run all of Flakeboard: database (embedded mode), web, worker and beat, under one supervisor."""

import fcntl
import os
import socket
import time
from typing import Any, TextIO

import psycopg2
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from dashboard import broker, database, processes, static_files, welcome
from dashboard.embedded import Cluster
from dashboard.environment import BadSetting
from dashboard.supervisor import Child, Supervisor


class Command(BaseCommand):
    help = "Run Flakeboard: database, web, worker and beat. Ctrl-C stops everything."
    requires_system_checks: list[str] = []
    _database_due = 0.0

    def handle(self, *args: Any, **options: Any) -> None:
        lock = _lock_home()
        _check_port()
        supervisor = Supervisor(say=self._say)
        supervisor.stop_on_signals()
        cluster = Cluster(settings.HOME, say=self._say) if settings.EMBEDDED else None
        try:
            if cluster is not None:
                cluster.start()
                supervisor.watchers.append(lambda: self._restart_if_crashed(cluster))
            database.check(connections=database.web_connections())
            _prepare()
            supervisor.children += _children()
            self.stdout.write(welcome.message())
            self.stdout.flush()
            supervisor.run()
        finally:
            if cluster is not None:
                cluster.stop()
            lock.close()

    def _say(self, line: str) -> None:
        self.stderr.write(f"flakeboard: {line}")
        self.stderr.flush()

    def _restart_if_crashed(self, cluster: Cluster) -> None:
        """A database that was killed may need a moment until its last processes are gone: try again until it starts."""
        if cluster.crashed and time.monotonic() >= self._database_due:
            self._say("the database ended; it starts again")
            try:
                cluster.start()
            except (BadSetting, psycopg2.Error, OSError) as error:
                self._say(database.first_line(error))
                self._database_due = time.monotonic() + 1


def _lock_home() -> TextIO:
    """One Flakeboard a home."""
    lock = (settings.HOME / "serve.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        raise BadSetting(
            f"Flakeboard already runs from {settings.HOME} (process {lock.read().strip() or 'unknown'}). "
            "Stop it, or set FLAKEBOARD_HOME and PORT for a second one."
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def _check_port() -> None:
    family = socket.AF_INET6 if ":" in settings.BIND else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.BIND, settings.PORT))
        except OSError as error:
            raise BadSetting(
                f"{settings.BIND}:{settings.PORT} cannot be used ({error.strerror}). Set PORT (or BIND) to another."
            ) from error


def _prepare() -> None:
    """The tables, the static files, and a home without what killed processes left half done."""
    broker.remove_leftovers(settings.HOME / "broker")
    processes.forget_schedule()
    call_command("migrate", verbosity=0, interactive=False)
    static_files.collect()


def _children() -> list[Child]:
    """Uploads have a worker of their own: however long an analysis takes, none waits for it."""
    return [
        Child("web", processes.web(), environment=processes.web_environment()),
        Child("worker of uploads", processes.worker(["uploads"]), quiet=True),
        Child("worker of analyses", processes.worker(["analyses", "notifications"]), quiet=True),
        Child("beat", processes.beat()),
    ]
