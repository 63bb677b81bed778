"""A real pytest project in a folder of its own, whose tests fail as they are told, and `flakeboard run` in it."""

import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.client.commands import environ_with, flakeboard

SYSTEM = platform.system()
_SPECIAL = ["flaky", "quarantined", "broken", "other_branch", "other_system", "expired", "released", "new"]
NAMES = [f"test_{name}" for name in (*_SPECIAL, *(f"good_{number:02}" for number in range(20)), "late", "last")]
"""In order of execution. `test_late` is quarantined; one test comes after it."""

_NOT_NEEDED = ("cacheprovider", "doctest", "unittest")
"""Parts of pytest that take a fifth of its time to load."""
_TESTS = '''
import os, pathlib

def check(name):
    """Fails if FAILS names the test; with `:n`, its first n times only."""
    for word in os.environ.get("FAILS", "").split():
        failing, _, times = word.partition(":")
        if failing == name:
            log = pathlib.Path(name + ".ran")
            before = len(log.read_text()) if log.exists() else 0
            log.write_text("x" * (before + 1))
            assert times and before >= int(times), "attempt %d" % (before + 1)
'''
_CONFTEST = '''
import os, pathlib, pytest

how, _, what = os.environ.get("MISBEHAVES", "").partition(" ")

def pytest_sessionfinish(session):
    if how == "exits":
        session.exitstatus = int(what)

def pytest_runtest_logfinish(nodeid):
    if how == "internal" and "test_last" in nodeid:
        raise RuntimeError("a plugin broke")

def pytest_runtest_setup(item):
    if how == "interrupted" and item.name == "test_last":
        raise KeyboardInterrupt

@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """The report is written by now."""
    report = pathlib.Path(config.option.xmlpath or "none")
    if how == "killed":
        os.kill(os.getpid(), int(what))
    if how == "removes":
        report.unlink()
    if how == "truncates":
        report.write_bytes(report.read_bytes()[:-1500])
    if how == "garbles":
        report.write_bytes(b"<html>not a report</html>")
'''


@dataclass(frozen=True)
class Ran:
    """How `flakeboard run` ended, and what a person read."""

    exit_code: int
    output: str

    @property
    def verdict(self) -> list[str]:
        """The lines that Flakeboard wrote, from the verdict on. A runner that was killed has not ended its own line."""
        found = [*re.finditer("flakeboard: (?:PASS|FAIL|NOT DECIDED): ", self.output)]
        return self.output[found[-1].start() :].splitlines() if found else []


class Shop:
    """The project's folder, and how its CI job starts the tests: on a branch of its own, since what fails on the default
    branch is broken there for every run that comes after it."""

    def __init__(self, folder: Path, url: str, token: str, job: str) -> None:
        self.folder, self.job = folder, job
        folder.mkdir(parents=True, exist_ok=True)
        bodies = "".join(f"\ndef {name}():\n    check({name!r})\n" for name in NAMES)
        self.write("test_shop.py", _TESTS + bodies)
        self.write("conftest.py", _CONFTEST)
        self._environ = {
            "FLAKEBOARD_URL": url,
            "FLAKEBOARD_PROJECT": "my-project",
            "FLAKEBOARD_TOKEN": token,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def pytest(self, *arguments: str) -> list[str]:
        without = [word for plugin in _NOT_NEEDED for word in ("-p", f"no:{plugin}")]
        return [sys.executable, "-m", "pytest", "-q", *without, "--tb=no", *arguments]

    def _told(self, options: Sequence[str]) -> list[str]:
        return ["--job", self.job, "--branch", f"change/{self.job}", "--timeout", "60", *options]

    def start(
        self, command: Sequence[str], options: Sequence[str] = (), environ: dict[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """`flakeboard run` as a process of its own, in a session of its own, with nobody's signals ignored."""
        return subprocess.Popen(
            [sys.executable, "-m", "flakeboard", "run", *self._told(options), "--", *command],
            cwd=self.folder,
            env=environ_with(**{**self._environ, **(environ or {})}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(
        self,
        *arguments: str,
        command: Sequence[str] = (),
        options: Sequence[str] = (),
        anew: bool = False,
        typed: str = "",
        **environ: str,
    ) -> Ran:
        """Run pytest, or another command, to its end: forked from a process that has pytest loaded, unless an
        interpreter that starts anew, or a pipe for what it reads and prints, is a part of the matter."""
        wanted = command or self.pytest(*arguments)
        if anew or typed:
            with self.start(wanted, options, environ) as process:
                output, _ = process.communicate(typed, timeout=300)
                return Ran(process.returncode, output)
        done = flakeboard("run", *self._told(options), "--", *wanted, cwd=self.folder, environ=self._environ | environ)
        return Ran(done.returncode, done.stdout)

    def ready(self, name: str = "ready") -> bool:
        return os.path.exists(self.folder / name)
