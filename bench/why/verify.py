"""Verify: how often a fix is told as effective, and how often one that does nothing; on made rates many times, and
once at two revisions of a real repository."""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flakeboard.verification.comparison import EFFECTIVE, Comparison

from bench.outcome import Outcome
from tests.paths import ROOT

RATES = (0.05, 0.1, 0.2, 0.5)
RUNS = 300
REPETITIONS = 400
_REAL_RUNS = 25
_TEST = "import random\n\n\ndef test_it():\n    assert random.SystemRandom().random() > {rate}\n"


def run() -> Iterable[Outcome]:
    draw = random.Random(20_261_117)  # noqa: S311 - a bench must be repeatable
    for rate in RATES:
        shares = {"fixed": _told(draw, rate, 0.0), "not changed": _told(draw, rate, rate)}
        where = f"verify, rate {rate:.0%}, {RUNS} runs a side, {REPETITIONS} times"
        yield Outcome(f"{where}: a fix is told as effective", shares["fixed"], least=0.9)
        yield Outcome(f"{where}: no change is told as effective", shares["not changed"], most=0.05)
    yield from _real()


def _told(draw: random.Random, before: float, after: float) -> float:
    def failed(rate: float) -> int:
        return sum(draw.random() < rate for _ in range(RUNS))

    comparisons = (Comparison(failed(before), RUNS, failed(after), RUNS) for _ in range(REPETITIONS))
    return sum(comparison.outcome == EFFECTIVE for comparison in comparisons) / REPETITIONS


def _real() -> Iterable[Outcome]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        test = folder / "test_it.py"
        test.write_text(_TEST.format(rate=0.5))
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "flaky"]):
            subprocess.run(["git", *identity, *words], cwd=folder, check=True)
        test.write_text(_TEST.format(rate=-1.0))
        for words in (["commit", "-q", "-a", "-m", "mended"],):
            subprocess.run(["git", *identity, *words], cwd=folder, check=True)
        for after, bar in (("HEAD", 1), ("HEAD~1", 0)):
            environ = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            options = ["--before", "HEAD~1", "--after", after, "--runs", str(_REAL_RUNS), "--offline", "--json"]
            command = [sys.executable, "-m", "flakeboard", "verify", "test_it.py::test_it", *options]
            done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
            answer = json.loads(done.stdout)
            print(f"    {answer['sentence']}", flush=True)
            what = f"verify, real processes, {_REAL_RUNS} runs a side, {'fixed' if bar else 'not changed'}"
            yield Outcome(f"{what}: effective", answer["outcome"] == EFFECTIVE, least=bar or None, most=bar)
