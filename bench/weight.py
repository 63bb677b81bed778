"""What an idle Flakeboard weighs, and how soon after `make run` it shows a page: all processes, the database included.

Memory is PSS: a page that several processes share is counted once, in shares. Pages of program files may also be
shared with programs that have nothing to do with us. The total counts those as if we were alone, so that it does not
depend on what else runs on the machine."""

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from bench.outcome import Outcome
from bench.server.site import USUAL, used
from tests.faults.server import Server, running

_SETTLING_SECONDS = 20
"""Every kind of sweep has run once by then, as in any Flakeboard that nobody uses."""
_QUIET_SECONDS = 2.0
_QUIET = 0.1
"""So little processor time in that many seconds is idle."""
_MB = 1024
_ENVIRONMENT = USUAL | {"PYTHONDONTWRITEBYTECODE": ""}
"""A clone that has run before has its bytecode: the first start here writes it, the second is measured."""


def run() -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(prefix="flakeboard-weight-") as folder:
        home = Path(folder)
        home.chmod(0o755)  # the database may run as another user
        with running(home, **_ENVIRONMENT) as first:
            token = first.token
        server = Server(home, **_ENVIRONMENT)
        server.token = token
        seconds = server.start()
        try:
            assert server.process is not None
            top = psutil.Process(server.process.pid)
            yield Outcome("from `make run` to the first page", seconds, "s", most=3)
            yield Outcome("  processor time until then, all processes", used(top), "s")
            processes = _settled(top)
            yield from _memory(processes)
        finally:
            server.stop()


def _settled(top: psutil.Process) -> list[psutil.Process]:
    """All its processes, when nothing is loaded or started any more."""
    time.sleep(_SETTLING_SECONDS)
    before, now = 0.0, used(top)
    while now - before > _QUIET:
        time.sleep(_QUIET_SECONDS)
        before, now = now, used(top)
    return [top, *top.children(recursive=True)]


def _memory(processes: list[psutil.Process]) -> Iterator[Outcome]:
    parts = {process: _rollup(process.pid) for process in processes}
    by_name: dict[str, list[int]] = defaultdict(list)
    for process, part in parts.items():
        by_name[_name(process)].append(part["Pss"])
    for name, sizes in sorted(by_name.items(), key=lambda item: -sum(item[1])):
        each = " + ".join(f"{size / _MB:.1f}" for size in sizes)
        yield Outcome(f"  {name} ({each})", sum(sizes) / _MB, "MB")
    yield Outcome("processes", len(processes))
    own = sum(part["Pss_Anon"] + part["Pss_Shmem"] for part in parts.values())
    files = _pages_of_files(process.pid for process in processes)
    yield Outcome("PSS as measured, on this machine now", sum(part["Pss"] for part in parts.values()) / _MB, "MB")
    yield Outcome("memory of all processes when idle", (own + files) / _MB, "MB", most=450)


def _name(process: psutil.Process) -> str:
    words = process.cmdline()
    if "postgres" in Path(words[0]).name or words[0].startswith("postgres:"):
        return "database"
    known = {"gunicorn": "web", "dashboard.ops.celery_workers": "workers and beat", "serve": "supervisor"}
    return next((known[word] for word in words if word in known), " ".join(words))


def _rollup(pid: int) -> dict[str, int]:
    """Kilobytes by kind."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}


def _pages_of_files(pids: Iterable[int]) -> int:
    """Kilobytes of files in memory, each part of a file once: what the process has of it that has most."""
    largest: dict[tuple[str, str], int] = defaultdict(int)
    for pid in pids:
        for part, size in _mapped(pid):
            largest[part] = max(largest[part], size)
    return sum(largest.values())


def _mapped(pid: int) -> Iterator[tuple[tuple[str, str], int]]:
    """(file, offset) and kilobytes in memory that are the file's own. Shared memory is no file."""
    part, resident = ("", ""), 0
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            path = words[5] if len(words) > 5 and words[4] != "0" else ""
            part = ("" if path.startswith(("/dev/", "/SYSV")) else path, words[2])
        elif words[0] == "Rss:":
            resident = int(words[1])
        elif words[0] == "Anonymous:" and part[0]:
            yield part, resident - int(words[1])
