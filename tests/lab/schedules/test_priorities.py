"""Priorities: against slow twins, and what must never come first."""

from flakeboard.orders.priorities import Record, additional, by_failures, regression_rate, total
from hypothesis import given
from hypothesis import strategies as st

covered = st.lists(st.one_of(st.none(), st.sets(st.integers(0, 8))), max_size=12)


def bits(tests):
    return [None if test is None else sum(1 << line for line in test) for test in tests]


def slow_additional(tests):
    """As Elbaum 2002 says it, without anything clever."""
    order = [place for place, lines in enumerate(tests) if lines is None]
    left = [place for place, lines in enumerate(tests) if lines is not None]
    seen: set[int] = set()
    while left:
        best = max(left, key=lambda place: (len(tests[place] - seen), -place))
        if not tests[best] - seen:
            if not seen:
                return order + left
            seen = set()
            continue
        order.append(best)
        left.remove(best)
        seen |= tests[best]
    return order


@given(covered)
def test_additional_is_as_the_slow_twin_says(tests) -> None:
    assert additional(bits(tests)) == slow_additional(tests)


@given(covered)
def test_total_goes_by_size_and_the_unknown_come_first(tests) -> None:
    order = total(bits(tests))
    keys = [(tests[place] is not None, -len(tests[place] or ()), place) for place in order]
    assert keys == sorted(keys) and sorted(order) == list(range(len(tests)))


def test_a_test_that_regressed_goes_before_a_flaky_one_that_never_did() -> None:
    flaky, regressed = Record(0, 1_000, 1.0), Record(1, 1_000, 1.0)
    assert by_failures([flaky, regressed]) == [1, 0]
    assert by_failures([flaky, regressed, None]) == [2, 1, 0]
    quick, slow = Record(0, 1_000, 0.001), Record(1, 1_000, 60.0)
    assert by_failures([quick, slow]) == [1, 0]


def test_of_two_that_regress_alike_the_quicker_goes_first() -> None:
    assert by_failures([Record(3, 100, 9.0), Record(3, 100, 1.0)]) == [1, 0]


def test_one_run_neither_damns_nor_acquits() -> None:
    assert regression_rate(Record(1, 1, 1.0)) < 0.1
    assert regression_rate(Record(0, 0, 1.0)) > regression_rate(Record(0, 1_000, 1.0)) > 0


def test_a_test_without_seconds_is_no_division_by_zero() -> None:
    assert by_failures([Record(0, 1, 0.0), Record(0, 1, 1.0)]) == [0, 1]
