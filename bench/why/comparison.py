"""Comparing traces on the server: as many and as large ones as it takes at once, from stored bytes to sentences."""

import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterable

from flakeboard.differences.comparison import compare
from flakeboard.differences.runs import Interned, run_of
from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Trace, TraceFile

from analytics.kernel.differences.chances import FastChances
from analytics.kernel.differences.limits import MOST_EVENTS
from bench.outcome import Outcome
from bench.why.cost import environ
from ingest.lab.trace_files import packed_alone, trace_of
from tests.paths import ROOT

RUNS = 200
_CALLEES = ("random.random", "time.sleep", "queue.Queue.get", "os.path.exists")
_CALLS = 50
"""Of a site and role: so many are kept."""


def run() -> Iterable[Outcome]:
    """In a process of its own, so that its memory is measured alone."""
    command = [sys.executable, "-c", f"from {__name__} import measure; measure()"]
    done = subprocess.run(command, cwd=ROOT, env=environ(), capture_output=True, text=True, check=True)
    seconds, megabytes, features = map(float, done.stdout.split())
    what = f"comparing {RUNS} runs of {MOST_EVENTS // RUNS:,} events, {features:,.0f} features"
    yield Outcome(f"{what}, processor time", seconds, "s", most=30)
    yield Outcome(f"{what}, memory", megabytes, "MB", most=800)


def measure() -> None:
    draw = random.Random(20_261_117)
    stored = [packed_alone(_file(draw, failed=number % 2 == 0)) for number in range(RUNS)]
    began, interned = time.process_time(), Interned()
    runs = [run_of(*trace_of(content), interned) for content in stored]
    found = compare(runs, FastChances)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.process_time() - began, peak, found.features)


def _file(draw: random.Random, failed: bool) -> TraceFile:
    count = MOST_EVENTS // RUNS // _CALLS
    sites = [Site(f"shop/m{n % 40}.py", f"f{n}", _CALLEES[n % 4], 1, n) for n in range(count)]
    events, now = [], 0
    for _ in range(_CALLS):
        for site in range(count):
            value = (draw.random(), None, draw.randrange(3), draw.random() < 0.5)[site % 4]
            events.append(Event(site, 0, value, now, draw.randrange(1, 2_000)))
            now += draw.randrange(1, 30)
    outcome = (FAILED, "AssertionError", now) if failed else (PASSED, "", None)
    trace = Trace("t", 1, *outcome, ("main",), tuple(events), facts={"hash": draw.randrange(9)})
    return TraceFile("sources", "3.12.1", "", {}, sites, [], [trace])
