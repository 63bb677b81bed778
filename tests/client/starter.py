"""Python processes with pytest and the standard library loaded already, so that hundreds of sessions start in little time.

What is started is a process of its own, with its own arguments, folder, environment and output, and loads the client's
modules itself. It is forked from one that has imported what takes long to import. Whoever asks what an interpreter loads,
or sets a variable that an interpreter reads as it starts, gets one that starts anew."""

from __future__ import annotations

import atexit
import gc
import json
import os
import random
import runpy
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

STANDARD = "argparse ast base64 concurrent.futures configparser csv difflib doctest email.parser email.mime.text fnmatch gzip hashlib"
STANDARD += (
    " http.client inspect ipaddress json platform queue secrets shlex shutil ssl string tarfile tempfile threading"
)
STANDARD += " tokenize traceback unittest urllib.parse urllib.request uuid xml.etree.ElementTree zipfile"
KNOWN = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
"""Of the variables for interpreters, those that a forked one heeds."""


def start(
    module: str,
    *words: str,
    cwd: Path,
    environ: dict[str, str],
    apart: bool = False,
    timeout: int = 300,
    python: str = sys.executable,
) -> subprocess.CompletedProcess[str]:
    """`python -m module words`; what it printed and its exit code. Errors are apart where that is wanted."""
    heeded = not any(name.startswith("PYTHON") and name not in KNOWN for name in environ)
    if python == sys.executable and hasattr(os, "fork") and heeded:
        return _starter().start([module, *words], cwd, environ, apart, timeout)
    return subprocess.run(
        [python, "-m", module, *words],
        cwd=str(cwd),
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if apart else subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )


def begin(module: str, *words: str, cwd: Path, environ: dict[str, str], output: Path) -> Started:
    """The same without waiting for it, and what it prints goes to a file. One at a time."""
    return _starter().begin([module, *words], cwd, environ, [str(output)])


class Started:
    """A process that was forked: who waits for it can do something else meanwhile."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self._pid = int(answers.readline())
        self._code: int | None = None

    def poll(self, seconds: float = 0) -> int | None:
        """Its exit code, or none as long as it runs; for so long it is waited for."""
        if self._code is None and select.select([self._answers], [], [], seconds)[0]:
            self._code = int(self._answers.readline())
        return self._code

    def end(self) -> int:
        if self.poll() is None:
            os.kill(self._pid, signal.SIGKILL)
            self._code = int(self._answers.readline())
        assert self._code is not None
        return self._code


class _Starter:
    """The process that forks, from outside."""

    def __init__(self) -> None:
        own = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env={**own, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # what waits to be read waits in the pipe, where select sees it
        )

    def begin(self, words: list[str], cwd: Path, environ: dict[str, str], outputs: list[str]) -> Started:
        wish = {"words": words, "cwd": str(cwd), "environ": environ, "outputs": outputs}
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(wish).encode() + b"\n")
        return Started(self._process.stdout)

    def start(
        self, words: list[str], cwd: Path, environ: dict[str, str], apart: bool, timeout: int
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            outputs = [str(Path(folder) / name) for name in (("out", "err") if apart else ("out",))]
            started = self.begin(words, cwd, environ, outputs)
            ended = started.poll(timeout) is not None
            code = started.end()
            if not ended:
                raise subprocess.TimeoutExpired(words, timeout)
            printed = [Path(output).read_text() for output in outputs]
        return subprocess.CompletedProcess(words, code, printed[0], printed[1] if apart else None)

    def end(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


_started: list[_Starter] = []


def _starter() -> _Starter:
    if not _started:
        _started.append(_Starter())
        atexit.register(_started[0].end)
    return _started[0]


# -- inside ------------------------------------------------------------------------------------------------------


def load() -> None:
    """What takes long to load and is no code of ours."""
    from _pytest.config import get_config

    get_config()
    for name in STANDARD.split():
        __import__(name)


def serve() -> dict[str, Any]:
    """Fork for each wish, tell pid and exit code of the child; returns its wish in a child."""
    answers = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        pid = os.fork()
        if not pid:
            answers.close()
            return json.loads(line)
        answers.write(f"{pid}\n")
        answers.flush()
        status = os.waitpid(pid, 0)[1]
        answers.write(f"{-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)}\n")
        answers.flush()
    os._exit(0)


def become(wish: dict[str, Any], path: list[str]) -> None:
    """Make this process what was wished for."""
    opened = [os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for name in wish["outputs"]]
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, handle in enumerate([nothing, opened[0], opened[-1]]):
        os.dup2(handle, number)
    for handle in {nothing, *opened}:
        os.close(handle)
    os.chdir(wish["cwd"])
    os.environ.clear()
    os.environ.update(wish["environ"])
    sys.path[:] = [wish["cwd"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *path]
    sys.argv[:] = wish["words"]
    random.seed()


if __name__ == "__main__":
    load()
    gc.freeze()
    here, *rest = sys.path
    wish = serve()
    become(wish, rest)
    runpy.run_module(wish["words"][0], run_name="__main__", alter_sys=True)
