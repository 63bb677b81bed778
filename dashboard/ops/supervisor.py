"""Child processes: started, restarted when they crash, stopped together. Nothing here knows what they do."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar

_CALM_SECONDS = 30
"""A child that ran this long before it ended starts again at once."""
_LONGEST_PAUSE = 15.0
_PR_SET_PDEATHSIG = 1
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _die_with_parent() -> None:
    """Linux: the kernel ends the child when its parent is gone, even by kill -9."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def say(line: str) -> None:
    """Tell the person at the terminal."""
    sys.stderr.write(f"flakeboard: {line}\n")
    sys.stderr.flush()


class ForkedProcess:
    """What `subprocess.Popen` is for a command, for a function in a copy of this process.

    The copy shares the memory of what is loaded already. When this process is gone, even by kill -9, the copy and all
    that it has started end at once."""

    _lifelines: ClassVar[set[int]] = set()
    """This process's ends of the pipes to its copies. Nobody writes into them: they close when this process is gone."""

    def __init__(self, run: Callable[[], object]) -> None:
        self.returncode: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        theirs, self._ours = os.pipe()
        self._lifelines.add(self._ours)
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(self._exit_code_of(run, theirs))
        os.close(theirs)

    def poll(self) -> int | None:
        return self._look(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._look(os.WNOHANG if deadline is not None else 0) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            time.sleep(0.05)
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def _look(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
                self._lifelines.remove(self._ours)
                os.close(self._ours)
        return self.returncode

    def _exit_code_of(self, run: Callable[[], object], lifeline: int) -> int:
        """Run it as a command would: in a session of its own, with signals as they are at a start."""
        try:
            os.setsid()
            while self._lifelines:
                os.close(self._lifelines.pop())
            threading.Thread(target=_end_after, args=(lifeline,), name="lifeline", daemon=True).start()
            for number in _STOPPING:
                signal.signal(number, signal.SIG_DFL)
            run()
            code = 0
        except SystemExit as end:
            if isinstance(end.code, str):
                sys.stderr.write(f"{end.code}\n")
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 1
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        return code


def _end_after(lifeline: int) -> None:
    """Reading ends when the other end of the pipe is gone."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


@dataclass
class Child:
    name: str
    command: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    """What it finds in its environment besides ours."""
    stop_seconds: float = 20.0
    quiet: bool = False
    """Without its standard output, where each Celery worker says good-bye; logs and errors go elsewhere."""
    pass_fds: Sequence[int] = ()
    """Files that it has open from its start."""
    process: "subprocess.Popen[bytes] | ForkedProcess | None" = None
    started: float = 0.0
    due: float = 0.0
    pause: float = 0.5

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = self._spawn()

    def _spawn(self) -> "subprocess.Popen[bytes] | ForkedProcess":
        return subprocess.Popen(
            self.command,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if self.quiet else None,
            start_new_session=True,
            preexec_fn=_die_with_parent,
            pass_fds=self.pass_fds,
        )

    def watch(self, say: Callable[[str], None]) -> None:
        """Start again what has ended: at once after a calm life, else after a pause that doubles."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            code = self.process.returncode
            self._end_group()
            self.process = None
            self.pause = 0.5 if now - self.started > _CALM_SECONDS else min(self.pause * 2, _LONGEST_PAUSE)
            self.due = now + self.pause
            say(f"{self.name} ended ({_ending(code)}); it starts again in {self.pause:g} s")
        if self.process is None and now >= self.due:
            self.start()

    def ask_to_stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def stop(self) -> None:
        if self.process is None:
            return
        self.ask_to_stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(self.stop_seconds)
        self._end_group()
        self.process.wait()
        self.process = None

    def _end_group(self) -> None:
        """End what the child left behind: its own children, where it could not end them itself."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


@dataclass
class ForkedChild(Child):
    """A function in a copy of this process."""

    run: Callable[[], object] = lambda: None

    def _spawn(self) -> ForkedProcess:
        return ForkedProcess(self.run)


def _ending(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@dataclass
class Supervisor:
    say: Callable[[str], None] = say
    children: list[Child] = field(default_factory=list)
    watchers: list[Callable[[], None]] = field(default_factory=list)
    """Called at every turn: other things to keep alive."""
    farewell: str = "stopping …"
    _stopping: bool = False

    def stop_on_signals(self) -> None:
        for number in _STOPPING:
            signal.signal(number, self.stop)

    def stop(self, *_: object) -> None:
        """Let `run` end, at its next turn."""
        self._stopping = True

    def run(self) -> None:
        """Keep everything running until asked to stop; then stop it."""
        try:
            for child in self.children:
                if child.process is None:
                    child.start()
            while not self._stopping:
                for watch in self.watchers:
                    watch()
                for child in self.children:
                    child.watch(self.say)
                time.sleep(0.2)
        finally:
            if self.farewell:
                self.say(self.farewell)
            for child in self.children:
                child.ask_to_stop()
            for child in self.children:
                child.stop()
