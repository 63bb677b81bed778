"""The tree of a suite, and which orders keep its units together."""

from __future__ import annotations

from itertools import permutations

import pytest
from flakeboard.orders.suite import Case, Suite, case_of, digest_of
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.orders.suites import suite_of, suite_of_paths, trees


@pytest.mark.parametrize(
    ("node_id", "units"),
    [
        ("tests/test_a.py::test_x", ("tests/test_a.py",)),
        ("tests/test_a.py::TestA::test_x", ("tests/test_a.py", "TestA")),
        ("tests/test_a.py::TestA::TestB::test_x", ("tests/test_a.py", "TestA", "TestB")),
        ("tests/test_a.py::test_x[a::b]", ("tests/test_a.py",)),
        ("tests/test_a.py::TestA::test_x[[::]]", ("tests/test_a.py", "TestA")),
        ("tests/[odd]/test_a.py::test_x", ("tests/[odd]/test_a.py",)),
        ("README.rst", ()),
    ],
)
def test_a_node_id_names_its_units(node_id: str, units: tuple[str, ...]) -> None:
    assert case_of(node_id) == Case(node_id, units)


def test_two_tests_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="same id"):
        Suite([case_of("a.py::t"), case_of("a.py::t")])


def test_children_of_a_unit_are_in_original_order() -> None:
    suite = suite_of_paths([("f",), ("f", "A"), ("g",), ("f", "A"), ("f",)])
    file = suite.root.children[0]
    assert not isinstance(file, int)
    assert file.children[0] == 0 and file.children[2] == 4
    assert file.tests() == [0, 1, 3, 4]
    assert [unit.path for unit in suite.units] == [("f",), ("f", "A"), ("g",)]
    assert suite.classes == [[0, 4], [1, 3], [2]]


def is_compatible_by_hand(suite: Suite, order: list[int]) -> bool:
    """The twin: of every prefix of units, the steps of its tests are without a gap."""
    prefixes = {case.units[:depth] for case in suite.cases for depth in range(1, len(case.units) + 1)}
    for prefix in prefixes:
        steps = [step for step, place in enumerate(order) if suite.cases[place].units[: len(prefix)] == prefix]
        if steps and steps[-1] - steps[0] + 1 != len(steps):
            return False
    return True


@given(trees, st.randoms(use_true_random=False), st.integers(0, 12))
def test_compatible_means_that_every_unit_is_consecutive(suite: Suite, random, size: int) -> None:
    order = random.sample(range(len(suite)), min(size, len(suite)))
    assert suite.is_compatible(order) == is_compatible_by_hand(suite, order)
    sorted_by_units = sorted(range(len(suite)), key=lambda place: suite.cases[place].units)
    assert suite.is_compatible(sorted_by_units) == is_compatible_by_hand(suite, sorted_by_units)


def test_as_many_orders_are_compatible_as_the_formula_says() -> None:
    suite = suite_of([2, 1, 3])
    assert sum(suite.is_compatible(order) for order in permutations(range(6))) == 6 * 2 * 1 * 6


def test_the_digest_tells_rosters_and_orders_apart() -> None:
    assert suite_of([2, 1]).digest != suite_of([1, 2]).digest
    assert suite_of([2, 1]).digest == suite_of([2, 1]).digest
    assert digest_of(["a", "b"]) != digest_of(["b", "a"])
