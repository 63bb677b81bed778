"""Suites with planted order-dependent tests and coverage from random call graphs, for schedules that reorder, select
and split.

Sizes and shares are those of Lam 2020b: eleven suites, 91 % victims, 9 % brittle tests, 3 % with a group of partners.
In the original order every test passes."""

from dataclasses import dataclass

import numpy as np
from flakeboard.orders.dependencies import NEGATIVE, POSITIVE, Dependency
from flakeboard.orders.outcomes import Brittle, OrderDependent, Polluter, Victim

SIZES = ((101, 2), (40, 3), (65, 8), (72, 14), (61, 4), (70, 1), (500, 9), (2176, 1), (160, 21), (49, 6), (78, 42))
"""Tests, and order-dependent ones among them."""
BRITTLE_SHARE, GROUP_SHARE, CLEANED_SHARE = 0.09, 0.03, 0.3
MOST_PARTNERS = 3
_CALLS = 2
_STATEMENTS = 20


@dataclass(frozen=True, slots=True)
class DependentSuite:
    """By test, in original order: seconds, and what it covers as bits. `changes` are sets of functions, as bits too."""

    seconds: list[float]
    functions: list[int]
    statements: list[int]
    dependents: list[OrderDependent]
    statements_of: list[int]
    """By function."""

    def dependencies(self) -> list[Dependency]:
        return [each for dependent in self.dependents for each in dependencies_of(dependent)]


def dependencies_of(dependent: OrderDependent) -> list[Dependency]:
    if isinstance(dependent, Brittle):
        return [Dependency(POSITIVE, setter, dependent.test) for setter in dependent.setters]
    return [Dependency(NEGATIVE, each.group, dependent.test, each.cleaners) for each in dependent.polluters]


def draw_suite(tests: int, dependents: int, rng: np.random.Generator) -> DependentSuite:
    functions, statements_of = _call_graph(2 * tests, rng)
    covered = [_covered(place, tests, functions, rng) for place in range(tests)]
    statements = [_statements(called, statements_of, rng) for called in covered]
    return DependentSuite(
        seconds=rng.lognormal(-1.5, 1.2, tests).tolist(),
        functions=[sum(1 << function for function in called) for called in covered],
        statements=statements,
        dependents=[_dependent(int(test), tests, rng) for test in sorted(rng.choice(tests, dependents, replace=False))],
        statements_of=statements_of,
    )


def _call_graph(count: int, rng: np.random.Generator) -> tuple[list[set[int]], list[int]]:
    """By function: all that it reaches, itself included, and its statements as bits. Calls go to later functions."""
    reached: list[set[int]] = [set() for _ in range(count)]
    for function in reversed(range(count)):
        nearest = rng.geometric(0.05, rng.integers(0, _CALLS + 1))
        calls = [function + int(distance) for distance in nearest if function + distance < count]
        reached[function] = {function}.union(*(reached[called] for called in calls))
    ends = np.cumsum(rng.integers(1, _STATEMENTS + 1, count)).tolist()
    return reached, [(1 << end) - (1 << begin) for begin, end in zip([0, *ends], ends, strict=False)]


def _covered(place: int, tests: int, functions: list[set[int]], rng: np.random.Generator) -> set[int]:
    """What a test reaches from a few entries near those of its neighbours."""
    middle = place * len(functions) / tests
    entries = np.clip(rng.normal(middle, len(functions) / 20, rng.integers(1, 4)), 0, len(functions) - 1)
    return set().union(*(functions[int(entry)] for entry in entries))


def _statements(called: set[int], statements_of: list[int], rng: np.random.Generator) -> int:
    """Most statements of each function that is called: branches leave some out."""
    bits = 0
    for function in sorted(called):
        whole = statements_of[function]
        low = (whole & -whole).bit_length() - 1
        kept = rng.random(whole.bit_length() - low) < 0.8
        bits |= sum(1 << (low + int(place)) for place in np.flatnonzero(kept)) | 1 << low
    return bits


def _dependent(test: int, tests: int, rng: np.random.Generator) -> OrderDependent:
    """Partners such that the original order passes: setters before a brittle test, polluters behind a victim, or
    before it with a cleaner in between."""
    is_group = rng.random() < GROUP_SHARE
    if test and rng.random() < BRITTLE_SHARE:
        return Brittle(test, tuple(_drawn(0, test, is_group, rng)))
    polluters = []
    if test >= 3 and (test > tests - 3 or rng.random() < CLEANED_SHARE):
        cleaner = int(rng.integers(max(1, test - 10), test))
        polluters = [Polluter(group, (cleaner,)) for group in _drawn(0, cleaner, is_group, rng)]
    if not polluters or (test < tests - 2 and rng.random() < 0.5):
        polluters += [Polluter(group) for group in _drawn(test + 1, tests, is_group, rng)]
    return Victim(test, tuple(polluters))


def _drawn(low: int, high: int, is_group: bool, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Single partners, or one group of two, from a range of places."""
    count = min(high - low, 2 if is_group else int(rng.integers(1, MOST_PARTNERS + 1)))
    places = sorted(int(place) for place in rng.choice(np.arange(low, high), count, replace=False))
    return [tuple(places)] if is_group else [(place,) for place in places]
