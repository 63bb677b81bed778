"""Which orders make an order-dependent test fail."""

from __future__ import annotations

from itertools import permutations

import pytest
from flakeboard.orders.dependencies import Dependency, negative, positive, steps
from flakeboard.orders.outcomes import (
    Brittle,
    OrderDependent,
    Polluter,
    Victim,
    brittle_of,
    broken,
    fails,
    polluter_at,
    relevant,
    victim_of,
)

from tests.lab.orders.enumeration import fails_by_words

TWO_POLLUTERS = Victim(0, (Polluter((1,), (3,)), Polluter((2,), (3, 4))))


@pytest.mark.parametrize(
    "dependent", [victim_of(0, [1, 2], [3]), TWO_POLLUTERS, victim_of(0, [1]), brittle_of(0, [1, 2])]
)
def test_every_order_ends_as_the_definition_says(dependent: OrderDependent) -> None:
    orders = list(permutations(range(6)))
    ends = [fails(order, dependent) for order in orders]
    assert ends == [fails_by_words(order, dependent) for order in orders]
    assert 0 < sum(ends) < len(ends)


@pytest.mark.parametrize(
    ("order", "ends"),
    [
        ([1, 2, 0], True),
        ([2, 1, 0], False),
        ([1, 0, 2], False),
        ([1, 3, 2, 0], True),
        ([1, 2, 3, 0], False),
        ([2, 0], False),
    ],
)
def test_a_group_pollutes_whole_in_its_order_and_until_cleaned(order: list[int], ends: bool) -> None:
    assert fails(order, Victim(0, (Polluter((1, 2), (3,)),))) is ends


def test_a_group_of_setters_is_needed_whole() -> None:
    brittle = Brittle(0, ((1, 2), (3,)))
    assert [fails(order, brittle) for order in ([1, 0, 2], [1, 2, 0], [2, 1, 0], [3, 0], [0])] == [
        True,
        False,
        True,
        False,
        True,
    ]


def test_a_test_that_does_not_run_does_not_fail() -> None:
    assert not fails([1], victim_of(0, [1])) and not fails([1], brittle_of(0, [2]))


def test_the_last_active_polluter_explains_a_failure() -> None:
    assert polluter_at(steps([2, 1, 0]), TWO_POLLUTERS) == Polluter((1,), (3,))
    assert polluter_at(steps([1, 2, 0]), TWO_POLLUTERS) == Polluter((2,), (3, 4))
    assert polluter_at(steps([1, 2, 4, 0]), TWO_POLLUTERS) == Polluter((1,), (3,))
    assert polluter_at(steps([1, 2, 3, 0]), TWO_POLLUTERS) is None


def test_partners_are_relevant_and_nothing_else() -> None:
    assert relevant(TWO_POLLUTERS) == {0, 1, 2, 3, 4}
    assert relevant(Brittle(5, ((1, 2), (3,)))) == {1, 2, 3, 5}


def test_alternatives_break_only_together_and_stated_ones_each() -> None:
    either = [positive(1, 0), positive(2, 0, ground="inferred")]
    assert broken([2, 0, 1], either) == []
    assert broken([0, 1, 2], either) == either
    stated = [positive(1, 0, ground="stated"), positive(2, 0, ground="stated")]
    assert broken([2, 0, 1], stated) == stated[:1]
    assert broken([2, 0, 1], [*either, *stated]) == stated[:1]


def test_what_an_order_breaks_is_named() -> None:
    group = Dependency("negative", (1, 2), 0)
    cleaned = negative(1, 0, (2,))
    assert broken([1, 2, 0], [group, cleaned, negative(3, 0)]) == [group]
