"""Child processes: started, restarted when they crash, stopped together. Nothing here knows what they do."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

_CALM_SECONDS = 30
"""A child that ran this long before it ended starts again at once."""
_LONGEST_PAUSE = 15.0
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Linux: the kernel ends the child when its parent is gone, even by kill -9."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass
class Child:
    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    """What it finds in its environment besides ours."""
    stop_seconds: float = 20.0
    quiet: bool = False
    """Without its standard output, where each Celery worker says good-bye; logs and errors go elsewhere."""
    process: "subprocess.Popen[bytes] | None" = None
    started: float = 0.0
    due: float = 0.0
    pause: float = 0.5

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            self.command,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if self.quiet else None,
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
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

    def _end_group(self) -> None:
        """End what the child left behind: its own children, where it could not end them itself."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def _ending(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


@dataclass
class Supervisor:
    say: Callable[[str], None]
    children: list[Child] = field(default_factory=list)
    watchers: list[Callable[[], None]] = field(default_factory=list)
    """Called at every turn: other things to keep alive."""
    _stopping: bool = False

    def stop_on_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.stop)

    def stop(self, *_: object) -> None:
        """Let `run` end, at its next turn."""
        self._stopping = True

    def run(self) -> None:
        """Keep everything running until asked to stop; then stop it."""
        try:
            for child in self.children:
                child.start()
            while not self._stopping:
                for watch in self.watchers:
                    watch()
                for child in self.children:
                    child.watch(self.say)
                time.sleep(0.2)
        finally:
            self.say("stopping …")
            for child in self.children:
                child.ask_to_stop()
            for child in self.children:
                child.stop()
