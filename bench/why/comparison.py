"""Comparing traces on the server: as many and as large ones as it takes at once, from stored bytes to an answer."""

import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterable

from flakeboard.differences.comparison import SEPARATES
from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Trace, TraceFile

from analytics.kernel.differences.comparison import Executions, compare
from analytics.kernel.differences.limits import MOST_EVENTS
from bench.outcome import Outcome
from bench.why.cost import environ
from ingest.lab.trace_files import packed_alone, trace_of
from tests.paths import ROOT

RUNS = 200
FEATURES = 100_000
_CALLEES = ("random.random", "time.sleep", "queue.Queue.get", "os.path.exists")
_ROLES = ("main", "main/flush#1")
_CALLS = 50
"""Of a site and role: so many are kept."""
_CAUSE = 1_000
"""The event that decides."""


def run() -> Iterable[Outcome]:
    """In a process of its own, so that its memory is measured alone."""
    command = [sys.executable, "-c", f"from {__name__} import measure; measure()"]
    done = subprocess.run(command, cwd=ROOT, env=environ(), capture_output=True, text=True, check=True)
    seconds, megabytes, features, is_right = map(float, done.stdout.split())
    what = f"comparing {RUNS} runs of {MOST_EVENTS // RUNS:,} events"
    yield Outcome(f"{what}, features", features, least=FEATURES)
    yield Outcome(f"{what}, processor time", seconds, "s", most=10)
    yield Outcome(f"{what}, memory", megabytes, "MB", most=800)
    yield Outcome(f"{what}: the call that decides comes first", is_right, least=1)


def measure() -> None:
    draw = random.Random(20_261_117)
    stored = [packed_alone(_file(draw, failed=number % 2 == 0)) for number in range(RUNS)]
    began, executions = time.process_time(), Executions()
    for content in stored:
        executions.add(*trace_of(content))
    found = compare(executions)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first = found.differences[0]
    is_right = first.tier == SEPARATES and first.site is not None and first.site.line == _CAUSE
    print(time.process_time() - began, peak, found.features, int(is_right))


def _file(draw: random.Random, failed: bool) -> TraceFile:
    """Noise, in two roles, and one call that returns less when the test fails; failing executions end a little earlier."""
    count = MOST_EVENTS // RUNS // _CALLS
    sites = [Site(f"shop/m{n % 40}.py", f"f{n}", _CALLEES[n % 4], 1, n) for n in range(count)]
    sites.append(Site("shop/price.py", "total", "random.random", 1, _CAUSE))
    events, now = [], 0
    for place in range(MOST_EVENTS // RUNS - (draw.randrange(200) if failed else 0)):
        site = place % count
        value = (draw.random(), None, draw.randrange(3), draw.random() < 0.5)[site % 4]
        if place == _CAUSE:
            site, value = count, draw.random() / 2 + (0.0 if failed else 0.5)
        events.append(Event(site, int(site % 4 == 3), value, now, draw.randrange(1, 2_000)))
        now += draw.randrange(1, 30)
    outcome = (FAILED, "AssertionError", now) if failed else (PASSED, "", None)
    trace = Trace("t", 1, *outcome, _ROLES, tuple(events), facts={"hash": draw.randrange(9)})
    return TraceFile("sources", "3.12.1", "", {}, sites, [], [trace])
