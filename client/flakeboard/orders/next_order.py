"""Which order to run next, so that nightly builds see every pair before long."""

from __future__ import annotations

from typing import Container, NamedTuple, Sequence

from flakeboard.orders.configurations import RANDOM_CLASS_METHOD, order_of
from flakeboard.orders.pairs import Pairs, bits_in, bits_of
from flakeboard.orders.squares import even_row
from flakeboard.orders.suite import Child, Suite, digest_of, leaves, outer_unit

AUTO, PAIRS, UNITS, RANDOM = "auto", "pairs", "units", "random"
GOALS = (AUTO, PAIRS, UNITS, RANDOM)
REVERSE = "reverse"
_MOST_UNITS = 1_000
"""Above it rows of a square over units are not compared: walking from unit to unit does as well there."""
_MOST_ROWS = 64
"""Rows that are compared; of a large square they are taken in turn, by the number of known orders."""


class NextOrder(NamedTuple):
    """A whole order and why; `goal` is what it serves, `seed` what it was drawn by, if it was."""

    goal: str
    order: list[int]
    why: str
    seed: str
    new_pairs: int
    orders_left: int
    """At least so many orders, this included, until every pair was seen."""


def next_order(
    suite: Suite,
    seen: Pairs,
    newest: Sequence[int] | None = None,
    newest_passed: bool = False,
    known: Container[str] = (),
    count: int = 0,
    goal: str = AUTO,
) -> NextOrder:
    """The order for a goal, from the pairs that were seen clean, the newest known order of the whole roster, whether
    it passed wholly, digests of the orders that are known (`order_digest`) and how many were."""
    if goal not in GOALS:
        raise ValueError(f"unknown goal: {goal}")
    left = orders_left(suite, seen)
    if goal == AUTO and newest is not None and newest_passed:
        reverse = list(newest)[::-1]
        if sorted(reverse) == list(range(len(suite))) and order_digest(suite, reverse) not in known:
            return _answer(REVERSE, reverse, "the newest order passed and its reverse was never seen", seen, left)
    if goal != RANDOM:
        order = _Sights(suite, seen, count).whole_order(goal == UNITS)
        if order is not None:
            served = UNITS if goal == UNITS else PAIRS
            return _answer(served, order, f"it shows pairs of {_WHAT[served]} that no known order showed", seen, left)
    seed = f"{suite.digest}-{count}"
    why = "a random order was asked for" if goal == RANDOM else "every pair was seen; a random order may find groups"
    return _answer(RANDOM, order_of(suite, RANDOM_CLASS_METHOD, seed, 0), why, seen, left, seed)


_WHAT = {UNITS: "units", PAIRS: "tests"}


def order_digest(suite: Suite, order: Sequence[int]) -> str:
    return digest_of(suite.names(order))


def _answer(goal: str, order: list[int], why: str, seen: Pairs, left: int, seed: str = "") -> NextOrder:
    return NextOrder(goal, order, why, seed, _new(order, seen), left)


def _new(order: Sequence[int], seen: Pairs) -> int:
    return sum((first, second) not in seen for first, second in zip(order, order[1:]))


