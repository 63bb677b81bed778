"""A hostile file is read by a fresh process of its own, so that its time and memory are its own too."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

CANARY = b"<testsuite name='canary'><testcase classname='c' name='alive'/></testsuite>"

_CHILD = """
import io, json, resource, signal, sys, time
from ingest.junit.upload import read_upload

def peak():  # ru_maxrss would count what the parent had when it forked
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

def canary():
    return read_upload([("canary.xml", io.BytesIO({canary!r}))]).report.counts()["passed"] == 1

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
assert canary()
before, start = peak(), time.process_time()
signal.setitimer(signal.ITIMER_PROF, float(sys.argv[2]))
with open(sys.argv[1], "rb") as file:
    reading = read_upload([("hostile", file)])
seconds = time.process_time() - start
signal.setitimer(signal.ITIMER_PROF, 0)
print(json.dumps({{"seconds": seconds, "grown": peak() - before, "peak": peak(), "files": reading.files,
                  "canary": canary()}}))
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of a hostile file, and what it cost."""

    seconds: float
    """Of processor time."""
    grown: float
    """Mebibytes of memory above those of a reader that has read a small report."""
    peak: float
    """Mebibytes of the whole process at its most."""
    files: list[dict[str, Any]]

    @property
    def code(self) -> str | None:
        """The code of the first error; None where everything was read."""
        return next((file["error"]["code"] for file in self.files if file["error"]), None)

    @property
    def tests(self) -> int:
        return sum(file["tests"] for file in self.files)


def read_in_child(path: Path, *, seconds: float = 60) -> Measured:
    """Read a file in a process of its own, which must end in time, leave no file behind and then read a canary.

    The time is the processor's, so that a loaded machine changes nothing; past it the process is ended."""
    spool = path.parent / f"{path.name}.spool"
    spool.mkdir()
    child = subprocess.run(
        [sys.executable, "-c", _CHILD.format(canary=CANARY), str(path), str(seconds)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(spool)},
        capture_output=True,
        text=True,
        timeout=10 * seconds + 300,
        check=False,
    )
    assert child.returncode != -signal.SIGPROF, f"it took more than {seconds} seconds"
    assert child.returncode == 0, child.stderr[-2_000:]
    result = json.loads(child.stdout)
    assert result.pop("canary")
    assert list(spool.iterdir()) == []
    measured = Measured(**result)
    print(f"{measured.code}: {measured.seconds:.2f} s, +{measured.grown:.0f} MB, peak {measured.peak:.0f} MB")
    return measured


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "hostile"
    path.write_bytes(content)
    return path
