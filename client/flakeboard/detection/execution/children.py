"""A child process in a group of its own, whose output goes to a file and which is ended with all that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Mapping, Sequence

from flakeboard.problems import Problem

GRACE = 5.0
"""Seconds between the polite signal and the one that cannot be ignored."""
_LINES = 12


class Child:
    def __init__(self, command: Sequence[str], environ: Mapping[str, str], log: str, folder: str | None = None) -> None:
        self._log = log
        with open(log, "wb") as output:
            try:
                self._process = subprocess.Popen(
                    list(command),
                    env=dict(environ),
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise Problem(f"{command[0]} could not be started: {error.strerror or error}") from None

    def wait(self, seconds: float) -> bool:
        """Whether it ended by itself; past its time it is ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
            return False
        self._signal("SIGKILL")
        return True

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def end(self) -> None:
        """SIGTERM to the whole group, then SIGKILL."""
        if self._process.poll() is None:
            self._signal("SIGTERM")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        self._signal("SIGKILL")
        self._process.wait()

    def _signal(self, name: str) -> None:
        """To the group, which outlives its first process as long as anything in it runs."""
        try:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, getattr(signal, name))
            elif self._process.poll() is None:
                self._process.kill()
        except (ProcessLookupError, PermissionError):
            return

    def last_words(self) -> str:
        """The end of its output, for a message about what went wrong."""
        try:
            with open(self._log, "rb") as file:
                text = file.read()[-8_000:].decode("utf-8", "replace")
        except OSError:
            return ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return " / ".join(lines[-_LINES:])


def run_shell(command: str, folder: str | None = None, environ: Mapping[str, str] | None = None) -> int:
    """The exit code of a command that the user wrote for a shell."""
    given = None if environ is None else dict(environ)
    done = subprocess.run(command, shell=True, cwd=folder, env=given, stdin=subprocess.DEVNULL, check=False)  # noqa: S602
    return done.returncode
