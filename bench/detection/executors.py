"""Fork against process on six: orders and pairs a minute, and whether verdicts are the same."""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from flakeboard import runners
from flakeboard.detection.execution.forks import ForkExecutor
from flakeboard.detection.execution.injection import Injection
from flakeboard.detection.execution.processes import ProcessExecutor
from flakeboard.orders.configurations import order_of
from flakeboard.orders.suite import Suite, case_of

from bench.detection.subjects import environ, unpacked
from bench.outcome import Outcome

ORDERS = int(os.environ.get("ORDERS", "200"))
PAIRS = min(ORDERS, 100)
LIMIT = 600.0


def run() -> Iterable[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        project = unpacked("six-c0be8815", Path(folder))
        call = runners.find([sys.executable, "-m", "pytest", "-p", "no:cacheprovider"])
        assert call is not None
        work = Path(folder) / "work"
        work.mkdir()
        injection = Injection(call, str(work), environ(), 1, str(project))
        process, fork = ProcessExecutor(injection), ForkExecutor(injection, LIMIT)
        suite = Suite(case_of(name) for name in fork.start().ids)
        try:
            yield from _compared(suite, process, fork)
        finally:
            fork.close()


def _compared(suite: Suite, process: ProcessExecutor, fork: ForkExecutor) -> Iterable[Outcome]:
    orders = [suite.names(order_of(suite, "random-class-method", "bench", round)) for round in range(ORDERS)]
    whole = {
        each.name: _timed(lambda order, each=each: each.run(order, LIMIT).verdicts, orders) for each in (process, fork)
    }
    pairs = [order[:2] for order in orders[:PAIRS]]
    short = {
        each.name: _timed(lambda order, each=each: each.run(order, LIMIT).verdicts, pairs) for each in (process, fork)
    }
    same = sum(left == right for left, right in zip(whole["process"][0], whole["fork"][0], strict=True))
    yield Outcome(f"orders of {ORDERS} with the same verdicts", same, least=ORDERS)
    yield Outcome("whole orders by fork", 60 * ORDERS / whole["fork"][1], "a minute")
    yield Outcome("times those by process", whole["process"][1] / whole["fork"][1], least=2)
    yield Outcome("pairs by fork", 60 * PAIRS / short["fork"][1], "a minute")
    yield Outcome("times those by process", short["process"][1] / short["fork"][1], least=10)


def _timed(run: Callable[[list[str]], str], orders: list[list[str]]) -> tuple[list[str], float]:
    began = time.perf_counter()
    verdicts = [run(order) for order in orders]
    return verdicts, time.perf_counter() - began
