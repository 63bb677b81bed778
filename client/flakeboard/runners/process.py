"""The command as a child process: output and signals pass through, and its exit code is kept exactly."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from types import FrameType
from typing import Any, Callable, Mapping, Sequence

_FORWARDED = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)
NOT_FOUND, NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True)
class CommandResult:
    code: int
    """As `subprocess` returns it: negative for the signal that killed it."""
    started: float
    seconds: float
    cancelled: bool = False
    """We received a signal to stop while it ran."""
    problem: str = ""
    """Why it could not be started."""

    @property
    def exit_code(self) -> int:
        """The exit code as a shell reports it."""
        return 128 - self.code if self.code < 0 else self.code


def run(
    command: Sequence[str],
    environ: Mapping[str, str] | None = None,
    seconds: float | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> CommandResult:
    """Run the command to its end and forward our signals to it. Past `seconds` it is terminated, then killed.

    `meanwhile` is called once the command runs."""
    started, began = time.time(), time.monotonic()
    forwarding = _Forwarding()
    with forwarding:
        try:
            process = subprocess.Popen(list(command), env=dict(environ) if environ is not None else None)
        except OSError as error:
            code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
            return CommandResult(code, started, 0.0, problem=f"{command[0]}: {error.strerror or error}")
        forwarding.begin(process)
        meanwhile()
        code = _wait(process, seconds)
    return CommandResult(code, started, time.monotonic() - began, forwarding.cancelled)


def _wait(process: subprocess.Popen[bytes], seconds: float | None) -> int:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        return process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait()


class _Forwarding:
    """Forwards the signals we receive to the child while it runs, so that we outlive it and see its exit code.

    It is entered before the child starts: what arrives meanwhile is kept for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: list[int] = []
        self._before: dict[int, Any] = {}
        self.cancelled = False

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._waiting:
            self._send(process, number)

    def __enter__(self) -> None:
        for number in _FORWARDED:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue  # under nohup: a signal that our caller ignores stays ignored
            try:
                self._before[number] = signal.signal(number, self._pass_on)
            except (ValueError, OSError):
                continue  # not in the main thread, or a signal that cannot be handled

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self.cancelled = self.cancelled or number in _STOPPING
        if self._process is None:
            self._waiting.append(number)
        elif number != signal.SIGINT or not _from_terminal():
            self._send(self._process, number)
        # else the terminal sends Ctrl-C to the child as well: twice would be a second Ctrl-C

    def _send(self, process: subprocess.Popen[bytes], number: int) -> None:
        try:
            process.send_signal(number)
        except OSError:
            return  # it has just ended


_STOPPING = tuple(number for number in _FORWARDED if not signal.Signals(number).name.startswith("SIGUSR"))


def _from_terminal() -> bool:
    """Whether we are in the foreground of a terminal, where Ctrl-C reaches the whole process group."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):
        return False
