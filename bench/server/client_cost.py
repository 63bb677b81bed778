"""What the client adds: `flakeboard run` to a green command, with a real server, and its plugin to a suite of pytest."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings

from bench.outcome import Outcome
from bench.server.site import site
from bench.suites import document
from ingest.models import Token
from ingest.services import project_create, token_create
from tests.paths import ROOT

ROUNDS, PLUGIN_ROUNDS = 15, 5
CASES, TESTS = 1_000, 5_000
MILLISECONDS, SHARE = 150, 3
_ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT / "client")}


def run() -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(prefix="flakeboard-bench-") as folder:
        with site(Path(settings.HOME)) as place:
            project = project_create(slug="client", name="Client")
            token = token_create(project=project, name="ci", scope=Token.Scope.UPLOAD)[1]
            reach = {
                "FLAKEBOARD_URL": f"http://127.0.0.1:{place.port}",
                "FLAKEBOARD_PROJECT": project.slug,
                "FLAKEBOARD_TOKEN": token,
            }
            yield from _green_command(Path(folder), reach)
        yield from _plugin(Path(folder))


def _green_command(folder: Path, reach: dict[str, str]) -> Iterator[Outcome]:
    """A command that writes a report and is green, alone and with the client, in turn."""
    (folder / "source.xml").write_bytes(document(range(CASES), every=0))
    command = [sys.executable, "-I", "-S", "-c", "import shutil; shutil.copy('source.xml', 'report.xml')"]
    client = [sys.executable, "-m", "flakeboard", "run", "--report", "report.xml", "--", *command]
    environ = {**os.environ, **_ALONE, **reach, "GIT_DIR": str(folder)}
    alone, with_client = _in_turn(
        ROUNDS, lambda: _wall(command, folder, environ), lambda: _wall(client, folder, environ)
    )
    added = 1_000 * (statistics.median(with_client) - statistics.median(alone))
    yield Outcome(f"`flakeboard run` adds to a green command with {CASES:,} tests", added, "ms", most=MILLISECONDS)


def _plugin(folder: Path) -> Iterator[Outcome]:
    """Empty tests, without and with the plugin, by processor time: the best of some rounds in turn."""
    tests = "".join(f"def test_{number}():\n    pass\n\n" for number in range(TESTS))
    (folder / "test_empty.py").write_text(tests)
    usual = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=own.xml", "test_empty.py"]
    environ = {**os.environ, **_ALONE}
    without, with_plugin = _in_turn(
        PLUGIN_ROUNDS,
        lambda: _processor(usual, folder, environ),
        lambda: _processor([*usual, "-p", "flakeboard.pytest_plugin"], folder, environ),
    )
    share = 100 * (min(with_plugin) / min(without) - 1)
    yield Outcome(f"the plugin adds to {TESTS:,} empty tests", share, "%", most=SHARE)


def _in_turn(rounds: int, first: Callable[[], float], second: Callable[[], float]) -> tuple[list[float], list[float]]:
    """So that a busy machine slows both."""
    pairs = [(first(), second()) for _ in range(rounds)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _wall(command: list[str], folder: Path, environ: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True)
    return time.perf_counter() - began


def _processor(command: list[str], folder: Path, environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
