"""Plans of all pairs: how many orders, beside the least that is possible and algorithm 3.1, and what a large one takes."""

import time
import tracemalloc
from collections.abc import Iterable
from itertools import product

from flakeboard.orders.greedy import random_orders
from flakeboard.orders.pairs import Pairs
from flakeboard.orders.plans import Plan, plan
from flakeboard.orders.squares import square
from flakeboard.orders.suite import Suite

from bench.outcome import Outcome
from tests.lab.orders.suites import suite_of
from tests.lab.orders.test_plans import TABLE

SEEDS = 3


def run() -> Iterable[Outcome]:
    for sizes, bound, best in TABLE:
        suite = suite_of(sizes)
        made = plan(suite)
        shown = f"{len(suite)} tests in {len(sizes)} classes"
        yield Outcome(
            f"{shown}: orders, at least {bound}, algorithm 3.1 {_algorithm_31(suite)}", len(made.orders), most=best
        )
    worst, above = 0.0, 0
    for sizes in _families():
        suite = suite_of(sizes)
        made = plan(suite)
        worst = max(worst, len(made.orders) / made.bound)
        above += len(made.orders) > _algorithm_31(suite)
    yield Outcome(f"{len(_families())} suites of 10 to 60 tests: orders, times the bound, at worst", worst, most=1.25)
    yield Outcome("of them with more orders than algorithm 3.1", above, most=0)
    for what, sizes in (("equal", [10] * 100), ("unequal", [number * 7 % 19 + 1 for number in range(100)])):
        yield from _large(what, suite_of(sizes))


def _algorithm_31(suite: Suite) -> int:
    """Orders of the published algorithm: rows of the squares side by side, then random ones; the best of three seeds."""
    inside = Pairs(len(suite))
    for tests in suite.classes:
        for first in tests:
            for second in tests:
                inside.add(first, second)
    between = Pairs.every(len(suite)).without(inside)
    rows = max((len(square(len(tests))) for tests in suite.classes if len(tests) > 1), default=0)
    return rows + min(len(random_orders(suite, between, str(seed))) for seed in range(SEEDS))


def _families() -> list[list[int]]:
    """A few large classes beside small ones, which is the hard case, and all of one size."""
    families = [[size] * k for size in (2, 3, 4, 5) for k in (3, 5, 7, 9) if size * k >= 10]
    large = ([7], [6, 6], [7, 6], [7, 7, 8], [8, 8, 9, 9], [12, 12], [5, 5, 5, 5])
    small = ([1, 1], [1, 2, 3], [2, 2, 2, 2], [4, 3, 1], [3, 3], [1, 1, 1, 2, 2, 4])
    return families + [[*first, *second] for first, second in product(large, small) if sum(first) + sum(second) >= 10]


def _large(what: str, suite: Suite) -> Iterable[Outcome]:
    began = time.process_time()
    made = plan(suite)
    seconds = time.process_time() - began
    shown = f"{len(suite):,} tests in 100 {what} classes"
    yield Outcome(f"{shown}: orders, times the bound", len(made.orders) / made.bound, most=1.25)
    yield Outcome(
        f"{shown}: planned in ({made.how}; left out: {', '.join(made.left_out) or 'nothing'})", seconds, "s", most=60
    )
    yield Outcome(f"{shown}: pairs without an order", _missing(suite, made), most=0)
    if what == "equal":
        tracemalloc.start()
        plan(suite)
        yield Outcome(f"{shown}: memory", tracemalloc.get_traced_memory()[1] / 1e6, "MB", most=500)
        tracemalloc.stop()


def _missing(suite: Suite, made: Plan) -> int:
    return len(Pairs.every(len(suite)).without(Pairs.of_orders(len(suite), made.orders)))
