"""Python processes with pytest and the standard library loaded already, so that hundreds of sessions start in little time.

What is started is a process of its own, with its own arguments, folder, environment and output, and loads the client's
modules itself. It is forked from one that has imported what takes long to import. Whoever asks what an interpreter loads,
or sets a variable that an interpreter reads as it starts, gets one that starts anew."""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import json
import os
import random
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    if python == sys.executable and hasattr(os, "fork") and _is_heeded(environ):
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


def _is_heeded(environ: Mapping[str, str]) -> bool:
    return not any(name.startswith("PYTHON") and name not in KNOWN for name in environ)


def begin(module: str, *words: str, cwd: Path, environ: dict[str, str], output: Path) -> Started:
    """The same without waiting for it, and what it prints goes to a file."""
    return _starter().begin([module, *words], cwd, environ, [output])


def forked_pytest(address: str = "") -> Callable[..., Any]:
    """To stand in for `subprocess.Popen`: a pytest of this interpreter is forked, and all else is started as ever."""
    start_anew, pytest = subprocess.Popen, [sys.executable, "-m", "pytest"]
    fits = {"env", "cwd", "stdin", "stdout", "stderr", "start_new_session"}

    def start_either(command: Any, *more: Any, **how: Any) -> Any:
        environ = dict(os.environ) if how.get("env") is None else how["env"]
        streams = [how.get(name) for name in ("stdin", "stdout", "stderr")]
        is_pytest = isinstance(command, list) and command[:3] == pytest
        if more or not is_pytest or not set(how) <= fits or subprocess.PIPE in streams or not _is_heeded(environ):
            return start_anew(command, *more, **how)
        with open(os.devnull, "r+b") as nothing:
            handles = [nothing if stream == subprocess.DEVNULL else stream for stream in streams]
            handles = [number if stream is None else stream for number, stream in enumerate(handles)]
            if handles[2] == subprocess.STDOUT:
                handles[2] = handles[1]
            numbers = [handle if isinstance(handle, int) else handle.fileno() for handle in handles]
            wish = {"words": command[2:], "cwd": str(how.get("cwd") or os.getcwd()), "environ": environ}
            wish["session"] = bool(how.get("start_new_session"))
            return Started(address or _starter().address, wish, numbers)

    return start_either


class Started:
    """A process that was forked, with what is used of `subprocess.Popen`."""

    def __init__(self, address: str, wish: dict[str, Any], handles: Sequence[int]) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(address)
            connection.sendmsg([b"w"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handles))])
            connection.sendall(json.dumps(wish).encode() + b"\n")
            self._answers = connection.makefile("rb", buffering=0)  # what waits is where select sees it
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def poll(self, seconds: float | None = 0) -> int | None:
        """Its exit code, or none as long as it runs; for so long it is waited for."""
        if self.returncode is None and select.select([self._answers], [], [], seconds)[0]:
            self.returncode = int(self._answers.readline())
            self._answers.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        code = self.poll(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def end(self) -> int:
        self.kill()
        return self.wait()


class _Starter:
    """The process that forks, from outside."""

    def __init__(self) -> None:
        own = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env={**own, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout
        self.address = self._process.stdout.readline().decode().rstrip("\n")

    def begin(self, words: list[str], cwd: Path, environ: dict[str, str], outputs: Sequence[Path]) -> Started:
        wish = {"words": words, "cwd": str(cwd), "environ": environ, "session": False}
        with contextlib.ExitStack() as stack:
            printed = [stack.enter_context(output.open("ab")).fileno() for output in outputs]
            nothing = stack.enter_context(open(os.devnull, "rb"))
            return Started(self.address, wish, [nothing.fileno(), printed[0], printed[-1]])

    def start(
        self, words: list[str], cwd: Path, environ: dict[str, str], apart: bool, timeout: int
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            outputs = [Path(folder) / name for name in (("out", "err") if apart else ("out",))]
            started = self.begin(words, cwd, environ, outputs)
            ended = started.poll(timeout) is not None
            code = started.end()
            if not ended:
                raise subprocess.TimeoutExpired(words, timeout)
            printed = [output.read_text() for output in outputs]
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


def serve(folder: str) -> tuple[dict[str, Any], list[int]]:
    """Fork for each wish; returns it, with its three streams, in the process that is to become it."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address_in(folder))
        listener.listen(64)
        print(address_in(folder), flush=True)
        while True:
            ready = select.select([listener, sys.stdin], [], [])[0]
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if sys.stdin in ready:
                shutil.rmtree(folder)
                os._exit(0)
            connection = listener.accept()[0]
            if not os.fork():
                return watch(connection)
            connection.close()


def address_in(folder: str) -> str:
    return os.path.join(folder, "starter")


def watch(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork once more: a process a wish tells how it ended, so that many can run at once."""
    handles = array.array("i", [0, 0, 0])
    ((_, _, numbers),) = connection.recvmsg(1, socket.CMSG_SPACE(3 * handles.itemsize))[1]
    handles = array.array("i", numbers)
    wish = json.loads(connection.makefile("rb").readline())
    pid = os.fork()
    if pid:
        for handle in handles:
            os.close(handle)
        status = os.waitpid(pid, 0)[1]
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        with contextlib.suppress(OSError):  # who asked has ended
            connection.sendall(b"%d\n" % code)
        os._exit(0)
    if wish["session"]:
        os.setsid()
    connection.sendall(b"%d\n" % os.getpid())
    connection.close()
    return wish, list(handles)


def become(wish: dict[str, Any], handles: Sequence[int], path: list[str]) -> None:
    """Make this process what was wished for."""
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
    for handle in handles:
        os.close(handle)
    os.chdir(wish["cwd"])
    os.environ.clear()
    os.environ.update(wish["environ"])
    sys.path[:] = [wish["cwd"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *path]
    sys.argv[:] = wish["words"]
    random.seed()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # also where the tests run in the background, which ignores it


if __name__ == "__main__":
    load()
    gc.freeze()
    here, *rest = sys.path
    place = tempfile.mkdtemp()
    wish, streams = serve(place)
    become(wish, streams, rest)
    if wish["words"][0] == "flakeboard":
        subprocess.Popen = forked_pytest(address_in(place))  # type: ignore[misc]
    runpy.run_module(wish["words"][0], run_name="__main__", alter_sys=True)
