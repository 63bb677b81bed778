"""Server mode for load tests: web, Redis, workers and beat as separate processes on the bench's database.

All limits are the defaults, except those that throttle a single token."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.server.installation import PROCESSES, Installation

USUAL = {"UPLOAD_LEASE_SECONDS": "45", "SWEEP_SECONDS": "15", "UPLOAD_TRIES": "5", "WORKER_NICE": "10"}
NO_QUOTA = {"UPLOADS_PER_MINUTE": "1000000", "UPLOAD_BYTES_PER_HOUR": "1000000000000"}


class Site(Installation):
    def __init__(self, home: Path) -> None:
        super().__init__(home, **USUAL, **NO_QUOTA)

    def prepare(self) -> None:
        """The database runs and has its tables, and each bench makes tokens of its own."""

    def stop(self) -> None:
        """Stop all processes but the database, which was there before."""
        self.supervisor.stop()
        self._thread.join()

    def end(self, *names: str) -> None:
        """Stop processes for good."""
        for child in [child for child in self.supervisor.children if child.name in names]:
            self.supervisor.children.remove(child)
            child.stop()

    @contextmanager
    def workers(self, processes: int) -> Iterator[psutil.Process]:
        """Run a worker for uploads with this many processes."""
        child = self._child(f"workers-{processes}", [sys.executable, "manage.py", *PROCESSES["worker-uploads"]])
        child.environment["WORKER_CONCURRENCY"] = str(processes)
        child.start()
        assert child.process is not None
        try:
            yield psutil.Process(child.process.pid)
        finally:
            child.stop()

    def processor_seconds(self) -> dict[str, float]:
        """Processor seconds used so far, by part."""
        tops = {child.name: child.process.pid for child in self.supervisor.children if child.process is not None}
        return {name: used(psutil.Process(pid)) for name, pid in {**tops, "database": self.cluster.orphan()}.items()}


def used(top: psutil.Process) -> float:
    """Processor seconds of a process and its descendants, including those that have ended."""
    total = 0.0
    for process in (top, *top.children(recursive=True)):
        with suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total


@contextmanager
def site(home: Path) -> Iterator[Site]:
    running = Site(home)
    try:
        running.start()
        yield running
    finally:
        running.stop()
