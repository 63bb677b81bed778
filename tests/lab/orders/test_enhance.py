"""Schedules that keep dependencies."""

from __future__ import annotations

from random import Random

import pytest
from flakeboard.orders.constraints import CYCLE
from flakeboard.orders.dependencies import Dependency, holds, negative, positive, steps
from flakeboard.orders.enhance import CONTRADICTED, UNKNOWN, enhance
from flakeboard.orders.suite import Case, Suite

from tests.lab.orders.twins import enhanced_slowly, faults, simple_schedule, wild_schedule

A, B, C, D, E, N = range(6)


def order_of(chosen, dependencies, original=None, **how) -> list[int]:
    made = enhance(chosen, dependencies, list(range(10)) if original is None else original, **how)
    assert made.left_out == []
    return made.order


def test_the_published_examples() -> None:
    assert order_of([3, 2, 1, 4], [positive(1, 2)]) == [3, 1, 2, 4]
    p, n, d = 0, 2, 1
    assert order_of([n, d], [positive(p, d), negative(n, d)]) == [p, d, n]
    assert order_of([C], [positive(A, B), positive(B, C)]) == [A, B, C]
    original = [A, B, C, D, E, N]
    assert order_of([E, N, B, D], [positive(A, B), negative(N, D), negative(N, E)], original) == [E, D, N, A, B]


def test_simple_schedules_equal_the_slow_twin() -> None:
    for seed in range(300):
        schedule = simple_schedule(Random(seed))
        made = enhance(*schedule)
        assert made.order == enhanced_slowly(schedule), seed
        assert faults(schedule, made) == [] and made.left_out == [] and made.remain == [], seed


def test_wild_schedules_have_the_properties() -> None:
    for seed in range(300):
        schedule = wild_schedule(Random(seed))
        assert faults(schedule, enhance(*schedule)) == [], seed


def test_of_several_setters_the_first_chosen_serves() -> None:
    either = [positive(A, D), positive(B, D), positive(C, D)]
    assert order_of([D, C, B], either) == [C, D, B]
    assert order_of([B, D, C], either) == [B, D, C]


def test_else_the_setter_that_is_cheapest_with_what_it_needs_is_added() -> None:
    dependencies, original = [positive(A, D), positive(B, D), positive(C, A)], [C, A, B, D]
    assert order_of([D], dependencies, original, seconds=[1.0, 5.0, 3.0, 1.0]) == [C, A, D]
    assert order_of([D], dependencies, original, seconds=[1.0, 5.0, 9.0, 1.0]) == [B, D]
    assert order_of([D], dependencies, original) == [B, D]
    assert order_of([D, C], dependencies, original, seconds=[1.0, 5.0, 9.0, 1.0]) == [C, A, D]


def test_every_stated_setter_is_needed() -> None:
    stated = [positive(A, C, "stated"), positive(B, C, "stated"), positive(D, C, "shown"), positive(B, C, "shown")]
    made = enhance([C], stated[:2], [A, B, C, D])
    assert made.order == [A, B, C] and made.added == [A, B]


def test_a_group_is_kept_whole_and_in_order() -> None:
    assert order_of([C, B, A], [Dependency("positive", (B, A), C)], [B, A, C]) == [B, A, C]
    assert order_of([C], [Dependency("positive", (B, A), C)], [B, A, C]) == [B, A, C]


def test_the_victim_of_a_group_runs_before_the_last_of_it() -> None:
    group = Dependency("negative", (A, B), C)
    assert order_of([A, B, C], [group], [C, A, B]) == [A, C, B]
    assert order_of([B, C], [group], [C, A, B]) == [B, C]


def test_a_dependency_that_the_passing_order_breaks_is_left_out_and_named() -> None:
    wrong = negative(A, B)
    made = enhance([A, B], [wrong], [A, B])
    assert made.order == [A, B] and [(each.dependency, each.reason) for each in made.left_out] == [
        (wrong, CONTRADICTED)
    ]
    assert made.remain == [] and made.avoids == []


def test_an_unused_alternative_is_not_contradicted() -> None:
    made = enhance([C], [positive(A, C), positive(D, C)], [A, C, D])
    assert made.left_out == [] and made.order == [A, C]


@pytest.mark.parametrize("dependency", [positive(7, C), positive(C, C), Dependency("positive", (), C)])
def test_a_dependency_on_a_test_that_is_gone_is_left_out_and_named(dependency: Dependency) -> None:
    made = enhance([C, A], [dependency], [A])
    assert made.order == [C, A] and [each.reason for each in made.left_out] == [UNKNOWN]


