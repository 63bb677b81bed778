"""Which order next: nightly builds that obey see every pair before long."""

from __future__ import annotations

import pytest
from flakeboard.orders.configurations import order_of
from flakeboard.orders.next_order import next_order, order_digest, orders_left
from flakeboard.orders.pairs import Pairs
from flakeboard.orders.suite import Suite
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.orders.suites import suite_of, suite_of_paths, trees


def nights(suite: Suite, count: int, goal: str = "auto", passes=lambda number: True) -> list[list[int]]:
    """The orders of so many builds, each by what the ones before have shown; a failing build shows its first half."""
    seen, known, newest, passed, orders = Pairs(len(suite)), set(), None, False, []
    for number in range(count):
        answer = next_order(suite, seen, newest, passed, known, number, goal)
        newest, passed = answer.order, passes(number)
        orders.append(newest)
        known.add(order_digest(suite, newest))
        seen.add_order(newest, None if passed else set(newest[: len(newest) // 2]))
    return orders


def unit_pairs(suite: Suite, orders) -> set[tuple[str, str]]:
    homes = [[suite.cases[test].units[0] for test in order] for order in orders]
    return {(a, b) for units in homes for a, b in zip(units, units[1:], strict=False) if a != b}


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("goal", ["auto", "units", "pairs"])
def test_thirty_nightly_builds_see_all_pairs_of_twenty_units(size: int, goal: str) -> None:
    suite = suite_of([size] * 20)
    orders = nights(suite, 30, goal)
    assert all(suite.is_compatible(order) and sorted(order) == list(range(len(suite))) for order in orders)
    assert len(unit_pairs(suite, orders)) == 380


def test_thirty_random_orders_see_less_than_four_fifths() -> None:
    suite = suite_of([1] * 20)
    shares = []
    for seed in range(40):
        orders = [order_of(suite, "random-class-method", f"night{seed}", number) for number in range(30)]
        shares.append(len(unit_pairs(suite, orders)) / 380)
    assert sum(shares) / len(shares) == pytest.approx(0.785, abs=0.01)


def test_odd_units_of_unequal_sizes_and_failing_builds_get_there_too() -> None:
    suite = suite_of([1, 2, 3, 4, 5, 1, 2])
    assert len(unit_pairs(suite, nights(suite, 16, passes=lambda number: number % 3))) == 42


@given(trees, st.data())
def test_every_answer_is_a_whole_compatible_order(suite: Suite, data) -> None:
    seen = Pairs(len(suite), [data.draw(st.integers(0, 2 ** len(suite) - 1)) for _ in range(len(suite))])
    for goal in ("auto", "pairs", "units", "random"):
        answer = next_order(suite, seen, goal=goal)
        assert sorted(answer.order) == list(range(len(suite))) and suite.is_compatible(answer.order)
        new = sum(pair not in seen for pair in zip(answer.order, answer.order[1:], strict=False))
        assert answer.new_pairs == new
        if answer.goal == "pairs":
            assert new > 0


@given(trees.filter(lambda suite: len(suite) <= 7), st.sampled_from(["auto", "pairs"]))
def test_all_pairs_are_seen_at_last(suite: Suite, goal: str) -> None:
    """Every order shows something new as long as anything is unseen, so there are at most as many as pairs."""
    pairs = {(a, b) for a in range(len(suite)) for b in range(len(suite)) if a != b}
    orders = nights(suite, 2 * len(pairs), goal)
    assert {pair for order in orders for pair in zip(order, order[1:], strict=False)} == pairs


@given(trees, st.data())
def test_the_last_unseen_pair_is_shown(suite: Suite, data) -> None:
    if len(suite) < 2:
        return
    first, second = data.draw(st.permutations(range(len(suite))))[:2]
    seen = Pairs.every(len(suite))
    seen.discard(first, second)
    answer = next_order(suite, seen)
    assert answer.goal == "pairs" and answer.new_pairs == 1 and suite.is_compatible(answer.order)
    assert sorted(answer.order) == list(range(len(suite)))


def test_the_reverse_of_a_passing_order_comes_first() -> None:
    suite = suite_of([2, 2])
    answer = next_order(suite, Pairs(4), [0, 1, 2, 3], True, {order_digest(suite, [0, 1, 2, 3])})
    assert (answer.goal, answer.order) == ("reverse", [3, 2, 1, 0])
    assert answer.why == "the newest order passed and its reverse was never seen"
    seen = {order_digest(suite, order) for order in ([0, 1, 2, 3], [3, 2, 1, 0])}
    assert next_order(suite, Pairs(4), [0, 1, 2, 3], True, seen).goal == "pairs"
    assert next_order(suite, Pairs(4), [0, 1, 2, 3], False, set()).goal == "pairs"
    assert next_order(suite, Pairs(4), [0, 1, 2], True, set()).goal == "pairs"
    assert next_order(suite, Pairs(4), [0, 1, 2, 3], True, set(), goal="units").goal == "units"


def test_when_all_was_seen_orders_are_random_and_differ() -> None:
    suite = suite_of([3, 3])
    first, second = (next_order(suite, Pairs.every(6), count=count) for count in (7, 8))
    assert first.goal == second.goal == "random" and first.order != second.order
    assert first.seed == f"{suite.digest}-7" and first.orders_left == 0 and first.new_pairs == 0
    assert first.order == order_of(suite, "random-class-method", first.seed, 0)
    assert next_order(suite, Pairs(6), goal="random").why == "a random order was asked for"


def test_units_are_enough_for_the_goal_of_units() -> None:
    suite = suite_of([2, 2])
    seen = Pairs.of_orders(4, [[0, 2], [3, 1]])
    assert next_order(suite, seen, goal="units").goal == "random"
    assert next_order(suite, seen, goal="pairs").goal == "pairs"


def test_orders_left_is_a_lower_bound() -> None:
    suite = suite_of([3, 1])
    assert orders_left(suite, Pairs(4)) == 4
    assert orders_left(suite, Pairs.of_orders(4, [[0, 3], [1, 3]])) == 4
    assert orders_left(suite, Pairs.every(4)) == 0
    assert orders_left(suite_of_paths([("f", "A"), ("f", "A"), ("f", "B"), ("f", "B")]), Pairs(4)) == 4


def test_an_unknown_goal_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown goal: fast"):
        next_order(suite_of([2]), Pairs(2), goal="fast")


@pytest.mark.parametrize("sizes", [[], [1]])
def test_a_suite_without_pairs_has_a_random_order(sizes: list[int]) -> None:
    suite = suite_of(sizes)
    answer = next_order(suite, Pairs(len(suite)))
    assert answer.goal == "random" and answer.order == list(range(len(suite)))
