"""What recording reach costs: processor time of real suites on Python 3.12 or newer, with it, without it, and beside
coverage.py with a context a test; and bytes that are sent of a test."""

import gzip
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.detection.subjects import unpacked
from bench.outcome import Outcome
from bench.peers.environments import FOLDER, Absent
from tests.paths import ROOT

SUBJECTS = ("six-c0be8815", "dotty_dict-ae87e3fb")
JINJA = "jinja2==3.1.6"
PACKAGES = ("pytest", "coverage", "pytest-cov", "markupsafe", "trio")
TURNS = int(os.environ.get("TURNS", "3"))


def newest_python() -> str:
    """An interpreter with `sys.monitoring`, from PATH or from pyenv; or nothing."""
    kept = sorted(map(str, Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python")))
    named = [shutil.which(f"python3.{minor}") for minor in range(12, 20)]
    check = "import sys; sys.monitoring"
    for found in (sys.executable, *kept, *named):
        if found and subprocess.run([found, "-c", check], capture_output=True, check=False).returncode == 0:
            return found
    return ""


def environment(python: str) -> tuple[str, Path]:
    """An interpreter with what the suites need, and the sources of Jinja; made once and kept. Raises Absent."""
    folder = FOLDER / "reach"
    own, sources = folder / "bin" / "python", folder / "jinja"
    if not (folder / "installed.txt").exists():
        commands = [
            [python, "-m", "venv", "--clear", str(folder)],
            [str(own), "-m", "pip", "install", "--quiet", *PACKAGES],
            [
                str(own),
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--no-binary",
                ":all:",
                JINJA,
                "-d",
                str(sources),
            ],
        ]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Absent((done.stderr.strip().splitlines() or ["pip failed"])[-1])
        (folder / "installed.txt").write_text("\n".join(PACKAGES))
    return str(own), next(sources.glob("*.tar.gz"))


def run() -> Iterable[Outcome]:
    base = newest_python()
    if not base:
        yield Outcome("cost of reach: no Python 3.12 or newer is here", 0, aim="not measured")
        return
    try:
        python, jinja = environment(base)
    except Absent as absent:
        yield Outcome(f"cost of reach: {absent}", 0, aim="not measured")
        return
    seconds = dict.fromkeys(("bare", "reach", "contexts"), 0.0)
    sizes = []
    for name in ("jinja", *SUBJECTS):
        with tempfile.TemporaryDirectory() as folder:
            project = _jinja(jinja, Path(folder)) if name == "jinja" else unpacked(name, Path(folder))
            for way, usual in _usual(python, project).items():
                seconds[way] += usual
            sizes.append(_bytes_a_test(project / "flakeboard-reach.jsonl"))
    version = subprocess.run([python, "-V"], capture_output=True, text=True, check=False).stdout.split()[-1]
    yield Outcome(
        f"reach on {version}: processor time against no plugin", seconds["reach"] / seconds["bare"], most=1.20
    )
    against = seconds["reach"] / seconds["contexts"]
    yield Outcome("reach: processor time against coverage.py with a context a test", against, most=0.30)
    yield Outcome("reach: bytes a test as they are sent, the largest of the suites", max(sizes), "bytes", most=300)


def _jinja(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (project,) = [path for path in folder.iterdir() if path.is_dir()]
    return project


def _usual(python: str, project: Path) -> dict[str, float]:
    """Median seconds of each way, in turn, so that a busy machine harms all alike."""
    ways = {
        "bare": (),
        "reach": ("-p", "flakeboard.pytest_plugin", "--flakeboard-reach"),
        "contexts": ("-p", "pytest_cov", "--cov=.", "--cov-branch", "--cov-context=test", "--cov-report="),
    }
    measured: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(TURNS):
        for way, options in ways.items():
            measured[way].append(_processor_seconds(python, project, options))
    return {way: statistics.median(seconds) for way, seconds in measured.items()}


def _processor_seconds(python: str, project: Path, options: tuple[str, ...]) -> float:
    environ = {**os.environ, "PYTHONPATH": f"{project / 'src'}{os.pathsep}{ROOT / 'client'}", "COVERAGE_CORE": "ctrace"}
    environ.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=project, env=environ, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _bytes_a_test(path: Path) -> float:
    content = path.read_bytes()
    return len(gzip.compress(content, mtime=0)) / max(content.count(b'\n{"test"'), 1)
