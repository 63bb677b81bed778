"""Plans: orders in which all pairs of a suite, or the wanted ones, are neighbours."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, NamedTuple, Sequence, overload

from flakeboard.orders.columns import orders_between
from flakeboard.orders.greedy import needed_orders, random_orders
from flakeboard.orders.joins import absorbed, joined, side_by_side, trimmed
from flakeboard.orders.pairs import MOST_TESTS, Pairs
from flakeboard.orders.squares import even_row
from flakeboard.orders.suite import Suite, Unit, leaves, outer_unit

SEEDS = 3
MOST_GREEDY_PAIRS = 1_200_000
"""Pairs that greedy plans may look for in all, about half a minute; a count, so that every machine plans alike."""

Order = Sequence[int]
Way = Callable[[Suite, Pairs, str], "list[list[int]]"]


class Plan(NamedTuple):
    """Orders, each compatible, some of a part of the suite; `bound` is the least number that any plan needs."""

    orders: Sequence[Order]
    bound: int
    how: str
    pairs: int
    """So many are shown."""
    left_out: tuple[str, ...] = ()
    """What was not planned or not tried, in words."""


def plan(
    suite: Suite,
    seconds: Sequence[float] | None = None,
    pairs: Pairs | Iterable[tuple[int, int]] | None = None,
    seed: str = "",
    start: float = 1.0,
) -> Plan:
    """The cheapest of several plans: by seconds of tests and `start` seconds of each order, without them by the number
    of orders."""
    if pairs is None and len(suite) > MOST_TESTS:
        return _unit_plan(suite)
    wanted = _wanted(suite, pairs)
    count = len(wanted)
    bound = least_orders(suite) if pairs is None else 0
    best: list[list[int]] = []
    how = "nothing to show"
    left_out: tuple[str, ...] = ()
    for name, orders in _candidates(suite, wanted, pairs is None, seed):
        if name == _LEFT_OUT:
            left_out = (f"further greedy plans: {count} pairs would take too long",)
        elif not best or _cost(orders, seconds, start) < _cost(best, seconds, start):
            best, how = orders, name
        if len(best) <= bound:
            break
    return Plan(best, bound, how, count, left_out)


_LEFT_OUT = "left out"


def _candidates(suite: Suite, wanted: Pairs, is_whole: bool, seed: str) -> Iterator[tuple[str, list[list[int]]]]:
    """Plans by name; the squares show all pairs, so they are worth their while where most are wanted."""
    count, n = len(wanted), len(suite)
    if not count:
        return
    if is_whole or 4 * count > n * n:
        yield "squares", joined(suite, trimmed(squares_within(suite.root), wanted))
    ways: tuple[tuple[str, Way], ...] = (("needs", needed_orders), ("algorithm 3.1", random_orders))
    spent = 0
    for number in range(SEEDS):
        for name, way in ways:
            spent += count
            if spent > MOST_GREEDY_PAIRS and (is_whole or spent > count):
                yield _LEFT_OUT, []
                return
            yield name, joined(suite, trimmed(way(suite, wanted, f"{seed}\n{number}"), wanted))


def _wanted(suite: Suite, pairs: Pairs | Iterable[tuple[int, int]] | None) -> Pairs:
    if pairs is None:
        return Pairs.every(len(suite))
    if isinstance(pairs, Pairs):
        return pairs
    wanted = Pairs(len(suite))
    for first, second in pairs:
        if first != second:
            wanted.add(first, second)
    return wanted


def _cost(orders: Sequence[Order], seconds: Sequence[float] | None, start: float) -> tuple[float, int]:
    tests = sum(map(len, orders))
    if seconds is None:
        return len(orders), tests
    return start * len(orders) + sum(seconds[test] for order in orders for test in order), tests


def squares_within(unit: Unit) -> list[list[int]]:
    """All pairs within a unit: between its children by a square over them, within each child by a plan of its own.

    Orders of a child go to the ends of those between children where they fit, the others run side by side."""
    children = [[child] if isinstance(child, int) else child.tests() for child in unit.children]
    inner = [squares_within(child) for child in unit.children if not isinstance(child, int)]
    between, rest = absorbed(orders_between(children), [order for orders in inner for order in orders])
    home = {test: number for number, tests in enumerate(children) for test in tests}
    by_child: dict[int, list[list[int]]] = {}
    for order in rest:
        by_child.setdefault(home[order[0]], []).append(order)
    return between + side_by_side(by_child[number] for number in sorted(by_child))


def least_orders(suite: Suite) -> int:
    """A lower bound: in an order each unit is entered and left at most once, and m units have at most m-1 changes."""
    if len(suite) < 2:
        return 0
    bounds, waiting, blocks = [], [suite.root], []
    while waiting:
        unit = waiting.pop()
        sizes = [1 if isinstance(child, int) else len(child.tests()) for child in unit.children]
        bounds.append(_least(sizes))
        inner = [child for child in unit.children if not isinstance(child, int)]
        blocks.extend([1] * (len(sizes) - len(inner)) if inner else [len(sizes)])
        waiting.extend(inner)
    return max(*bounds, _least(blocks))


def _least(sizes: Sequence[int]) -> int:
    """Wei 2021's bound, sharpened (ours): the largest m units alone have 2 Σ n_i n_j pairs and m-1 changes an order,
    and n_i (n - n_i) pairs leave unit i, one an order."""
    n = sum(sizes)
    bound = max(size * (n - size) for size in sizes)
    total = squares = 0
    for number, size in enumerate(sorted(sizes, reverse=True)):
        total, squares = total + size, squares + size * size
        if number:
            bound = max(bound, -(-(total * total - squares) // number))
    return bound


class UnitOrders(Sequence[Order]):
    """Whole orders, made when they are asked for: units by the rows of a square, tests inside as they are.

    An odd number of units takes a row more, since only even squares give a row without all others."""

    def __init__(self, units: Sequence[Sequence[int]]) -> None:
        self._units = units

    def __len__(self) -> int:
        return len(self._units) + len(self._units) % 2

    @overload
    def __getitem__(self, number: int) -> Order: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Order]: ...

    def __getitem__(self, number: int | slice) -> Order | Sequence[Order]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        row = even_row(len(self), range(len(self))[number])
        return [test for unit in row if unit < len(self._units) for test in self._units[unit]]


def _unit_plan(suite: Suite) -> Plan:
    units = [list(leaves([child])) for child in outer_unit(suite).children]
    shown = len(units) * (len(units) - 1)
    reason = f"pairs of tests: {len(suite)} tests are more than {MOST_TESTS}, so only pairs of units are shown"
    return Plan(UnitOrders(units), len(units), "units", shown, (reason,))
