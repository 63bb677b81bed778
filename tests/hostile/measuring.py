"""A hostile file is read by a process of its own, so that its time and memory are its own too."""

import atexit
import functools
import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

CANARY = b"<testsuite name='canary'><testcase classname='c' name='alive'/></testsuite>"

_READER = """
import io, json, os, resource, signal, sys, tempfile, time, traceback
from ingest.junit.upload import read_upload

def peak():  # ru_maxrss would count what the parent had when it forked
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

def canary():
    return read_upload([("canary.xml", io.BytesIO({canary!r}))]).report.counts()["passed"] == 1

def measure(path, seconds, spool):
    os.environ["TMPDIR"] = tempfile.tempdir = spool
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    assert canary()
    before, start = peak(), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    with open(path, "rb") as file:
        reading = read_upload([("hostile", file)])
    seconds = time.process_time() - start
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {{"seconds": seconds, "grown": peak() - before, "peak": peak(), "files": reading.files, "canary": canary()}}

assert canary()
for line in sys.stdin:
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(sending, "w") as answer:
            try:
                answer.write(json.dumps(measure(**json.loads(line))))
            except BaseException:
                answer.write(json.dumps({{"error": traceback.format_exc()}}))
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as answer:
        text = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps({{"code": code, "text": text}}), flush=True)
"""


class _Reader:
    """A process that has loaded the reader, and forks for each file that it is given."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _READER.format(canary=CANARY)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        atexit.register(self._end)

    def ask(self, **wish: Any) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(wish) + "\n")
        return dict(json.loads(self._process.stdout.readline()))

    def _end(self) -> None:
        self._process.communicate()


_reader = functools.cache(_Reader)


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
    answer = _reader().ask(path=str(path), seconds=seconds, spool=str(spool))
    assert answer["code"] != -signal.SIGPROF, f"it took more than {seconds} seconds"
    assert answer["code"] == 0, answer
    result = json.loads(answer["text"])
    assert "error" not in result, result["error"][-2_000:]
    assert result.pop("canary")
    assert list(spool.iterdir()) == []
    measured = Measured(**result)
    print(f"{measured.code}: {measured.seconds:.2f} s, +{measured.grown:.0f} MB, peak {measured.peak:.0f} MB")
    return measured


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "hostile"
    path.write_bytes(content)
    return path
