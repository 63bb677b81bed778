"""Orders of parts of the suite: each test alone, each pair, the plan that covers all pairs, each test twice."""

from __future__ import annotations

from typing import Iterator

from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.rounds import ISOLATION, ONE_BY_ONE, PAIRS, TWICE


def partial_orders(lab: Laboratory, how: str, parameters: Parameters) -> Iterator[tuple[int, ...]]:
    """Lazily: a test that ends the process meanwhile is in none of those that follow, and other pairs stay covered."""
    targets = [place for place in lab.tests if parameters.is_wanted(lab.suite.cases[place].id)]
    if how == ISOLATION:
        orders: Iterator[tuple[int, ...]] = ((test,) for test in targets)
    elif how == ONE_BY_ONE:
        orders = ((other, test) for test in targets for other in lab.tests if other != test)
    elif how == TWICE:
        orders = ((test, test) for test in targets)
    elif how == PAIRS:
        orders = _plan(lab, parameters)
    else:
        raise ValueError(f"not a configuration of parts: {how}")
    for order in orders:
        left = tuple(test for test in order if test not in lab.left_out)
        if left == order or (how == PAIRS and len(left) > 1):
            yield left


def _plan(lab: Laboratory, parameters: Parameters) -> Iterator[tuple[int, ...]]:
    """Every test alone, for brittle tests with several setters, and an order for every pair."""
    from flakeboard.orders.plans import plan

    yield from ((test,) for test in lab.tests)
    yield from (tuple(order) for order in plan(lab.suite, seed=parameters.seed).orders)
