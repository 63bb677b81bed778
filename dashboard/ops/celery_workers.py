"""Workers and beat of `serve`: everything is loaded once, then each of them is a copy that shares its memory.

They run the same commands as in server mode. Uploads have a worker of their own: however long an analysis takes, none
waits for it."""

import gc
import sys
from importlib import import_module

from celery.__main__ import main as celery

from dashboard.celery import app
from dashboard.ops import processes
from dashboard.ops.supervisor import ForkedChild, Supervisor

_LOADED_LATER = (
    *("celery.bin.celery", "celery.apps.beat", "celery.apps.worker", "celery.concurrency.prefork"),
    *("celery.worker.consumer", "billiard.pool", "dashboard.ops.clock", "dashboard.ops.watchdog"),
)
"""What Celery would load when it starts."""


def main() -> None:
    gc.disable()
    _load()
    gc.collect()
    gc.freeze()  # a collection in a copy must not write to the pages that it shares
    gc.enable()
    supervisor = Supervisor(farewell="")
    supervisor.stop_on_signals()
    supervisor.children += [
        _copy("worker of uploads", processes.worker(["uploads"])),
        _copy("worker of analyses", processes.worker(["analyses", "notifications"])),
        _copy("beat", processes.beat()),
    ]
    supervisor.run()


def _load() -> None:
    """The tasks with all that they need, and Celery."""
    app.loader.import_default_modules()
    app.finalize()
    for name in _LOADED_LATER:
        import_module(name)


def _copy(name: str, command: list[str]) -> ForkedChild:
    def run() -> None:
        sys.argv = command[command.index("celery") :]
        celery()

    return ForkedChild(name, command, run=run)


if __name__ == "__main__":
    main()
