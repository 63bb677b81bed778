"""Chances in random orders: exact fractions, equal to counting every compatible order."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flakeboard.orders import probability
from flakeboard.orders.outcomes import Brittle, Polluter, Victim, brittle_of, victim_of
from flakeboard.orders.probability import chance_in_any_order, chance_in_random_order, chance_of_reverse, orders_for
from flakeboard.orders.suite import Case, Suite
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.orders import hadoop
from tests.lab.orders.enumeration import LAYOUTS, counted, fails_by_words, suites_of_relevant_tests
from tests.lab.orders.suites import trees

F = Fraction
SMALL = 5
"""Relevant tests in the cases of these tests; `make bench ARGS=orders` counts all up to seven."""


def by_classes(polluters: list[int], cleaners: list[int]) -> tuple[Suite, Victim]:
    cases, roles = [Case("v", ("0",))], {True: [], False: []}
    for number, (some_polluters, some_cleaners) in enumerate(zip(polluters, cleaners, strict=True)):
        for is_polluter in [True] * some_polluters + [False] * some_cleaners:
            roles[is_polluter].append(len(cases))
            cases.append(Case(f"t{len(cases)}", (str(number),)))
    return Suite(cases), victim_of(0, roles[True], roles[False])


@pytest.mark.parametrize(
    ("polluters", "cleaners", "compatible", "any_order", "reverse"),
    [
        ([1], [0], F(1, 2), F(1, 2), F(1)),
        ([2], [3], F(1, 3), F(1, 3), F(2, 5)),
        ([1, 1], [0, 0], F(3, 4), F(2, 3), F(1)),
        ([0, 1], [1, 0], F(1, 4), F(1, 3), F(1, 3)),
        ([1, 1], [1, 1], F(5, 12), F(2, 5), F(4, 7)),
        ([1, 2, 0], [1, 1, 2], F(11, 27), F(3, 8), F(9, 16)),
        ([2, 1], [1, 2], F(13, 24), F(3, 7), F(23, 33)),
        ([0, 2, 1], [0, 1, 1], F(7, 18), F(1, 2), F(5, 11)),
    ],
)
def test_the_published_table(polluters, cleaners, compatible: F, any_order: F, reverse: F) -> None:
    suite, victim = by_classes(polluters, cleaners)
    assert chance_in_random_order(suite, victim).value == compatible
    assert chance_in_any_order(victim).value == any_order
    assert chance_of_reverse(suite, victim).value == reverse


def closed_forms(polluters: list[int], cleaners: list[int]) -> tuple[F, F]:
    """f_C and J of two levels as they are written down, the victim's class first."""
    own, cleans = F(polluters[0]), F(cleaners[0])
    others = [(F(p), F(c)) for p, c in zip(polluters[1:], cleaners[1:], strict=True) if p + c]
    k = 1 + len(others)
    s_p, s_c = sum((p / (p + c) for p, c in others), F(0)), sum((c / (p + c) for p, c in others), F(0))
    fails = (own + s_p / k) / (own + cleans + 1)
    if own + cleans:
        joint = (own + k * own * cleans + own * s_c + cleans * s_p) / (k * (own + cleans) * (own + cleans + 1))
    else:
        joint = (s_p + s_p * s_c - sum((p * c / (p + c) ** 2 for p, c in others), F(0))) / (k * (k - 1))
    return fails, joint


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=5))
def test_two_levels_equal_the_closed_forms(classes: list[tuple[int, int]]) -> None:
    polluters, cleaners = [p for p, _ in classes], [c for _, c in classes]
    if sum(polluters) == 0:
        return
    suite, victim = by_classes(polluters, cleaners)
    fails, joint = closed_forms(polluters, cleaners)
    assert chance_in_random_order(suite, victim).value == fails
    assert chance_of_reverse(suite, victim).value == joint / (1 - fails)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_exact_chances_equal_counting_all_compatible_orders(layout) -> None:
    judged = 0
    for suite, polluters, cleaners in suites_of_relevant_tests(SMALL, layout):
        dependents = [victim_of(0, polluters, cleaners)] if polluters else []
        if not cleaners:
            dependents.append(brittle_of(0, polluters))
        for dependent in dependents:
            chance, reverse = chance_in_random_order(suite, dependent), chance_of_reverse(suite, dependent)
            assert (chance.value, reverse and reverse.value) == counted(suite, dependent), (suite.cases, dependent)
            assert chance.how != probability.ESTIMATED and chance.interval is None
            judged += 1
    assert judged > 200


@settings(max_examples=60)
@given(trees.filter(lambda suite: 2 <= len(suite) <= 6), st.data())
def test_tests_beside_units_and_deep_trees_equal_counting(suite: Suite, data) -> None:
    roles = data.draw(st.lists(st.sampled_from("pc"), min_size=len(suite) - 1, max_size=len(suite) - 1))
    partners = {role: [place for place, drawn in enumerate(roles, 1) if drawn == role] for role in "pc"}
    victim = victim_of(0, partners["p"], partners["c"])
    fails, reverse = counted(suite, victim)
    assert chance_in_random_order(suite, victim).value == (fails if partners["p"] else 0)
    if partners["p"]:
        assert chance_of_reverse(suite, victim).value == reverse
    brittle = brittle_of(0, range(1, len(suite)))
    assert chance_in_random_order(suite, brittle).value == counted(suite, brittle)[0]


