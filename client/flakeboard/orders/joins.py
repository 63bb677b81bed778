"""Fewer and shorter orders for the same pairs: rows of a class go to the ends of longer orders, ends that show nothing
new go, and short orders are joined."""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest
from typing import Iterable, Sequence

from flakeboard.orders.pairs import MOST_TESTS, Pairs
from flakeboard.orders.suite import Suite, outer_unit

_MOST_OPEN = 64
"""Orders that a short one is tried against; more find little."""


def absorbed(
    orders: Sequence[Sequence[int]], inner: Sequence[Sequence[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Orders with inner ones put ahead of the test in which these end, or behind the test with which they begin; and
    the inner ones that found no place."""
    by_last: dict[int, list[int]] = {}
    by_first: dict[int, list[int]] = {}
    for number, row in enumerate(inner):
        by_last.setdefault(row[-1], []).append(number)
        by_first.setdefault(row[0], []).append(number)
    used: set[int] = set()
    grown = []
    for order in orders:
        ahead = _free(by_last.get(order[0]), used, inner, order)
        behind = _free(by_first.get(order[-1]), used, inner, order)
        grown.append([*ahead[:-1], *order, *behind[1:]])
    return grown, [list(row) for number, row in enumerate(inner) if number not in used]


def _free(
    numbers: list[int] | None, used: set[int], inner: Sequence[Sequence[int]], order: Sequence[int]
) -> Sequence[int]:
    """An inner order that is not used yet and shares one test with the order; it counts as used from now on."""
    for number in numbers or ():
        if number not in used and len(set(inner[number]).intersection(order)) == 1:
            used.add(number)
            return inner[number]
    return ()


def side_by_side(plans: Iterable[Sequence[Sequence[int]]]) -> list[list[int]]:
    """Plans of different units at once: the first order of each, joined, then the second of each, and so on."""
    return [[test for order in orders for test in order] for orders in zip_longest(*plans, fillvalue=())]


def trimmed(orders: Iterable[Sequence[int]], wanted: Pairs) -> list[list[int]]:
    """Orders without ends whose pair is not wanted or is shown elsewhere, and without orders that then show nothing."""
    given = sorted(orders, key=len)
    shown = _counts(given, wanted.n)

    def spared(first: int, second: int) -> bool:
        """Whether the pair can go from this end; it is then shown by this order no more."""
        at = first * wanted.n + second
        if (first, second) in wanted and shown[at] in (1, 255):
            return False
        shown[at] -= 1
        return True

    kept = []
    for order in given:
        low, high = 0, len(order) - 1
        while low < high and spared(order[low], order[low + 1]):
            low += 1
        while low < high and spared(order[high - 1], order[high]):
            high -= 1
        if low < high:
            kept.append(list(order[low : high + 1]))
    return kept


def _counts(orders: Iterable[Sequence[int]], n: int) -> bytearray | dict[int, int]:
    """How often a pair is shown, up to 255, by n * first + second."""
    counts: bytearray | dict[int, int] = bytearray(n * n) if n <= MOST_TESTS else defaultdict(int)
    for order in orders:
        for first, second in zip(order, order[1:]):
            if counts[first * n + second] < 255:
                counts[first * n + second] += 1
    return counts


def joined(suite: Suite, orders: Sequence[Sequence[int]]) -> list[list[int]]:
    """Short orders put one behind the other where they have no unit in common: each saves a start."""
    depth = len(outer_unit(suite).path) + 1
    bins: list[tuple[set[tuple[str, ...]], list[int]]] = []
    done = []
    for order in sorted(orders, key=len, reverse=True):
        units = {suite.cases[test].units[:depth] or (suite.cases[test].id,) for test in order}
        for taken, longer in bins:
            if not taken & units:
                taken |= units
                longer.extend(order)
                break
        else:
            bins.append((units, list(order)))
            if len(bins) > _MOST_OPEN:
                done.append(bins.pop(0)[1])
    return [*done, *(order for _, order in bins)]
