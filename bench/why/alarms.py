"""False alarms: runs of stable tests whose labels are drawn by coin have no cause, and mostly none must be told."""

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flakeboard.differences.comparison import compare
from flakeboard.differences.runs import Interned, Run, run_of
from flakeboard.traces.reader import read_traces

from bench.outcome import Outcome
from bench.why.cost import environ
from tests.lab.kit.truth import KIT
from tests.paths import ROOT

RUNS = 16
DRAWS = 200
SIGNIFICANT = 0.05


def run() -> Iterable[Outcome]:
    draw = random.Random(20_261_117)
    alarms = 0
    by_test = _recorded()
    tests = sorted(by_test)
    for number in range(DRAWS):
        runs = by_test[tests[number % len(tests)]]
        failing = set(draw.sample(range(len(runs)), 6))
        labelled = [each._replace(failed=place in failing, failed_at=None) for place, each in enumerate(runs)]
        found = compare(labelled)
        alarms += any(difference.chance <= SIGNIFICANT for difference in found.differences)
    yield Outcome(f"stable twins, labels by coin, {DRAWS} draws: told as a difference", alarms / DRAWS, most=0.08)


def _recorded() -> dict[str, list[Run]]:
    """Runs of all stable twins."""
    found: dict[str, list[Run]] = {}
    interned = Interned()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(RUNS):
            out = Path(folder) / str(number)
            options = ["--flakeboard-trace=all", f"--flakeboard-trace-folder={out}", "-p", "flakeboard.pytest_plugin"]
            command = [sys.executable, "-m", "pytest", "-q", *options, *(truth.twin for truth in KIT)]
            subprocess.run(command, cwd=ROOT / "tests" / "lab" / "kit", env=environ(), capture_output=True, check=False)
            file = read_traces((out / "flakeboard-trace.jsonl").read_bytes())
            for trace in file.traces:
                found.setdefault(trace.test, []).append(run_of(file, trace, interned))
    return found