def test_a_cycle_is_broken_by_a_cleaner_if_there_is_one() -> None:
    needs, spoils = positive(A, B), negative(A, B, (C,))
    made = enhance([B, A, C], [needs, spoils], [A, C, B])
    assert made.order == [A, C, B] and made.left_out == [] and made.remain == []
    added = enhance([B], [needs, spoils], [A, C, B])
    assert added.order == [A, C, B] and added.added == [A, C]


def test_a_cleaner_that_is_in_the_way_is_not_used() -> None:
    """C must run before A, so that it cannot clean up after it; D can."""
    dependencies = [positive(A, B), negative(A, B, (C, D)), positive(C, A, "stated")]
    made = enhance([B], dependencies, [C, A, D, B])
    assert made.order == [C, A, D, B] and made.left_out == []


def test_a_cycle_is_broken_by_another_setter_if_there_is_one() -> None:
    dependencies = [positive(A, B), positive(C, B), negative(A, B, ground="stated")]
    made = enhance([A, B], dependencies, [C, B, A])
    assert made.order == [C, B, A] and made.left_out == []


@pytest.mark.parametrize(
    ("first", "second", "lost"),
    [
        (positive(A, B, "inferred"), positive(B, A, "shown"), 0),
        (positive(A, B, "shown"), positive(B, A, "inferred"), 1),
        (positive(A, B, "shown"), positive(B, A, "stated"), 1),
        (positive(A, B, "stated"), positive(B, A, "inferred"), 1),
        (positive(A, B, "shown", 1), positive(B, A, "shown", 9), 1),
        (positive(A, B, "shown", 9), positive(B, A, "shown", 1), 0),
    ],
)
def test_else_the_weakest_then_oldest_edge_of_a_cycle_is_left_out(first, second, lost: int) -> None:
    made = enhance([A, B], [first, second], [])
    assert [(each.dependency, each.reason) for each in made.left_out] == [((first, second)[lost], CYCLE)]
    assert holds((second, first)[lost], steps(made.order))
    assert [test for test, _ in made.remain] == [(first, second)[lost].after]


def test_many_cycles_and_deep_chains_end() -> None:
    deep = 10_000
    chain = [positive(test, test + 1) for test in range(deep)]
    made = enhance([deep], chain, range(deep + 1))
    assert made.order == list(range(deep + 1)) and len(made.added) == deep
    circle = [*chain, positive(deep, 0, "inferred")]
    made = enhance(range(deep, -1, -1), circle, [])
    assert made.order == list(range(deep + 1)) and [each.dependency for each in made.left_out] == [circle[-1]]
    couples = [
        each for test in range(0, deep, 2) for each in (positive(test, test + 1), positive(test + 1, test, age=1))
    ]
    made = enhance(range(deep), couples, [])
    assert made.order == list(range(deep)) and len(made.left_out) == deep // 2


def test_what_is_avoided_and_what_was_moved_is_told() -> None:
    spoils, needs = negative(A, B), positive(C, D)
    made = enhance([A, B, D, E], [spoils, needs], [B, A, C, D, E])
    assert made.order == [B, A, C, D, E]
    assert made.avoids == [(B, spoils), (D, needs)] and made.remain == []
    assert made.moved == [B] and made.added == [C]


def units(*names: str) -> Suite:
    return Suite(Case(f"t{place}", tuple(name.split("/"))) for place, name in enumerate(names))


def test_a_unit_that_enhancing_splits_moves_as_a_whole() -> None:
    suite = units("f", "f", "g", "g")
    made = enhance([0, 1, 2, 3], [positive(2, 1)], [2, 3, 0, 1], suite=suite)
    assert made.order == [2, 3, 0, 1] and made.split == []
    assert enhance([0, 1, 2, 3], [positive(2, 1)], [2, 3, 0, 1]).order == [0, 2, 1, 3]


def test_a_unit_that_must_be_split_is_named() -> None:
    suite = units("f", "f", "g", "g")
    dependencies = [positive(2, 1), positive(0, 2)]
    made = enhance([0, 1, 2, 3], dependencies, [0, 2, 1, 3], suite=suite)
    assert made.order == [0, 2, 3, 1] and made.split == [("f",)]
    assert made.remain == []


def test_a_test_that_is_chosen_twice_runs_once() -> None:
    assert order_of([A, B, A], []) == [A, B]
