"""How likely a random compatible order makes an order-dependent test fail (Wei 2021; trees and reverses are ours).

Where all polluters of a victim are single tests that share their cleaners, only its nearest relevant neighbours
decide: it fails if the nearest test before it is a polluter. The position of the victim's branch among the relevant
children of each unit around it is uniform, so the chance is a sum over these units, an exact fraction. Other victims
are sampled."""

from __future__ import annotations

import hashlib
import math
import struct
from fractions import Fraction
from typing import Callable, Iterator, NamedTuple, Sequence

from flakeboard.orders.dependencies import steps
from flakeboard.orders.outcomes import Brittle, OrderDependent, Victim, fails_at, relevant
from flakeboard.orders.suite import Suite

SAMPLES = 100_000
_Z = 1.959963984540054
"""The normal quantile of a 95 % interval."""

ONE_CLASS, CLASSES, TREE, ESTIMATED = "one class", "classes", "tree", "estimated"


class Chance(NamedTuple):
    """A probability, the case of its formula, and for an estimate its 95 % interval."""

    value: Fraction
    how: str
    interval: tuple[float, float] | None = None


def chance_in_any_order(dependent: OrderDependent, seed: str = "") -> Chance:
    """Where units may be torn apart: π / (π + γ + 1), or 1 / (σ + 1)."""
    places = sorted(relevant(dependent))
    return _chance(_Branch([_Branch(test=place) for place in places]), dependent, ONE_CLASS, seed)


def chance_in_random_order(suite: Suite, dependent: OrderDependent, seed: str = "") -> Chance:
    """Where units stay together, whatever their depth: f_C for two levels."""
    tests = relevant(dependent)
    tree = _relevant_tree(suite, tests)
    return _chance(tree, dependent, _case(suite, tests, tree), seed)


def chance_of_reverse(suite: Suite, dependent: OrderDependent, seed: str = "") -> Chance | None:
    """That the reverse of a random order fails, given that the order passes; None if no order passes."""
    tests = relevant(dependent)
    tree = _relevant_tree(suite, tests)
    if not _is_exact(dependent):
        return _sampled_reverse(tree, dependent, seed)
    if isinstance(dependent, Brittle):
        # It fails in the reverse if all setters are before it, which is as likely as none.
        fails = reverse = _brittle(tree, dependent)
    else:
        fails, reverse = _victim(tree, dependent)
    return Chance(reverse / (1 - fails), _case(suite, tests, tree)) if fails < 1 else None


def orders_for(chance: Fraction | float, confidence: float = 0.95) -> int | None:
    """The least number of random orders that show the failure with this confidence; None if none ever does."""
    if chance <= 0:
        return None
    if chance >= 1:
        return 1
    tail = 1 - Fraction(str(confidence))
    passes = 1 - Fraction(chance).limit_denominator(10**9)
    guess = max(1, math.ceil(math.log(tail) / math.log1p(-float(chance))))
    if guess > 1_000:
        return guess
    while guess > 1 and passes ** (guess - 1) <= tail:
        guess -= 1
    while passes**guess > tail:
        guess += 1
    return guess


class _Branch:
    """A test, or a unit by its relevant children."""

    __slots__ = ("children", "test")

    def __init__(self, children: Sequence[_Branch] = (), test: int = -1) -> None:
        self.children, self.test = children, test


def _relevant_tree(suite: Suite, tests: set[int]) -> _Branch:
    """The tree of the relevant tests, without units that hold a single child: those change nothing."""
    paths = [((*suite.cases[place].units, suite.cases[place].id), place) for place in sorted(tests)]
    return _grown(paths, 0)


def _grown(paths: list[tuple[tuple[str, ...], int]], depth: int) -> _Branch:
    while len(paths) > 1:
        groups: dict[tuple[str, bool], list[tuple[tuple[str, ...], int]]] = {}
        for path, place in paths:
            groups.setdefault((path[depth], len(path) == depth + 1), []).append((path, place))
        depth += 1
        if len(groups) > 1:
            return _Branch([_grown(group, depth) for group in groups.values()])
    return _Branch(test=paths[0][1])


def _case(suite: Suite, tests: set[int], tree: _Branch) -> str:
    if len({suite.cases[test].units for test in tests}) == 1:
        return ONE_CLASS
    return TREE if any(grandchild.children for child in tree.children for grandchild in child.children) else CLASSES


def _chance(tree: _Branch, dependent: OrderDependent, case: str, seed: str) -> Chance:
    if not _is_exact(dependent):
        return _sampled(tree, dependent, seed)
    return Chance(_brittle(tree, dependent) if isinstance(dependent, Brittle) else _victim(tree, dependent)[0], case)


def _is_exact(dependent: OrderDependent) -> bool:
    """Assumption A1: the formulas need single partners, and polluters that share cleaners and are none themselves."""
    if isinstance(dependent, Brittle):
        return all(len(setter) == 1 for setter in dependent.setters)
    shared = {frozenset(polluter.cleaners) for polluter in dependent.polluters}
    return len(shared) <= 1 and all(
        len(polluter.group) == 1 and polluter.group[0] not in polluter.cleaners for polluter in dependent.polluters
    )


