"""Who ran before whom: partners and cleaners against brute force, and against suites whose truth is known."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.kernel import order_findings, orders
from tests.analytics import brute
from tests.analytics.outcomes import of_matrix

FEW = 3
"""The default of few_failures."""


def shuffled(tests: int, count: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.permutation(tests) for _ in range(count))


def fails(order: np.ndarray, victim: int, polluter: int, cleaners: tuple[int, ...] = ()) -> bool:
    """A victim fails when the polluter ran before it, and no cleaner since."""
    dirty = False
    for test in order.tolist():
        if test == victim:
            return dirty
        dirty = (dirty or test == polluter) and test not in cleaners
    return False


suites = st.integers(2, 7).flatmap(
    lambda tests: st.tuples(
        st.just(tests),
        st.lists(
            st.tuples(
                st.permutations(range(tests)),
                st.integers(1, tests),  # so many of them ran
            ),
            min_size=1,
            max_size=12,
        ),
    )
)


def cut(drawn: list[tuple[list[int], int]]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(order[:length], dtype=np.int64) for order, length in drawn)


@settings(deadline=None)
@given(suites, st.lists(st.integers(0, 11), max_size=20))
def test_before_is_what_walking_an_order_gives(drawn, chosen: list[int]) -> None:  # type: ignore[no-untyped-def]
    tests, made = drawn
    known = cut(made)
    executed = np.array([one % len(known) for one in chosen], dtype=np.int64)
    before = orders.before_matrix(known, executed, 0, tests)
    assert before.shape == (len(executed), tests)
    for row, number in zip(before, executed, strict=True):
        order = known[number].tolist()
        earlier = set(order[: order.index(0)]) if 0 in order else set()
        assert set(np.flatnonzero(row)) == earlier


def tails(failed_with: int, failures: int, there: int, total: int) -> tuple[Fraction, Fraction]:
    """P(at most, at least as many failures) among `there` of `total` executions, of which `failures` failed."""
    ways = {k: comb(failures, k) * comb(total - failures, there - k) for k in range(min(failures, there) + 1)}
    whole = comb(total, there)
    low = sum(way for k, way in ways.items() if k <= failed_with)
    return Fraction(low, whole), Fraction(sum(way for k, way in ways.items() if k >= failed_with), whole)


Witness = tuple[tuple[bool, ...], bool]
Told = dict[int, tuple[float, float]]


def two_sided(low: Fraction, high: Fraction) -> float:
    return float(min(Fraction(1), 2 * min(low, high)))


def fewer(low: Fraction, high: Fraction) -> float:
    return float(low)


def told_by(witnesses: list[Witness], side: Callable[[Fraction, Fraction], float]) -> Told:
    """Candidate -> p-value and lift."""
    found = {}
    for test in range(len(witnesses[0][0]) if witnesses else 0):
        there = sum(row[test] for row, _ in witnesses)
        failures, both = sum(end for _, end in witnesses), sum(row[test] and end for row, end in witnesses)
        if min(there, len(witnesses) - there) >= FEW:
            lift = both / max(failures, 1) - (there - both) / max(len(witnesses) - failures, 1)
            found[test] = (side(*tails(both, failures, there, len(witnesses))), lift)
    return found


def slow_ranks(
    rows: list[tuple[list[bool], bool]], side: Callable[[Fraction, Fraction], float]
) -> tuple[Told, set[int]]:
    """Each (who was there, how it ended) once. The best is taken with all that are like it, and what it was there for
    is explained; so on with what is left. Returns all candidates, and those taken."""
    witnesses = sorted({(tuple(row), end) for row, end in rows})
    found, left = told_by(witnesses, side), witnesses
    taken: Told = {}
    while left:
        told = told_by(left, side)
        tests = list(told)
        kept = brute.benjamini_hochberg([told[test][0] for test in tests], max(len(tests), 1), 0.05)
        if not kept:
            break
        best = min(tests, key=lambda test: (round(told[test][0], 12), -round(abs(told[test][1]), 9), test))
        taken.update({one: told[one] for one in tests if all(row[one] == row[best] for row, _ in witnesses)})
        left = [(row, end) for row, end in left if not row[best]]
    return {**found, **taken}, set(taken)


def deciding(tests: int) -> st.SearchStrategy[list[tuple[list[bool], bool]]]:
    """Rows in which the first test decides, but for some noise: so that something is to be found."""
    row = st.tuples(st.lists(st.booleans(), min_size=tests, max_size=tests), st.integers(0, 9))
    return st.lists(row, min_size=1, max_size=60).map(
        lambda rows: [(there, there[0] if noise else not there[0]) for there, noise in rows]
    )


@settings(deadline=None)
@given(st.integers(4, 7).flatmap(deciding))
def test_partners_are_what_counting_witnesses_gives(rows: list[tuple[list[bool], bool]]) -> None:
    before = np.array([row for row, _ in rows])
    found = orders.partners(before, np.array([end for _, end in rows]))
    slow, taken = slow_ranks(rows, two_sided)
    assert sorted(found.test.tolist()) == sorted(slow)
    assert set(found.test[found.related].tolist()) == taken
    for row, test in enumerate(found.test.tolist()):
        p_value, lift = slow[test]
        assert found.p_value[row] == pytest.approx(p_value)
        assert found.polluter[row] == (lift > 1e-12)
        columns = {other: [(r[other]) for r, _ in rows] for other in range(before.shape[1])}
        assert found.alike[row] == sum(columns[other] == columns[test] for other in slow)
    rest = found.p_value[~found.related]
    assert (np.diff(rest) >= -1e-12).all()
    assert not found.related[np.count_nonzero(found.related) :].any()


def test_one_order_a_hundred_times_blames_nobody() -> None:
    known = (np.array([1, 2, 3, 0]), np.array([0, 3, 2, 1]))
    executed = np.repeat([0, 1], 100)
    found = orders.partners(orders.before_matrix(known, executed, 0, 4), executed == 0)
    assert not found.related.any()


def test_the_usual_order_makes_no_setters_of_the_tests_that_come_first_in_it() -> None:
    usual = np.arange(30)
    known = (usual, *shuffled(30, 40, seed=1))
    executed = np.concatenate([np.zeros(500, dtype=np.int64), np.arange(1, 41)])
    failed = np.array([fails(known[one], 20, 25) for one in executed])
    found = orders.partners(orders.before_matrix(known, executed, 20, 30), failed)
    assert (found.test[0], found.polluter[0], found.related[0]) == (25, True, True)
    assert not (found.state_setter & found.related).any()


def test_one_polluter_does_not_make_polluters_of_all_that_run_early() -> None:
    known = shuffled(40, 300, seed=9)
    failed = np.array([fails(order, 3, 17) for order in known])
    found = orders.partners(orders.before_matrix(known, np.arange(300), 3, 40), failed)
    assert found.test[found.related].tolist() == [17]


def test_two_polluters_are_both_found() -> None:
    known = shuffled(40, 300, seed=10)
    failed = np.array([fails(order, 3, 17) or fails(order, 3, 30) for order in known])
    found = orders.partners(orders.before_matrix(known, np.arange(300), 3, 40), failed)
    assert sorted(found.test[found.related].tolist()) == [17, 30]
    assert found.polluter[:2].all()


def test_a_state_setter_is_told_from_a_polluter() -> None:
    known = shuffled(30, 60, seed=2)
    executed = np.arange(60)
    before = orders.before_matrix(known, executed, 4, 30)
    found = orders.partners(before, ~before[:, 9])
    assert (found.test[0], found.state_setter[0], found.polluter[0], found.related[0]) == (9, True, False, True)


def test_tests_that_always_run_together_are_said_to_be_alike() -> None:
    rng = np.random.default_rng(5)
    known = []
    for _ in range(60):
        rest = [one for one in rng.permutation(12).tolist() if one != 8]
        rest.insert(rest.index(7) + 1, 8)  # 8 comes right after 7
        known.append(np.array(rest))
    executed = np.arange(60)
    failed = np.array([fails(order, 0, 7) for order in known])
    found = orders.partners(orders.before_matrix(known, executed, 0, 12), failed)
    assert found.test[:2].tolist() == [7, 8]
    assert found.alike[:2].tolist() == [2, 2]


def test_what_never_changes_its_place_is_no_candidate() -> None:
    known = tuple(np.concatenate([[5], order[order != 5]]) for order in shuffled(6, 50, seed=3))
    found = orders.partners(orders.before_matrix(known, np.arange(50), 0, 6), np.arange(50) % 2 == 0)
    assert 5 not in found.test
    assert 0 not in found.test


# -- cleaners ----------------------------------------------------------------------------------------------------


def test_the_cleaner_of_a_victim_is_found_among_many() -> None:
    known = shuffled(40, 150, seed=6)
    failed = np.array([fails(order, 3, 17, (29,)) for order in known])
    found = orders.cleaners(known, np.arange(150), failed, 3, 17, 40)
    assert (found.test[0], found.related[0]) == (29, True)
    assert found.test[found.related].tolist() == [29]


def test_a_victim_without_cleaners_has_none() -> None:
    known = shuffled(40, 150, seed=7)
    failed = np.array([fails(order, 3, 17) for order in known])
    assert not orders.cleaners(known, np.arange(150), failed, 3, 17, 40).related.any()


@settings(deadline=None)
@given(suites, st.lists(st.tuples(st.integers(0, 11), st.booleans()), min_size=1, max_size=25))
def test_cleaners_are_what_looking_between_gives(drawn, executions) -> None:  # type: ignore[no-untyped-def]
    tests, made = drawn
    known = cut(made)
    executed = np.array([one % len(known) for one, _ in executions], dtype=np.int64)
    failed = np.array([end for _, end in executions])
    found = orders.cleaners(known, executed, failed, 0, 1, tests)
    between, ends = [], []
    for number, end in zip(executed.tolist(), failed.tolist(), strict=True):
        order = known[number].tolist()
        if 0 in order and 1 in order and order.index(1) < order.index(0):
            inside = order[order.index(1) + 1 : order.index(0)]
            between.append([test in inside for test in range(tests)])
            ends.append(end)
    slow, taken = slow_ranks(list(zip(between, ends, strict=True)), fewer)
    expected = {test: p_value for test, (p_value, lift) in slow.items() if lift < -1e-12}
    assert dict(zip(found.test.tolist(), found.p_value.tolist(), strict=True)) == pytest.approx(expected)
    assert set(found.test[found.related].tolist()) == taken


@pytest.mark.parametrize(("polluters", "cleaners"), [((), ()), ((1,), ()), ((1, 2), (3,)), ((1,), (2, 3, 4))])
def test_the_rate_in_random_orders_is_that_of_all_orders(polluters: tuple[int, ...], cleaners: tuple[int, ...]) -> None:
    every = [np.array(order) for order in permutations((0, *polluters, *cleaners))]
    bad = sum(any(fails(order, 0, polluter, cleaners) for polluter in polluters) for order in every)
    assert orders.single_polluter_rate(len(polluters), len(cleaners)) == pytest.approx(bad / len(every))


def one_victim(known: tuple[np.ndarray, ...], failed: np.ndarray) -> order_findings.OrderFinding:
    """What is found of test 3, which ran once in each of the orders."""
    ran = of_matrix(failed.astype(int)[None, :])
    (found,) = order_findings.order_findings(ran, np.arange(len(known)), known, np.array([3]))
    return found


@pytest.mark.parametrize(("cleaners", "rate"), [((), 1 / 2), ((29,), 1 / 3)])
def test_an_explained_victim_is_told_how_often_random_orders_break_it(cleaners: tuple[int, ...], rate: float) -> None:
    known = shuffled(40, 150, seed=6)
    failed = np.array([fails(order, 3, 17, cleaners) for order in known])
    found = one_victim(known, failed)
    assert found.explained
    assert found.in_random_orders == pytest.approx(rate)
    assert failed.mean() == pytest.approx(rate, abs=0.1)


def test_what_no_polluter_explains_has_no_rate_in_random_orders() -> None:
    known = shuffled(40, 150, seed=6)
    without_setter = ~orders.before_matrix(known, np.arange(150), 3, 40)[:, 9]
    assert one_victim(known, without_setter).explained
    assert np.isnan(one_victim(known, without_setter).in_random_orders)
    assert np.isnan(one_victim(known, np.random.default_rng(1).random(150) < 0.3).in_random_orders)


def test_no_orders_have_no_partners_and_no_cleaners() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    before = orders.before_matrix((), nothing, 0, 5)
    assert before.shape == (0, 5)
    assert len(orders.partners(before, np.zeros(0, dtype=bool)).test) == 0
    assert len(orders.cleaners((), nothing, np.zeros(0, dtype=bool), 0, 1, 5).test) == 0
    unknown = (np.zeros(0, dtype=np.int64),)
    assert not orders.before_matrix(unknown, np.array([0]), 0, 5).any()


# -- with little data --------------------------------------------------------------------------------------------


def flapy(failing: int = 3, passing: int = 13, tests: int = 8, seed: int = 2) -> order_findings.OrderFinding:
    """A victim, test 3, that passes without its polluter, test 1, before it and fails after it; failures come last."""
    known = shuffled(tests, 400, seed)
    after = [one for one in known if fails(one, 3, 1)][:failing]
    before = [one for one in known if not fails(one, 3, 1)][:passing]
    return one_victim((*before, *after), np.array([False] * passing + [True] * failing))


def test_three_failures_after_the_polluter_and_thirteen_passes_without_it_are_enough() -> None:
    found = flapy()
    assert found.verdict.kind is orders.OrderKind.OD
    assert found.verdict.p_value == pytest.approx(1 / comb(16, 3)) and round(found.verdict.p_value, 4) == 0.0018
    assert (found.partners.test.tolist(), found.partners.polluter.tolist()) == ([1], [True])
    assert found.explained and (found.orders, found.executions) == (16, 16)


def test_among_very_many_candidates_the_same_counts_are_chance() -> None:
    known = shuffled(120, 16, seed=4)
    before = orders.before_matrix(known, np.arange(16), 0, 120)
    failed = before[:, 1].copy()
    failed[np.flatnonzero(failed)[3:]] = False
    before[:, 1] = failed
    assert not len(orders.deciding_partners(before, failed).test)
    assert orders.deciding_partners(before[:, :9], failed).test.tolist() == [1]


def test_two_failures_say_nothing_and_neither_does_a_partner_that_does_not_decide() -> None:
    assert flapy(failing=2).verdict.kind is orders.OrderKind.UNKNOWN
    before = np.array([[True], [True], [True], [False], [True]] + [[False]] * 9)
    assert not len(orders.deciding_partners(before, before[:, 0] & (np.arange(14) < 4)).test)
