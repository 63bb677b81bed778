"""Plans: every wanted pair, compatible orders, few of them."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from random import Random

import pytest
from flakeboard.orders import plans
from flakeboard.orders.columns import orders_between
from flakeboard.orders.greedy import needed_orders, random_orders
from flakeboard.orders.joins import absorbed, joined, trimmed
from flakeboard.orders.pairs import Pairs
from flakeboard.orders.plans import least_orders, plan
from flakeboard.orders.squares import square
from flakeboard.orders.suite import Suite
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.orders.suites import suite_of, trees

TABLE = [
    ([5] * 10, 250, 256),
    ([4] * 20, 320, 324),
    (list(range(1, 11)), 450, 536),
    ([30, 5, 5, 2, 1, 1], 420, 452),
    ([12, 7, 5, 4, 3, 3, 2, 2, 1, 1, 1, 1], 360, 370),
    ([20, 10, 10, 5, 5, 5, 5, *[2] * 8], 1_120, 1_154),
]
"""Classes, lower bound, and the orders of the best plan known before these."""


def neighbours(orders) -> set[tuple[int, int]]:
    return {pair for order in orders for pair in zip(order, order[1:], strict=False)}


def is_sound(suite: Suite, orders) -> bool:
    """Each order names tests once and keeps units together."""
    return all(suite.is_compatible(order) and len(set(order)) == len(order) for order in orders)


@given(trees, st.text(alphabet="ab", max_size=2))
def test_a_plan_shows_every_pair_of_any_tree(suite: Suite, seed: str) -> None:
    made = plan(suite, seed=seed)
    assert neighbours(made.orders) == set(permutations(range(len(suite)), 2))
    assert is_sound(suite, made.orders)
    assert len(made.orders) >= made.bound


@pytest.mark.parametrize("way", [needed_orders, random_orders])
@given(suite=trees, data=st.data())
def test_greedy_orders_show_what_is_wanted_and_nothing_twice(way, suite: Suite, data) -> None:
    every = list(permutations(range(len(suite)), 2))
    chosen = data.draw(st.sets(st.sampled_from(every))) if every else set()
    wanted = Pairs(len(suite))
    for pair in chosen:
        wanted.add(*pair)
    orders = way(suite, wanted, "seed")
    shown = Counter(pair for order in orders for pair in zip(order, order[1:], strict=False))
    assert shown == Counter(chosen) and is_sound(suite, orders)


@given(trees, st.data())
def test_a_plan_of_wanted_pairs_shows_them(suite: Suite, data) -> None:
    every = list(permutations(range(len(suite)), 2))
    chosen = data.draw(st.sets(st.sampled_from(every))) if every else set()
    made = plan(suite, pairs=chosen)
    assert neighbours(made.orders) >= chosen and is_sound(suite, made.orders)
    assert made.pairs == len(chosen) and len(made.orders) <= len(chosen)
    for order in made.orders:
        assert (order[0], order[1]) in chosen and (order[-2], order[-1]) in chosen


def by_algorithm_31(sizes: list[int], random: Random) -> int:
    """The twin: rows of squares joined, then random orders of one test of a class, begun by an uncovered pair."""
    suite = suite_of(sizes)
    home = {test: number for number, tests in enumerate(suite.classes) for test in tests}
    left = {a: [b for b in range(len(suite)) if home[a] != home[b]] for a in range(len(suite))}
    count = max((len(square(size)) for size in sizes if size > 1), default=0)
    while pairs := [(a, b) for a, after in left.items() for b in after]:
        order = list(random.choice(pairs))
        left[order[0]].remove(order[1])
        visited = {home[test] for test in order}
        while fitting := [b for b in left[order[-1]] if home[b] not in visited]:
            order.append(random.choice(fitting))
            visited.add(home[order[-1]])
            left[order[-2]].remove(order[-1])
        count += 1
    return count


@settings(derandomize=True, max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 7), min_size=3, max_size=8).filter(lambda sizes: sum(sizes) >= 10))
def test_plans_are_near_the_bound_and_never_above_algorithm_31(sizes: list[int]) -> None:
    made = plan(suite_of(sizes))
    assert made.bound <= len(made.orders) <= 1.25 * made.bound
    assert len(made.orders) <= by_algorithm_31(sizes, Random(1))


@pytest.mark.parametrize(("sizes", "bound", "best"), TABLE[:3])
def test_plans_are_as_short_as_the_table(sizes: list[int], bound: int, best: int) -> None:
    suite = suite_of(sizes)
    made = plan(suite)
    assert made.bound == bound and len(made.orders) <= best
    assert neighbours(made.orders) == set(permutations(range(len(suite)), 2)) and is_sound(suite, made.orders)


@pytest.mark.parametrize(("k", "size"), [(2, 3), (4, 3), (6, 2), (7, 4), (8, 1), (9, 3), (10, 5)])
def test_equal_classes_take_exactly_as_many_orders_as_the_bound(k: int, size: int) -> None:
    suite = suite_of([size] * k)
    between = orders_between(suite.classes)
    assert len(between) == k * size * size == least_orders(suite)
    shown = Counter(pair for order in between for pair in zip(order, order[1:], strict=False))
    assert set(shown.values()) == {1} and len(shown) == k * (k - 1) * size * size


@given(st.lists(st.integers(1, 5), min_size=2, max_size=6))
def test_neighbouring_columns_show_all_combinations(sizes: list[int]) -> None:
    branches = suite_of(sizes).classes
    between = neighbours(orders_between(branches))
    assert between == {pair for a, b in permutations(branches, 2) for pair in product(a, b)}


def test_two_large_classes_need_an_order_for_each_of_their_pairs() -> None:
    """The bound of all classes, 120, is out of reach: the third has too few tests to lengthen most orders."""
    made = plan(suite_of([10, 10, 1]))
    assert made.bound == 200 and len(made.orders) <= 210


@pytest.mark.parametrize(
    ("sizes", "bound"), [([], 0), ([1], 0), ([4], 4), ([1, 1], 2), ([8, 1, 1], 17), ([3, 3, 4], 33)]
)
def test_the_bound(sizes: list[int], bound: int) -> None:
    assert least_orders(suite_of(sizes)) == bound


def test_rows_of_a_class_go_to_the_ends_of_longer_orders() -> None:
    grown, rest = absorbed([[1, 9], [8, 2]], [[0, 1], [2, 0], [1, 2], [2, 1]])
    assert grown == [[0, 1, 9], [8, 2, 0]] and rest == [[1, 2], [2, 1]]
    shared, rest = absorbed([[1, 0, 9]], [[0, 1]])
    assert shared == [[1, 0, 9]] and rest == [[0, 1]]


def test_ends_that_show_nothing_new_are_trimmed() -> None:
    wanted = Pairs.every(5)
    wanted.discard(4, 0)
    orders = trimmed([[0, 1, 2], [1, 2, 3], [4, 0, 3], [1, 2]], wanted)
    assert neighbours(orders) == {(0, 1), (1, 2), (2, 3), (0, 3)}
    assert sum(map(len, orders)) == 7


def test_short_orders_without_a_common_unit_are_joined() -> None:
    suite = suite_of([2, 2, 2])
    assert joined(suite, [[0, 1], [2, 3], [4, 5], [1, 0]]) == [[0, 1, 2, 3, 4, 5], [1, 0]]


def test_slow_tests_are_repeated_less() -> None:
    suite = suite_of([1, 2, 3, 4])
    seconds = [100.0 if test == 9 else 0.1 for test in range(10)]
    aware, blind = plan(suite, seconds=seconds), plan(suite)

    def cost(orders) -> float:
        return len(orders) + sum(seconds[test] for order in orders for test in order)

    assert cost(aware.orders) <= cost(blind.orders)
    assert neighbours(aware.orders) == neighbours(blind.orders)


def test_greedy_plans_that_would_take_too_long_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_GREEDY_PAIRS", 100)
    made = plan(suite_of([2, 4, 8, 8]))
    assert made.how == "squares" and made.left_out == ("further greedy plans: 462 pairs would take too long",)
    assert neighbours(made.orders) == set(permutations(range(22), 2))
    assert plan(suite_of([2, 4])).left_out == ()


def test_wanted_pairs_are_planned_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_GREEDY_PAIRS", 10)
    suite = suite_of([5] * 6)
    chosen = {(a, b) for a, b in permutations(range(30), 2) if (a + b) % 9 == 0}
    assert neighbours(plan(suite, pairs=chosen).orders) >= chosen


def test_of_a_very_large_suite_only_pairs_of_units_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_TESTS", 20)
    suite = suite_of([3] * 7)
    made = plan(suite)
    assert made.how == "units" and made.left_out == (
        "pairs of tests: 21 tests are more than 20, so only pairs of units are shown",
    )
    orders = list(made.orders)
    assert len(orders) == 8 and all(sorted(order) == list(range(21)) for order in orders) and is_sound(suite, orders)
    shown = {(a // 3, b // 3) for a, b in neighbours(orders) if a // 3 != b // 3}
    assert len(shown) == 42 and made.pairs == 42
    assert made.orders[1:3] == orders[1:3] and made.orders[-1] == orders[-1]
    with pytest.raises(IndexError):
        made.orders[8]


def test_the_same_seed_gives_the_same_plan() -> None:
    suite = suite_of([1, 2, 3, 4])
    assert plan(suite, seed="a") == plan(suite, seed="a")
    assert needed_orders(suite, Pairs.every(10), "a") != needed_orders(suite, Pairs.every(10), "b")


@pytest.mark.parametrize("sizes", [[], [1]])
def test_fewer_than_two_tests_have_no_plan(sizes: list[int]) -> None:
    made = plan(suite_of(sizes))
    assert (len(made.orders), made.bound, made.pairs) == (0, 0, 0)
