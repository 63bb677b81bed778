"""Waits: how near the smallest good value is to the truth, what is told of values that do not matter or fail, FaTB's
search on as many runs, and polling; on made pass rates many times, and once in real processes."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flakeboard.waits.search import NO_EFFECT, RAISE, Search
from flakeboard.why.chances import quantile

from bench.outcome import Outcome
from bench.why.published_rule import PUBLISHED, published_values
from tests.lab.waits.made import MadeWait
from tests.paths import ROOT

THRESHOLDS = (0.02, 0.05, 0.12, 0.3)
NOW = 0.5
SEEDS = 25
JUDGED = 1_000
"""Runs at the smallest good value."""
_REAL = 0.05
_OBSERVED, _POLLED = 3, 30
_TEST = """
import os, random, threading, time


class Worker:
    done = False

    def __init__(self):
        self.began = time.perf_counter()
        threading.Timer(0.05 * random.SystemRandom().uniform(0.9, 1.1), self.end).start()

    def end(self):
        self.done = True
        needed = time.perf_counter() - self.began
        with open(os.environ["NEEDED"], "a") as file:
            file.write(f"{needed}\\n")


def test_worker():
    worker = Worker()
    time.sleep(0.4)
    assert worker.done
"""


def run() -> Iterable[Outcome]:
    yield from _nearness()
    yield from _told()
    yield _published()
    yield _against_published()
    yield from _real()


def _nearness() -> Iterable[Outcome]:
    for threshold in THRESHOLDS:
        ratios, failing = [], []
        for seed in range(SEEDS):
            wait = MadeWait(threshold, seed=seed)
            good = wait.search(_now(seed)).good or 0.0
            ratios.append(good / threshold)
            failing.append(sum(wait.fails(good) for _ in range(JUDGED)) / JUDGED)
        where = f"waits, threshold {threshold * 1_000:g} ms, {SEEDS} searches"
        yield Outcome(f"{where}: smallest good by threshold, least", min(ratios), "times", least=1.0)
        yield Outcome(f"{where}: smallest good by threshold, most", max(ratios), "times", most=1.5)
        yield Outcome(f"{where}: failing there, of {JUDGED:,}, most", max(failing), most=0.03)


def _told() -> Iterable[Outcome]:
    searches = [MadeWait(0.0, seed=seed).search(NOW) for seed in range(SEEDS)]
    without_effect = sum(search.verdict == NO_EFFECT for search in searches)
    yield Outcome(f"waits: a value without effect is told as such, of {SEEDS}", without_effect, least=SEEDS)
    shares = [0.5, 0.8, 0.95, 1.0, 1.05]
    raised = [MadeWait(0.3, seed=seed).search(0.3 * share) for share in shares for seed in range(SEEDS // 5)]
    good = sum(search.verdict == RAISE for search in raised)
    yield Outcome(f"waits: a value that fails is raised, of {len(raised)}", good, least=len(raised))


def _published() -> Outcome:
    exact = 0
    for test in PUBLISHED:
        failing = dict(zip(test.values, test.failing, strict=True))
        exact += tuple(published_values(test.values[0], test.pre, failing.__getitem__)) == test.values
    return Outcome("waits: published sequences by the published rule, of 5", exact, least=len(PUBLISHED))


def _against_published() -> Outcome:
    """The width of what is left between the largest bad and the smallest good value, on as many runs."""
    ours = theirs = 0.0
    for threshold in THRESHOLDS:
        for seed in range(SEEDS):
            wait = MadeWait(threshold, seed=seed)
            search = wait.search(_now(seed))
            runs = len(wait.made)
            ours += _width(search)
            theirs += _published_width(MadeWait(threshold, seed=seed), _now(seed), runs)
    return Outcome("waits: interval around the threshold against FaTB's search, same runs", ours / theirs, most=0.5)


def _now(seed: int) -> float:
    """Present values from 0.5 to 1 s, so that searches do not all try the same."""
    return NOW * (1 + seed / SEEDS)


def _width(search: Search) -> float:
    return (search.good or 0.0) - (search.bad or 0.0)


def _published_width(wait: MadeWait, now: float, runs: int) -> float:
    """FaTB has 100 runs a value and so many values; the value before the fix is taken as 0."""
    failing: dict[int, float] = {}

    def measure(value: int) -> float:
        failing[value] = sum(wait.fails(value / 1_000) for _ in range(100)) / 100
        return failing[value]

    published_values(round(now * 1_000), 0, measure, max(2, runs // 100))
    good = min([value for value, share in failing.items() if not share] + [round(now * 1_000)])
    bad = max([value for value, share in failing.items() if share and value < good] + [0])
    return (good - bad) / 1_000


def _real() -> Iterable[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_it.py").write_text(_TEST)
        needed = Path(folder) / "needed.txt"
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "NEEDED": str(needed)}
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        line = _TEST[: _TEST.index("time.sleep")].count("\n") + 1
        options = ["--value", f"test_it.py:{line}", "--offline", "--json", "--budget", "20m"]
        command = [sys.executable, "-m", "flakeboard", "waits", "test_it.py::test_worker", *options]
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        if not done.stdout:
            yield Outcome(f"waits, real processes: {done.stderr.strip()[-300:]}", 0, least=1)
            return
        answer: dict[str, Any] = json.loads(done.stdout)
        print(f"    {answer['sentence']}", flush=True)
        (searched,) = answer["searched"]
        truth = [float(line) for line in needed.read_text().split()][_OBSERVED : _OBSERVED + _POLLED]
    ratio = (searched["smallest_good"] or 0.0) / _REAL
    yield Outcome("waits, real processes, threshold 50 ms: smallest good by threshold, least", ratio, least=1.0)
    yield Outcome("waits, real processes, threshold 50 ms: smallest good by threshold, most", ratio, most=1.5)
    apart = abs(searched["polling"]["p99"] - quantile(truth, 0.99)) * 1_000
    yield Outcome(f"polling, {_POLLED} runs: p99 of the needed time, apart from the truth", apart, "ms", most=10)
