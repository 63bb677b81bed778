"""The Celery application of web and workers. Beat has a smaller one, in dashboard.ops.clock."""

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery import signals

from dashboard.ops import logs, tracing
from dashboard.ops.celery_setup import make_application

app = make_application()
app.autodiscover_tasks(["dashboard"])
# Celery would close the connection to the database around every task, which costs more than many a task.
app.conf.CELERY_DB_REUSE_MAX = sys.maxsize
_REQUEST = "flakeboard_request"
"""The header by which a task knows the request that asked for it."""


@signals.before_task_publish.connect
def _tell_request(headers: dict[str, Any], **_: Any) -> None:
    if request := logs.about().get("request"):
        headers[_REQUEST] = request


@signals.task_prerun.connect
def _check_connection(task: Any, **_: Any) -> None:
    """As before a request: one that is too old, or that was lost, is made anew."""
    from django.db import close_old_connections

    if not task.request.is_eager:
        close_old_connections()


@signals.task_prerun.connect
def _take_request(task: Any, **_: Any) -> None:
    logs.begin(request=getattr(task.request, _REQUEST, None), task=task.name)


@signals.worker_init.connect
def _step_back(**_: Any) -> None:
    """Where web and workers share a machine, people and CI are answered first: what was accepted can wait."""
    from django.conf import settings

    os.nice(settings.WORKER_NICE)
    if os.getsid(0) == os.getpid():
        # Linux may schedule sessions as wholes, and then only this says how they compare.
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(settings.WORKER_NICE))


_YOUNG = 10_000
"""Objects between two collections of the youngest. Reports are many objects without cycles: looking through them for
garbage as often as Python does by default takes a fifth of the time of an upload of two thousand files."""


@signals.worker_init.connect
def share_memory(**_: Any) -> None:
    """What is loaded by now is shared by the processes of the pool, until a garbage collection writes to it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG)


@signals.worker_process_init.connect
def _trace(**_: Any) -> None:
    tracing.start("worker")


@signals.worker_ready.connect
def _watch(sender: Any, **_: Any) -> None:
    from dashboard.ops import watchdog  # it needs the application

    watchdog.start([queue.name for queue in sender.task_consumer.queues])
