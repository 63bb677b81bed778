"""What tracing costs: processor time of real suites with and without it, and bytes of an execution."""

import gzip
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flakeboard.traces.reader import read_traces

from bench.detection.subjects import unpacked
from bench.outcome import Outcome
from tests.paths import ROOT

EMPTY_TESTS = 5_000
"""Of a suite that takes a few seconds, by which the plugin is judged where nothing is asked of it."""
SUITES = ("six-c0be8815", "dotty_dict-ae87e3fb", "pythondi-913e6a60")
TURNS = 7
_MONITORING = sys.version_info >= (3, 12)


def environ() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "client"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONHASHSEED": "1",
    }


def run() -> Iterable[Outcome]:
    seconds = dict.fromkeys(("bare", "off", "sources", "functions", "calls"), 0.0)
    sizes: dict[str, list[int]] = {"sources": [], "calls": []}
    for suite in SUITES:
        with tempfile.TemporaryDirectory() as folder:
            project = unpacked(suite, Path(folder))
            for name, usual in _usual(project, folder).items():
                seconds[name] += usual
            for level in sizes:
                sizes[level] += _sizes(Path(folder) / level)
    times = {name: found / seconds["bare"] for name, found in seconds.items()}
    version = "{}.{}".format(*sys.version_info)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_it.py").write_text(_EMPTY)
        usual = _usual(Path(folder), folder, ("bare", "off"))
    where = f"processor time on {version}, plugin on and nothing asked, {EMPTY_TESTS:,} empty tests"
    yield Outcome(f"{where}, times", usual["off"] / usual["bare"], most=1.01)
    yield Outcome(f"{where.replace(f'{EMPTY_TESTS:,} empty tests', 'small suites')}, times", times["off"], most=1.05)
    yield Outcome(f"processor time on {version}, sources, times", times["sources"], most=1.15 if _MONITORING else 1.30)
    bar = 1.20 if _MONITORING else None
    yield Outcome(f"processor time on {version}, functions, times", times["functions"], most=bar)
    yield Outcome(f"processor time on {version}, calls, times", times["calls"], most=4)
    for level, most in (("sources", 2_048), ("calls", 8_192)):
        yield Outcome(f"bytes of an execution, {level}, median", statistics.median(sizes[level]), "bytes", most=most)


_EMPTY = f"""
import pytest

@pytest.mark.parametrize("number", range({EMPTY_TESTS}))
def test_it(number):
    pass
"""


def _usual(project: Path, folder: str, chosen: tuple[str, ...] | None = None) -> dict[str, float]:
    """Median seconds of each way, in turn, so that a busy machine harms all alike."""
    plugin = ("-p", "flakeboard.pytest_plugin")
    ways: dict[str, tuple[str, ...]] = {"bare": (), "off": plugin}
    for level in ("sources", "functions", "calls"):
        out = f"--flakeboard-trace-folder={folder}/{level}"
        ways[level] = (*plugin, "--flakeboard-trace=all", f"--flakeboard-trace-level={level}", out)
    ways = {name: options for name, options in ways.items() if chosen is None or name in chosen}
    measured: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(TURNS):
        for name, options in ways.items():
            measured[name].append(_processor_seconds(project, options))
    return {name: statistics.median(seconds) for name, seconds in measured.items()}


def _processor_seconds(project: Path, options: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    subprocess.run(command, cwd=project, env=environ(), capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _sizes(folder: Path) -> list[int]:
    """Compressed bytes of each execution's line; tables are shared and not counted."""
    lines = (folder / "flakeboard-trace.jsonl").read_bytes().splitlines()
    read_traces(b"\n".join(lines) + b"\n")
    return [len(gzip.compress(line, mtime=0)) for line in lines if line.startswith(b'{"test"')]