def _way(tree: _Branch, test: int) -> list[tuple[_Branch, _Branch]]:
    """From the test's own class upwards: each unit around it, with the child that holds it."""
    way: list[tuple[_Branch, _Branch]] = []

    def descend(branch: _Branch) -> bool:
        for child in branch.children:
            if child.test == test or descend(child):
                way.append((branch, child))
                return True
        return False

    descend(tree)
    return way


def _brittle(tree: _Branch, brittle: Brittle) -> Fraction:
    """The test's branch comes first at every level: Π 1/k."""
    value = Fraction(1)
    for unit, _ in _way(tree, brittle.test):
        value /= len(unit.children)
    return value


def _victim(tree: _Branch, victim: Victim) -> tuple[Fraction, Fraction]:
    """P(fails), and P(passes, and fails in the reverse).

    A level with k children puts the victim's branch first with 1/k, last with 1/k, else between two different siblings,
    whose ends are polluters by their shares. What lower levels left open is settled by the next one upwards."""
    polluters = {polluter.group[0] for polluter in victim.polluters}
    fails, before_open = Fraction(0), Fraction(1)
    both_open, only_cleaned, only_polluted, settled = Fraction(1), Fraction(0), Fraction(0), Fraction(0)
    for unit, own in _way(tree, victim.test):
        shares = [_share_of_polluters(child, polluters) for child in unit.children if child is not own]
        size, others = len(unit.children), len(shares)
        total = sum(shares, Fraction(0))
        fails += before_open * total / size
        before_open /= size
        # A cleaner nearest before and a polluter nearest behind, over ordered pairs of different siblings.
        pairs = total * (others - total) - total + sum(share * share for share in shares)
        settled += (
            both_open * pairs / (size * others) + only_cleaned * total / size + only_polluted * (others - total) / size
        )
        only_cleaned = both_open * (others - total) / (size * others) + only_cleaned / size
        only_polluted = both_open * total / (size * others) + only_polluted / size
        both_open = Fraction(0)
    return fails, settled + only_polluted


def _share_of_polluters(branch: _Branch, polluters: set[int]) -> Fraction:
    """How often an end of a branch is a polluter: the mean over its relevant children."""
    if not branch.children:
        return Fraction(branch.test in polluters)
    shares = [_share_of_polluters(child, polluters) for child in branch.children]
    return sum(shares, Fraction(0)) / len(shares)


def _sampled(tree: _Branch, dependent: OrderDependent, seed: str) -> Chance:
    fails = _judge(dependent)
    return _estimate(sum(fails(order) for order in _orders(tree, seed)), SAMPLES)


def _sampled_reverse(tree: _Branch, dependent: OrderDependent, seed: str) -> Chance | None:
    fails = _judge(dependent)
    passed = reverse_failed = 0
    for order in _orders(tree, seed):
        if not fails(order):
            passed += 1
            reverse_failed += fails(order[::-1])
    return _estimate(reverse_failed, passed) if passed else None


def _judge(dependent: OrderDependent) -> Callable[[list[int]], bool]:
    """Whether an order makes the test fail; for single polluters by a look back from the victim, which is short."""
    cleaners: dict[tuple[int, ...], frozenset[int]] = {}
    if isinstance(dependent, Victim):
        cleaners = {polluter.group: frozenset(polluter.cleaners) for polluter in dependent.polluters}
    is_simple = isinstance(dependent, Victim) and len(cleaners) == len(dependent.polluters)
    if not is_simple or any(len(group) > 1 for group in cleaners):
        return lambda order: fails_at(steps(order), dependent)
    cleaned_by = {group[0]: tests for group, tests in cleaners.items()}

    def fails(order: list[int]) -> bool:
        between: set[int] = set()
        for test in reversed(order[: order.index(dependent.test)]):
            if test in cleaned_by and between.isdisjoint(cleaned_by[test]):
                return True
            between.add(test)
        return False

    return fails


def _orders(tree: _Branch, seed: str) -> Iterator[list[int]]:
    """Compatible orders of the relevant tests, each by keys that SHAKE-256 derives from the seed and its number."""
    start = hashlib.shake_256(f"{seed}\n".encode("utf-8", "surrogatepass"))
    count = _size(tree)
    for number in range(SAMPLES):
        state = start.copy()
        state.update(str(number).encode())
        keys = iter(struct.unpack(f">{count}Q", state.digest(8 * count)))
        order: list[int] = []
        waiting = [tree]
        while waiting:
            branch = waiting.pop()
            if branch.children:
                waiting.extend(child for child, _ in sorted(zip(branch.children, keys), key=_key))
            else:
                order.append(branch.test)
        yield order


def _key(pair: tuple[_Branch, int]) -> int:
    return pair[1]


def _size(tree: _Branch) -> int:
    return 1 + sum(map(_size, tree.children))


def _estimate(hits: int, of: int) -> Chance:
    """A share with Wilson's interval."""
    share, square = hits / of, _Z * _Z
    middle, width = share + square / (2 * of), _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    low, high = ((middle + sign * width) / (1 + square / of) for sign in (-1, 1))
    return Chance(Fraction(hits, of), ESTIMATED, (max(0.0, low), min(1.0, high)))
