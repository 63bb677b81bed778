"""Flaky tests of real projects: whether `flakeboard why` reproduces them, and names their cause among the first three."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from bench.detection.subjects import unpacked
from bench.outcome import Outcome
from bench.peers.environments import Absent, python_with
from tests.paths import DATA, ROOT

RUNS, BUDGET = 300, "15m"
PACKAGES = ("pytest==9.2.0", "boltons==26.2.0")


class Subject(NamedTuple):
    archive: str
    test: str
    callees: tuple[str, ...]
    facts: tuple[str, ...]
    """What decides, by the name of a call or of a fact."""


SUBJECTS = (
    Subject(
        "lithoxyl-9961553a",
        "lithoxyl/tests/test_stats.py::test_momentacc_norm",
        ("random.gauss", "random.Random.gauss"),
        ("random", "tests_before"),
    ),
    Subject(
        "RandomFileTree-aaaa975a",
        "randomfiletree/test/test_core.py::TestTreeCreation::test_create_random_dirs",
        ("random.gauss", "random.Random.gauss"),
        ("random",),
    ),
)


def run() -> Iterable[Outcome]:
    present = [subject for subject in SUBJECTS if (DATA / "subjects" / f"{subject.archive}.tar.gz").exists()]
    try:
        python = python_with("subjects", PACKAGES)
    except Absent as absent:
        yield Outcome(f"real subjects: {absent}", 0, aim="not measured")
        return
    reproduced = named = 0
    for subject in present:
        answer = answer_of(subject, python)
        failing = answer.get("runs", {}).get("failing", 0)
        print(f"    {subject.test}: {answer.get('sentence', '')}", flush=True)
        reproduced += failing > 0
        named += any(names(subject, each) for each in answer.get("differences", [])[:3])
    yield Outcome(f"real subjects reproduced in {RUNS} runs, of {len(present)}", reproduced, least=len(present))
    yield Outcome(f"real subjects: cause among the first three, of {len(present)}", named, least=len(present))


def names(subject: Subject, difference: dict[str, Any]) -> bool:
    return difference.get("callee") in subject.callees or difference.get("fact") in subject.facts


def answer_of(subject: Subject, python: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        project = unpacked(subject.archive, Path(folder))
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        options = ["--runs", str(RUNS), "--budget", BUDGET, "--offline", "--json"]
        command = [python, "-m", "flakeboard", "why", subject.test, *options]
        done = subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"sentence": done.stderr.strip()[-300:]}
    return found