def test_trees_of_file_class_and_test() -> None:
    files = [("f", "A"), ("f", "A"), ("f", "B"), ("g", "C"), ("g", "C")]
    suite = Suite(Case(f"t{place}", path) for place, path in enumerate(files))
    chance = chance_in_random_order(suite, victim_of(0, [1, 3], [2, 4]))
    assert (chance.value, chance.how) == (F(9, 16), "tree")
    assert chance_in_random_order(suite, brittle_of(0, [1, 2, 3, 4])).value == F(1, 8)


def test_the_case_of_the_formula_is_named() -> None:
    suite = Suite([Case("v", ("a",)), Case("p", ("a",)), Case("q", ("b",)), Case("r", ("b",))])
    assert chance_in_random_order(suite, victim_of(0, [1])).how == "one class"
    assert chance_in_random_order(suite, victim_of(0, [2])).how == "classes"
    assert chance_in_random_order(suite, victim_of(0, [2], [3])).how == "classes"


def test_tests_that_are_no_partners_change_nothing() -> None:
    alone = Suite([Case("v", ("a",)), Case("p", ("b",)), Case("c", ("b",))])
    among = Suite([*alone.cases, *(Case(f"{unit}{n}", (unit,)) for unit in "abcd" for n in range(10))])
    for suite in (alone, among):
        assert chance_in_random_order(suite, victim_of(0, [1], [2])).value == F(1, 4)


def test_a_test_that_always_fails_has_no_passing_order_to_reverse() -> None:
    suite = Suite([Case("b", ("a",)), Case("x", ("a",))])
    assert chance_in_random_order(suite, Brittle(0, ())).value == 1
    assert chance_of_reverse(suite, Brittle(0, ())) is None
    assert chance_in_random_order(suite, victim_of(0, [])).value == 0


def test_polluters_with_different_cleaners_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probability, "SAMPLES", 8_000)
    compatible = chance_in_random_order(hadoop.SUITE, hadoop.VICTIM)
    assert compatible.how == "estimated"
    assert abs(float(compatible.value) - hadoop.COMPATIBLE) < 0.006
    low, high = compatible.interval
    assert low < hadoop.COMPATIBLE < high and high - low < 0.02
    assert abs(float(chance_in_any_order(hadoop.VICTIM).value) - hadoop.ANY_ORDER) < 0.01
    assert abs(float(chance_of_reverse(hadoop.SUITE, hadoop.VICTIM).value) - hadoop.REVERSE) < 0.007
    assert chance_in_random_order(hadoop.SUITE, hadoop.VICTIM) == compatible
    assert chance_in_random_order(hadoop.SUITE, hadoop.VICTIM, seed="other") != compatible


def test_samples_hold_the_truth_in_their_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two polluters that share no cleaner: 9 of 24 orders of four tests, by counting."""
    monkeypatch.setattr(probability, "SAMPLES", 400)
    suite = Suite(Case(f"t{n}", ("a",)) for n in range(4))
    victim = Victim(0, (Polluter((1,), (3,)), Polluter((2,), ())))
    truth = counted(suite, victim)[0]
    chances = [chance_in_random_order(suite, victim, seed=str(seed)) for seed in range(100)]
    inside = sum(chance.interval[0] <= truth <= chance.interval[1] for chance in chances)
    assert inside >= 90, inside


def test_a_polluter_that_is_known_twice_fails_by_either() -> None:
    judge = probability._judge(Victim(0, (Polluter((1,), (2,)), Polluter((1,), (3,)))))
    assert [judge(order) for order in ([1, 2, 0], [1, 3, 0], [1, 2, 3, 0], [2, 3, 1, 0])] == [True, True, False, True]


@given(st.permutations(range(7)))
def test_samples_are_judged_as_the_definition_says(order: list[int]) -> None:
    victim = Victim(0, (Polluter((1,), (3, 4)), Polluter((2,), (4, 5))))
    assert probability._judge(victim)(order) == fails_by_words(order, victim)


def test_groups_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probability, "SAMPLES", 4_000)
    suite = Suite(Case(f"t{n}", ("a",)) for n in range(3))
    chance = chance_in_random_order(suite, Victim(0, (Polluter((1, 2)),)))
    assert chance.how == "estimated" and abs(chance.value - F(1, 6)) < F(3, 100)
    reverse = chance_of_reverse(suite, Brittle(0, ((1, 2),)))
    assert reverse.value == 1  # it passes behind both, and the reverse has both behind it


@pytest.mark.parametrize(
    ("chance", "orders"),
    [
        (F(1, 2), 5),
        (F(1, 3), 8),
        (F(1, 5), 14),
        (0.105, 28),
        (0.045, 66),
        (0.012, 249),
        (1, 1),
        (F(3, 4), 3),
        (1e-6, 2_995_731),
    ],
)
def test_orders_for_95_percent(chance, orders: int) -> None:
    assert orders_for(chance) == orders


def test_orders_at_the_edge_of_the_confidence() -> None:
    assert orders_for(F(1, 2), 0.75) == 2
    assert orders_for(F(1, 2), 0.7500001) == 3
    assert orders_for(0) is None
