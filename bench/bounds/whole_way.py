"""From a random test to a bound that holds, with real pytest: measured, patched, run again, and broken on purpose."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flakeboard import runners
from flakeboard.bounds.laboratory import Laboratory
from flakeboard.bounds.measurement import Findings, measure
from flakeboard.bounds.parameters import Parameters
from flakeboard.bounds.patches import patch_of_all
from flakeboard.bounds.series import SiteSeries

from analytics.values.conclusions import Series, conclude
from bench.outcome import Outcome

COMMAND = (
    sys.executable,
    "-m",
    "pytest",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:django",
    "-c",
    os.devnull,
    "--rootdir",
    ".",
)
RANDOM = """
import numpy as np

def test_draw():
    x = np.random.default_rng(42).normal({mean})
    assert x < 1.645
"""
STATISTICS = """
import numpy as np
from scipy import stats

def test_kolmogorov():
    sample = stats.gamma(2).rvs(size=200, random_state=np.random.default_rng(0))
    statistic = stats.kstest(sample, stats.gamma(2).cdf).statistic
    assert statistic < 0.1

def test_mean_of_a_chain():
    rng = np.random.default_rng(1)
    steps = rng.normal(size=400)
    chain = np.zeros(400)
    for place in range(1, 400):
        chain[place] = 0.5 * chain[place - 1] + steps[place]
    np.testing.assert_allclose(chain.mean(), 0, atol=0.3)

def test_single_precision():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(50, 50)), rng.normal(size=(50, 50))
    exact = a @ b
    assert np.abs(a.astype("f4") @ b.astype("f4") - exact).max() < 1e-4
"""


_PER_PROCESS = 250
"""Runs of a test that keeps nothing in its process: thousands of them take seconds."""


@dataclass
class Workplace:
    """A folder with one test file, and its tests measured there."""

    folder: Path

    def ran(self, test: str, runs: int) -> Findings:
        """Exactly so many runs, however sure the bounds are before."""
        return self.measured(test, runs, exactly=True)

    def measured(self, test: str, runs: int, exactly: bool = False, **how: Any) -> Findings:
        parameters = Parameters(test, COMMAND, runs=runs, budget=3_600.0, **how)
        call = runners.find(COMMAND)
        assert call is not None
        before = os.getcwd()
        os.chdir(self.folder)
        lab = Laboratory(parameters, call)
        try:
            name = lab.find(test)
            if not exactly:
                return measure(lab, parameters, name, in_process, lambda text: None)
            found = Findings(name, lab.run(name, runs, _PER_PROCESS))
            found.answer = in_process(found.series, len(found.runs), found.failed, False)
            return found
        finally:
            lab.close()
            os.chdir(before)

    def patched(self, findings: Findings) -> bool:
        """Apply what is proposed, as a person would."""
        assert findings.answer is not None
        (self.folder / "bound.patch").write_text(patch_of_all(str(self.folder), findings.answer["sites"]))
        command = ["git", "apply", "bound.patch"]
        environ = {**os.environ, "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
        return subprocess.run(command, cwd=self.folder, env=environ, check=False, capture_output=True).returncode == 0


def in_process(series: Sequence[SiteSeries], runs: int, failed: int, keep: bool) -> Mapping[str, Any]:
    """What the server answers, without one; through JSON, as over the wire."""
    sites = []
    for each in series:
        body = json.loads(json.dumps(each.as_json()))
        values = np.array([float(value) for value in body["values"]])
        found = conclude(Series(body["kind"], body["op"], values, np.full(len(values), float(body["bound"]))))
        sites.append({**{name: body[name] for name in ("file", "line", "ordinal")}, "conclusion": found})
    return {"sites": sites, "stored": 0, "url": "", "runs_a_day": None}


def run(runs: int = 1_000, again: int = 3_000) -> Iterable[Outcome]:
    with tempfile.TemporaryDirectory(prefix="fb-bench-") as folder:
        yield from _normal(Workplace(Path(folder)), runs, again)
    with tempfile.TemporaryDirectory(prefix="fb-bench-") as folder:
        yield from _statistics(Workplace(Path(folder)))


def _normal(place: Workplace, runs: int, again: int) -> Iterable[Outcome]:
    file, test = place.folder / "test_draw.py", "test_draw.py::test_draw"
    file.write_text(RANDOM.format(mean=0))
    found = place.ran(test, runs)
    assert found.answer is not None
    conclusion = found.answer["sites"][0]["conclusion"]
    holds = conclusion["present"]["low"] <= 0.05 <= conclusion["present"]["high"]
    yield Outcome(f"N(0, 1) < 1.645, {len(found.runs):,} runs: the interval holds 5 %", holds, least=1)
    yield Outcome("the bound for 1 in 1,000, at least", conclusion["wanted"]["bound"], least=3.1)
    yield Outcome("the bound for 1 in 1,000, at most", conclusion["wanted"]["bound"], most=5.0)
    yield Outcome("the seed that the test fixes is named", found.seeds == ["test_draw.py:5"], least=1)
    yield Outcome("the patch applies", place.patched(found), least=1)
    bounded = file.read_text()
    quiet = place.ran(test, again)
    yield Outcome(
        f"failures of {len(quiet.runs):,} runs with the proposed bound", quiet.failed, most=max(6, again // 500)
    )
    file.write_text(bounded.replace("normal(0)", "normal(4)"))
    faulty = place.ran(test, min(runs, 200))
    share = faulty.failed / len(faulty.runs)
    yield Outcome(f"runs that fail with a fault (mean 4), of {len(faulty.runs):,}", share, least=0.15)
    file.write_text(bounded)
    kept = place.measured(test, 100, keep_seeds=True)
    assert kept.answer is not None
    constant = kept.answer["sites"][0]["conclusion"]["obstacle"] == "constant" and bool(kept.seeds)
    yield Outcome("with its seed kept it does not vary, and the seed's line is named", constant, least=1)


def _statistics(place: Workplace) -> Iterable[Outcome]:
    """Tests of numpy and scipy that are really random, with bounds as people guess them."""
    (place.folder / "test_statistics.py").write_text(STATISTICS)
    for name in ("test_kolmogorov", "test_mean_of_a_chain", "test_single_precision"):
        found = place.measured(f"test_statistics.py::{name}", 200)
        assert found.answer is not None, found.stopped
        conclusion = found.answer["sites"][0]["conclusion"]
        is_concluded = bool(conclusion["sentence"]) and conclusion["obstacle"] == ""
        yield Outcome(f"{name}: {conclusion['sentence']} {conclusion['advice']}", is_concluded, least=1)
