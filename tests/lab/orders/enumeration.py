"""The slow way to a probability: every compatible order of a suite, each judged by the words of the definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

from flakeboard.orders.outcomes import Brittle, OrderDependent
from flakeboard.orders.suite import Case, Suite, Unit


def compatible_orders(unit: Unit | int) -> Iterator[tuple[int, ...]]:
    if isinstance(unit, int):
        yield (unit,)
        return
    inner = [list(compatible_orders(child)) for child in unit.children]
    for children in permutations(inner):
        for parts in product(*children):
            yield tuple(test for part in parts for test in part)


def fails_by_words(order: Sequence[int], dependent: OrderDependent) -> bool:
    """A victim fails iff a polluter is before it and none of its cleaners in between; a brittle iff no setter is."""
    before = order[: order.index(dependent.test)]
    if isinstance(dependent, Brittle):
        return not any(setter[0] in before for setter in dependent.setters)
    return any(
        polluter.group[0] in before
        and not any(cleaner in before[before.index(polluter.group[0]) :] for cleaner in polluter.cleaners)
        for polluter in dependent.polluters
    )


def counted(suite: Suite, dependent: OrderDependent) -> tuple[Fraction, Fraction | None]:
    """The share of compatible orders that fail, and of the passing ones the share whose reverse fails."""
    orders = list(compatible_orders(suite.root))
    passing = [order for order in orders if not fails_by_words(order, dependent)]
    reverse = sum(fails_by_words(order[::-1], dependent) for order in passing)
    return Fraction(len(orders) - len(passing), len(orders)), Fraction(reverse, len(passing)) if passing else None


def suites_of_relevant_tests(
    most: int, paths: Sequence[tuple[str, ...]]
) -> Iterator[tuple[Suite, list[int], list[int]]]:
    """Every way to put polluters (or setters) and cleaners into units, test 0 in the first: suite, polluters, cleaners."""
    kinds = [(path, is_polluter) for path in paths for is_polluter in (True, False)]
    for size in range(1, most):
        for chosen in combinations_with_replacement(kinds, size):
            suite = Suite(
                [Case("t0", paths[0]), *(Case(f"t{place}", path) for place, (path, _) in enumerate(chosen, 1))]
            )
            roles = [is_polluter for _, is_polluter in chosen]
            yield (
                suite,
                [place for place, is_polluter in enumerate(roles, 1) if is_polluter],
                [place for place, is_polluter in enumerate(roles, 1) if not is_polluter],
            )


LAYOUTS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("A",), ("B",), ("C",)),
    (("f", "A"), ("f", "B"), ("f", "C")),
    (("f", "A"), ("f", "B"), ("g", "C")),
    (("f", "A"), ("g", "B"), ("g", "C")),
    (("f", "A"), ("g", "B"), ("h", "C")),
    (("f",), ("f", "B"), ("g", "C")),
    (("f", "A"), ("f",), ("g",)),
)
"""Three classes in two levels, in every way in three, and with tests that lie beside classes; the first is the victim's."""
