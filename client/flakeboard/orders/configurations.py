"""The configurations of `detect` that are orders of the whole suite (Lam 2019)."""

from __future__ import annotations

from flakeboard.orders.seeded import blocks_of, seeded_order, seeded_permutation
from flakeboard.orders.suite import Child, Suite

ORIGINAL = "original-order"
RANDOM_CLASS = "random-class"
RANDOM_CLASS_METHOD = "random-class-method"
REVERSE_CLASS = "reverse-class"
REVERSE_CLASS_METHOD = "reverse-class-method"
RANDOM_METHOD = "random-method"

CONFIGURATIONS = (ORIGINAL, RANDOM_CLASS, RANDOM_CLASS_METHOD, REVERSE_CLASS, REVERSE_CLASS_METHOD, RANDOM_METHOD)
ONCE = (REVERSE_CLASS, REVERSE_CLASS_METHOD)
"""They draw nothing: a second round would repeat the first."""


def order_of(suite: Suite, how: str, seed: str, round: int) -> list[int]:
    """The order of a round under a configuration."""
    if how == ORIGINAL:
        return list(range(len(suite)))
    if how == RANDOM_CLASS:
        return seeded_order(suite, seed, round, inside=False)
    if how == RANDOM_CLASS_METHOD:
        return seeded_order(suite, seed, round)
    if how == REVERSE_CLASS:
        return _units_reversed(suite)
    if how == REVERSE_CLASS_METHOD:
        return list(range(len(suite)))[::-1]
    if how == RANDOM_METHOD:
        return seeded_permutation(suite, seed, round)
    raise ValueError(f"unknown configuration: {how}")


def _units_reversed(suite: Suite) -> list[int]:
    """Units from the last to the first at every level; tests directly in one unit keep their order."""
    order: list[int] = []
    waiting: list[Child] = [suite.root]
    while waiting:
        child = waiting.pop()
        if isinstance(child, int):
            order.append(child)
        else:
            waiting.extend(test for block in blocks_of(child) for test in reversed(block))
    return order