def orders_left(suite: Suite, seen: Pairs) -> int:
    """A lower bound: an order has n-1 pairs, one of them behind each test, and leaves a unit once."""
    unseen = Pairs.every(len(suite)).without(seen)
    count = len(unseen)
    if not count:
        return 0
    behind = max(map(bits_in, unseen.rows))
    leaving = 0
    for child in outer_unit(suite).children:
        outside = ~_mask(child)
        leaving = max(leaving, sum(bits_in(unseen.rows[test] & outside) for test in leaves([child])))
    return max(-(-count // (len(suite) - 1)), behind, leaving)


class _Sights:
    """What was seen of a suite: pairs of its tests, and of its outer units."""

    def __init__(self, suite: Suite, seen: Pairs, count: int) -> None:
        self._suite, self._seen, self._count = suite, seen, count
        self._unseen = Pairs.every(len(suite)).without(seen).rows
        self._degree = list(map(bits_in, self._unseen))
        self._outer = outer_unit(suite).children
        self._masks = [_mask(child) for child in self._outer]
        self._home = {test: number for number, child in enumerate(self._outer) for test in leaves([child])}
        self._behind = [self._seen_behind(child) for child in self._outer]

    def _seen_behind(self, child: Child) -> int:
        """Tests that were seen directly behind a test of the unit."""
        behind = 0
        for test in leaves([child]):
            behind |= self._seen.rows[test]
        return behind

    def whole_order(self, of_units: bool) -> list[int] | None:
        """A row of the square over units as long as rows show new pairs of units: as many rows as units show all. Where
        a walk shows twice as many, or none is left, the walk. Where that runs past all that is unseen, an order around
        one of those pairs. None if nothing is unseen."""
        best = self._walked(self._outer, in_turn=False)
        if 1 < len(self._outer) <= _MOST_UNITS:
            row = self._walked([self._outer[number] for number in self._best_row()], in_turn=True)
            if self._new_units(best) < 2 * self._new_units(row):
                best = row
        if self._new_units(best) if of_units else _new(best, self._seen):
            return best
        pair = self._unseen_pair(of_units)
        return None if pair is None else _order_around(outer_unit(self._suite).children, *pair)

    def _unseen_pair(self, of_units: bool) -> tuple[int, int] | None:
        for first, row in enumerate(self._unseen):
            for second in bits_of(row):
                if not of_units or self._are_new(self._home[first], self._home[second]):
                    return first, second
        return None

    def _best_row(self) -> list[int]:
        """The row of the square over units with most new pairs; an odd number takes the square of one more."""
        size = len(self._outer) + len(self._outer) % 2
        turns = range(size) if size <= _MOST_ROWS else ((self._count + turn) % size for turn in range(_MOST_ROWS))
        rows = [[unit for unit in even_row(size, turn) if unit < len(self._outer)] for turn in turns]
        return max(rows, key=lambda row: sum(not self._met(*pair) for pair in zip(row, row[1:])))

    def _met(self, unit: int, other: int) -> bool:
        return bool(self._behind[unit] & self._masks[other])

    def _new_units(self, order: Sequence[int]) -> int:
        homes = [self._home[test] for test in order]
        return sum(self._are_new(first, second) for first, second in zip(homes, homes[1:]))

    def _are_new(self, unit: int, other: int) -> bool:
        return unit != other and not self._met(unit, other)

    def _walked(self, children: Sequence[Child], in_turn: bool, last: int = -1) -> list[int]:
        """All tests below: children in turn, or each time the first that has an unseen pair with the test before it,
        those with most unseen pairs ahead of the others."""
        order: list[int] = []
        ranked = children if in_turn else sorted(children, key=self._unseen_below, reverse=True)
        left = [(child, _mask(child)) for child in ranked]
        while left:
            behind = self._unseen[last] if last >= 0 and not in_turn else 0
            at = next((at for at, (_, mask) in enumerate(left) if mask & behind), 0) if behind else 0
            child, _ = left.pop(at)
            order += [child] if isinstance(child, int) else self._walked(child.children, False, last)
            last = order[-1]
        return order

    def _unseen_below(self, child: Child) -> int:
        return sum(self._degree[test] for test in leaves([child]))


def _order_around(children: Sequence[Child], first: int, second: int) -> list[int]:
    """All tests below, with the first test directly ahead of the second where both are here, else at the edge."""
    with_first = [child for child in children if _mask(child) >> first & 1]
    with_second = [child for child in children if _mask(child) >> second & 1 and child not in with_first]
    others = [child for child in children if child not in with_first and child not in with_second]
    is_first_only = with_first and not with_second and not _mask(with_first[0]) >> second & 1
    turns = [*others, *with_first] if is_first_only else [*with_first, *with_second, *others]
    order: list[int] = []
    for child in turns:
        order += [child] if isinstance(child, int) else _order_around(child.children, first, second)
    return order


def _mask(child: Child) -> int:
    return sum(1 << test for test in leaves([child]))
