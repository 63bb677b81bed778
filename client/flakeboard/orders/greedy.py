"""Orders that show wanted pairs, grown test by test as long as they stay compatible."""

from __future__ import annotations

import hashlib
from typing import Iterator

from flakeboard.orders.pairs import Pairs, bits_in, bits_of
from flakeboard.orders.suite import Suite


class Draws:
    """Numbers by SHA-256 of a seed and a counter: the same on every Python and platform."""

    def __init__(self, seed: str) -> None:
        self._numbers = self._endless(seed)

    def below(self, bound: int) -> int:
        return next(self._numbers) % bound

    @staticmethod
    def _endless(seed: str) -> Iterator[int]:
        block = 0
        while True:
            digest = hashlib.sha256(f"{seed}\n{block}".encode("utf-8", "surrogatepass")).digest()
            yield from (int.from_bytes(digest[at : at + 8], "big") for at in range(0, 32, 8))
            block += 1


class Growth:
    """An order that grows at both ends; `behind` and `ahead` are the tests by which it may not grow there."""

    def __init__(self, masks: list[list[int]], start: int) -> None:
        self._masks = masks
        self.order = [start]
        self.behind = self.ahead = 1 << start

    def append(self, test: int) -> None:
        last = self.order[-1]
        self.behind, self.ahead = self._grown(test, last, self.order[0], self.behind, self.ahead)
        self.order.append(test)

    def prepend(self, test: int) -> None:
        self.ahead, self.behind = self._grown(test, self.order[0], self.order[-1], self.ahead, self.behind)
        self.order.insert(0, test)

    def _grown(self, test: int, neighbour: int, other: int, here: int, there: int) -> tuple[int, int]:
        """At this end the units that the order leaves are closed; at the other end those that it enters."""
        bit = 1 << test
        for unit in self._masks[neighbour]:
            if not unit & bit:
                here |= unit
        for unit in self._masks[test]:
            if not unit >> other & 1:
                there |= unit
        return here | bit, there | bit


def unit_masks(suite: Suite) -> list[list[int]]:
    """By test: the tests of each unit around it, as bits."""
    by_path: dict[tuple[str, ...], int] = {}
    for place, case in enumerate(suite.cases):
        for depth in range(1, len(case.units) + 1):
            by_path[case.units[:depth]] = by_path.get(case.units[:depth], 0) | 1 << place
    return [[by_path[case.units[:depth]] for depth in range(1, len(case.units) + 1)] for case in suite.cases]


def random_orders(suite: Suite, wanted: Pairs, seed: str) -> list[list[int]]:
    """Begin with a wanted pair at random, append at random as long as a wanted pair fits (Wei 2021, algorithm 3.1)."""
    masks, draws = unit_masks(suite), Draws(seed)
    left = list(wanted.rows)
    starts = sum(1 << first for first, row in enumerate(left) if row)
    orders = []
    while starts:
        growth = Growth(masks, _drawn(starts, wanted.n, draws))
        while True:
            last = growth.order[-1]
            fitting = left[last] & ~growth.behind
            if not fitting:
                break
            test = _drawn(fitting, wanted.n, draws)
            left[last] ^= 1 << test
            if not left[last]:
                starts ^= 1 << last
            growth.append(test)
        orders.append(growth.order)
    return orders


def _drawn(mask: int, n: int, draws: Draws) -> int:
    """A bit of the mask, each as likely."""
    places = list(bits_of(mask))
    return places[draws.below(len(places))]


def needed_orders(suite: Suite, wanted: Pairs, seed: str) -> list[list[int]]:
    """Begin in the class from which most pairs to another are wanted; grow at the end whose own class has more of them
    left, always towards the class with which it has most (ours)."""
    return _Needs(suite, wanted, seed).orders()


class _Needs:
    """Wanted pairs that are left: by test, and between classes in both directions."""

    def __init__(self, suite: Suite, wanted: Pairs, seed: str) -> None:
        classes = suite.classes
        self._masks = unit_masks(suite)
        self._class_masks = [sum(1 << test for test in tests) for tests in classes]
        self._class_of = [0] * len(suite)
        for number, tests in enumerate(classes):
            for test in tests:
                self._class_of[test] = number
        self._out, self._into = list(wanted.rows), wanted.transposed().rows
        self._degree = [bits_in(out) + bits_in(into) for out, into in zip(self._out, self._into)]
        self._out_of, self._into_class = self._between(classes, self._out), self._between(classes, self._into)
        self._left_out, self._left_into = list(map(sum, self._out_of)), list(map(sum, self._into_class))
        self._behind, self._ahead = _Ranks(self._out_of), _Ranks(self._into_class)
        draws = Draws(seed)
        self._tie = [draws.below(1 << 32) for _ in range(len(suite))]

    def _between(self, classes: list[list[int]], rows: list[int]) -> list[list[int]]:
        return [[sum(bits_in(rows[test] & mask) for test in tests) for mask in self._class_masks] for tests in classes]

    def orders(self) -> list[list[int]]:
        orders: list[list[int]] = []
        while True:
            most = [max(row) for row in self._out_of]
            if not any(most):
                return orders
            start = self._neediest(self._class_masks[most.index(max(most))])
            orders.append(self._order(start))

    def _order(self, start: int) -> list[int]:
        growth = Growth(self._masks, start)
        while True:
            first, last = growth.order[0], growth.order[-1]
            behind, ahead = self._out[last] & ~growth.behind, self._into[first] & ~growth.ahead
            if not behind and not ahead:
                return growth.order
            leaving, entering = self._class_of[last], self._class_of[first]
            if behind and (not ahead or self._left_out[leaving] >= self._left_into[entering]):
                test = self._neediest(self._fitting(behind, self._behind.of(leaving)))
                self._cover(last, test)
                growth.append(test)
            else:
                test = self._neediest(self._fitting(ahead, self._ahead.of(entering)))
                self._cover(test, first)
                growth.prepend(test)

    def _fitting(self, tests: int, ranked: list[int]) -> int:
        """Those tests that are in the class which ranks first among theirs."""
        return next(fitting for fitting in (self._class_masks[number] & tests for number in ranked) if fitting)

    def _neediest(self, tests: int) -> int:
        return max(bits_of(tests), key=lambda test: (self._degree[test], self._tie[test]))

    def _cover(self, first: int, second: int) -> None:
        leaving, entering = self._class_of[first], self._class_of[second]
        self._out[first] ^= 1 << second
        self._into[second] ^= 1 << first
        self._degree[first] -= 1
        self._degree[second] -= 1
        self._out_of[leaving][entering] -= 1
        self._into_class[entering][leaving] -= 1
        self._left_out[leaving] -= 1
        self._left_into[entering] -= 1


class _Ranks:
    """Classes by the pairs that one class still wants with them, most first.

    Counts fall slowly, so that of many classes a ranking serves several times before it is made anew."""

    def __init__(self, counts: list[list[int]]) -> None:
        self._counts = counts
        self._ranked: list[list[int]] = [[] for _ in counts]
        self._uses = [0] * len(counts)

    def of(self, number: int) -> list[int]:
        if not self._uses[number]:
            row = self._counts[number]
            self._ranked[number] = sorted(range(len(row)), key=lambda other: -row[other])
            self._uses[number] = max(1, len(row) // 8)
        self._uses[number] -= 1
        return self._ranked[number]
