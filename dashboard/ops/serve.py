"""All of Flakeboard under one supervisor: database (embedded mode), web, workers and beat.

The supervisor itself loads settings and nothing of the application. What must be done before the first page is done by
a copy of it that loads Django, does it and ends, while web loads the application: then web opens its port."""

import fcntl
import gc
import os
import socket
import sys
import time
from dataclasses import dataclass
from typing import TextIO

import psycopg2
from django.conf import settings

from dashboard.ops import processes
from dashboard.ops.embedded import Cluster
from dashboard.ops.environment import BadSetting
from dashboard.ops.paths import ADDRESS_FILE
from dashboard.ops.supervisor import Child, ForkedProcess, Supervisor, say

_WORKERS_STOP_SECONDS = 70.0
"""Longer than each of the workers' own supervisor may take."""


def serve() -> None:
    """Run it until a signal stops it."""
    lock = _lock_home()
    _check_port()
    supervisor = Supervisor()
    supervisor.stop_on_signals()
    cluster = Cluster(settings.HOME, say=say) if settings.EMBEDDED else None
    gate, opener = os.pipe()
    web = Child("web", processes.web(), processes.web_environment() | {processes.GATE: str(gate)}, pass_fds=(gate,))
    try:
        web.start()
        if cluster is not None:
            cluster.start()
            supervisor.watchers.append(Keeper(cluster).restart_if_crashed)
        preparation = ForkedProcess(_prepare)
        os.close(opener)  # the preparation has it, too, until it ends
        if code := preparation.wait():
            sys.exit(code)
        workers = Child("workers", processes.workers(), stop_seconds=_WORKERS_STOP_SECONDS, quiet=True)
        supervisor.children += [web, workers]
        supervisor.run()
    finally:
        web.stop()
        if cluster is not None:
            cluster.stop()
        lock.close()


def _prepare() -> None:
    """The tables, the static files, a home without what killed processes left half done, and what people are told."""
    gc.disable()
    import django
    from django.db import connections

    from dashboard.ops import database_check

    try:  # before all else is loaded: whoever named a wrong database is told at once
        database_check.check(connections=database_check.web_connections())
    except BadSetting as error:
        sys.exit(f"flakeboard: {error}")
    django.setup()
    from django.core.management import call_command

    from dashboard.ops import broker, start_message, static_files

    broker.remove_leftovers(settings.HOME / "broker")
    processes.forget_schedule()
    call_command("migrate", verbosity=0, interactive=False)
    static_files.collect()
    sys.stdout.write(f"{start_message.message(start_message.first_start())}\n")
    connections.close_all()


@dataclass
class Keeper:
    """Starts a database again that ended."""

    cluster: Cluster
    due: float = 0.0

    def restart_if_crashed(self) -> None:
        """One that was killed may need a moment until its last processes are gone: try again until it starts."""
        if self.cluster.crashed and time.monotonic() >= self.due:
            say("the database ended; it starts again")
            try:
                self.cluster.start()
            except (BadSetting, psycopg2.Error, OSError) as error:
                say(str(error).strip().partition("\n")[0] or type(error).__name__)
                self.due = time.monotonic() + 1


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
    (settings.HOME / ADDRESS_FILE).write_text(settings.PUBLIC_URL)
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
