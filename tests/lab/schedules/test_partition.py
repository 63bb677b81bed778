"""Parts of a suite: whole, balanced, and groups kept together."""

import math

from flakeboard.orders.dependencies import Dependency, negative, positive
from flakeboard.orders.partition import bound, by_groups, by_position, by_time, groups, of_groups
from hypothesis import given
from hypothesis import strategies as st

lengths = st.lists(st.floats(0.0, 100.0), max_size=30)


@st.composite
def cases(draw):
    seconds = draw(lengths)
    count = len(seconds)
    pair = st.tuples(st.integers(0, max(count - 1, 0)), st.integers(0, max(count - 1, 0)))
    ground = st.sampled_from(["shown", "stated"])
    rows = draw(st.lists(st.tuples(pair, ground), max_size=8)) if count > 1 else []
    known = [positive(before, after, of) for (before, after), of in rows if before != after]
    return seconds, draw(st.integers(1, 6)), known


@given(cases())
def test_every_test_is_in_one_part(case) -> None:
    seconds, total, known = case
    for parts in (by_position(len(seconds), total), by_time(seconds, total), by_groups(seconds, total, known)):
        assert len(parts) == total
        assert sorted(test for part in parts for test in part) == list(range(len(seconds)))


@given(cases())
def test_groups_stay_together_and_no_part_is_longer_than_the_bound_allows(case) -> None:
    seconds, total, known = case
    grouped = groups(len(seconds), known)
    parts = by_groups(seconds, total, known)
    for group in grouped:
        assert any(set(group) <= set(part) for part in parts)
    assert all(part == sorted(part) for part in parts)
    longest = max((sum(seconds[test] for test in part) for part in parts), default=0.0)
    heaviest = max([0.0, *seconds, *(sum(seconds[test] for test in group) for group in grouped)])
    assert longest <= sum(seconds) / total + heaviest + 1e-6
    assert bound(seconds, total, grouped) <= longest + 1e-6


@given(cases())
def test_a_setter_is_with_its_test(case) -> None:
    """Every stated one; of those that were observed, one."""
    seconds, _, known = case
    group_of = {test: -1 - test for test in range(len(seconds))}
    group_of.update((test, place) for place, group in enumerate(groups(len(seconds), known)) for test in group)
    for test in {dependency.after for dependency in known}:
        own = [dependency for dependency in known if dependency.after == test]
        together = [group_of[dependency.before[0]] == group_of[test] for dependency in own]
        stated = [yes for yes, dependency in zip(together, own, strict=True) if dependency.ground == "stated"]
        observed = [yes for yes, dependency in zip(together, own, strict=True) if dependency.ground == "shown"]
        assert all(stated)
        assert any(observed) or not observed


def test_by_position_deals_like_cards() -> None:
    assert by_position(7, 3) == [[0, 3, 6], [1, 4], [2, 5]]


def test_by_time_is_longest_first_and_stays_so() -> None:
    assert by_time([1, 5, 3, 2, 4], 2) == [[1, 3, 0], [4, 2]]
    assert by_time([1, 1, 1], 2) == [[0, 2], [1]]


def test_a_chain_is_one_group_and_polluters_are_none() -> None:
    known = [positive(0, 3), positive(3, 5), negative(1, 2)]
    assert groups(6, known) == [[0, 3, 5]]


def test_of_alternatives_the_one_in_the_group_is_taken_else_the_first() -> None:
    assert groups(4, [positive(2, 3), positive(1, 3)]) == [[1, 3]]
    assert groups(4, [positive(2, 3), positive(1, 3), positive(2, 3, "stated")]) == [[2, 3]]


def test_a_group_of_setters_comes_whole() -> None:
    assert groups(5, [Dependency("positive", (0, 2), 4)]) == [[0, 2, 4]]


def test_longest_first_is_within_four_thirds_of_the_bound_for_many_short_tests() -> None:
    seconds = [1 + (place * 37 % 11) for place in range(200)]
    parts = by_groups(seconds, 7, [])
    longest = max(sum(seconds[test] for test in part) for part in parts)
    assert longest <= math.ceil(sum(seconds) / 7) + 1


@given(lengths, st.integers(1, 6), st.data())
def test_own_tests_go_to_their_shard_and_the_others_make_up_for_it(seconds, total, data) -> None:
    shard = data.draw(st.integers(0, total - 1))
    chosen = data.draw(st.sets(st.integers(0, max(len(seconds) - 1, 0)), max_size=5)) if seconds else set()
    own = sorted(chosen) if sum(seconds[test] for test in chosen) * total <= sum(seconds) else []
    parts = of_groups([], seconds, total, own, shard)
    assert sorted(test for part in parts for test in part) == list(range(len(seconds)))
    assert set(own) <= set(parts[shard])
    longest = max((sum(seconds[test] for test in part) for part in parts), default=0.0)
    assert longest <= (sum(seconds) / total + max(seconds, default=0.0)) * (1 + 1e-9) + 1e-9
