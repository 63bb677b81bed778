"""The commands that web, workers and beat are: the same under `serve`, systemd, compose and Kubernetes."""

import os
import shutil
import sys
from typing import NoReturn

from django.conf import settings

from dashboard.ops import tracing
from dashboard.ops.queues import together

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
"""Where web processes share their counts: whoever is asked must answer for all of them."""
GATE = "FLAKEBOARD_GATE"
"""A file that web reads to its end before it opens its port: `serve` closes it when the database is prepared."""


def _python(*arguments: str) -> list[str]:
    return [sys.executable, "-m", *arguments]


def web() -> list[str]:
    bind = f"[{settings.BIND}]" if ":" in settings.BIND else settings.BIND
    return _python(
        *("gunicorn", "dashboard.wsgi", "--bind", f"{bind}:{settings.PORT}"),
        *("--worker-class", "dashboard.ops.web_worker.Worker", "--workers", str(settings.WEB_CONCURRENCY)),
        *("--threads", str(settings.WEB_THREADS), "--timeout", "120", "--graceful-timeout", "10"),
        *("--log-level", "warning", "--logger-class", "dashboard.ops.web_log.Logger"),
        *("--worker-tmp-dir", str(settings.HOME)),
        # Load once, and share it. Tracing starts threads while it loads, which copies would not have.
        *([] if tracing.wanted() else ["--preload"]),
    )


def web_environment() -> dict[str, str]:
    """An empty folder in which the web processes add up their counts."""
    folder = settings.HOME / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return {MULTIPROCESS: str(folder)}


def worker(queues: list[str]) -> list[str]:
    """A pool for these queues, within their limits. Workers need not know of each other: PostgreSQL does."""
    limits = together([settings.QUEUES[queue] for queue in queues])
    return _python(
        *("celery", "-q", "-A", "dashboard", "worker", "--loglevel", "WARNING", "--queues", ",".join(queues)),
        *("--concurrency", str(limits.processes), "--hostname", f"{'-'.join(queues)}@%h"),
        *("--time-limit", str(limits.seconds), "--max-memory-per-child", str(limits.memory_kb)),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    )


def workers() -> list[str]:
    """All workers and beat in one family that shares its memory."""
    return _python("dashboard.ops.celery_workers")


def beat() -> list[str]:
    """Without a pidfile: a stale one would keep it from ever starting again. Two of them do no harm: a sweep more."""
    return _python("celery", "-q", "-A", "dashboard.ops.clock", "beat", "--loglevel", "WARNING", "--pidfile=")


def become_beat() -> NoReturn:
    """Beat in the place of this process. It has no need of Django's applications, nor has whoever starts it."""
    forget_schedule()
    command = beat()
    os.execv(command[0], command)  # noqa: S606 - our own command


def forget_schedule() -> None:
    """What a killed beat may have left half written. All that it knows is in the settings."""
    for schedule in settings.HOME.glob("beat-schedule*"):
        schedule.unlink(missing_ok=True)
