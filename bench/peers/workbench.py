"""Where a tool works on a suite: a copy of the project, a time limit, and every test that ran written down."""

import json
import os
import pty
import resource
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.detection.subjects import CLIENT, environ

LIMIT = float(os.environ.get("BENCH_PEER_SECONDS", "900"))
"""For one tool on one suite; what it found until then counts."""


@dataclass
class Finding:
    """What a tool says of one suite."""

    partners: dict[str, list[list[str]]] = field(default_factory=dict)
    """By test that it reports as dependent on the order: the groups that it names, if any."""
    seconds: float = 0.0
    processor: float = 0.0
    """Seconds that processors worked for it, which others on the machine do not lengthen."""
    executions: int = 0
    is_cut: bool = False
    """The limit ended it."""


class Workbench:
    """One tool on one project."""

    def __init__(self, project: Path, folder: Path, deselected: Sequence[str] = ()) -> None:
        self.folder = folder / "project"
        shutil.copytree(project, self.folder)
        self._plugins = folder / "plugins"
        self._plugins.mkdir()
        shutil.copy(Path(__file__).with_name("observer.py"), self._plugins / "bench_observer.py")
        self._observed = folder / "observed.jsonl"
        self._observed.touch()
        self._deselected = deselected
        self._began, self._worked = time.monotonic(), _worked()
        self.is_cut = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def run(self, command: Sequence[str], folder: Path | None = None, loads_plugins: bool = False) -> str:
        """What the command prints. It sees a terminal, since one of the tools asks for its width."""
        options = ["-o", "addopts=", "-p", "bench_observer", "-p", "no:cacheprovider"]
        options += [word for test in self._deselected for word in ("--deselect", test)]
        variables = {
            **environ(),
            "PYTHONPATH": os.pathsep.join([str(self._plugins), str(CLIENT)]),
            "PATH": os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")]),
            "PYTEST_ADDOPTS": shlex.join(options),
            "BENCH_OBSERVED": str(self._observed),
            "COLUMNS": "500",
        }
        if loads_plugins:
            del variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        main, other = pty.openpty()
        process = subprocess.Popen(
            list(command),
            cwd=folder or self.folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        output: list[bytes] = []
        reader = threading.Thread(target=_read, args=(main, output))
        reader.start()
        try:
            process.wait(max(LIMIT - self.seconds, 0.0))
        except subprocess.TimeoutExpired:
            self.is_cut = True
        _end(process)
        reader.join()
        os.close(main)
        return b"".join(output).decode("utf-8", "replace").replace("\r\n", "\n")

    def observed(self) -> list[tuple[int, str, bool]]:
        """Process, test and whether it failed, of everything that ran."""
        lines = self._observed.read_text(encoding="utf-8").splitlines()
        return [tuple(json.loads(line)) for line in lines]

    def finding(self, partners: dict[str, list[list[str]]]) -> Finding:
        return Finding(partners, self.seconds, _worked() - self._worked, len(self.observed()), self.is_cut)


def _worked() -> float:
    """Processor seconds of all processes that ended below this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read(descriptor: int, output: list[bytes]) -> None:
    while True:
        try:
            part = os.read(descriptor, 65_536)
        except OSError:  # the other end is closed
            return
        if not part:
            return
        output.append(part)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With everything that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()
