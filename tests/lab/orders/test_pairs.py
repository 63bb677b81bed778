"""Pairs as bits."""

from __future__ import annotations

import pytest
from flakeboard.orders.pairs import Pairs, bits_in, bits_of
from hypothesis import given
from hypothesis import strategies as st

sets_of_pairs = st.integers(1, 20).flatmap(
    lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
)


def pairs_of(n: int, chosen: set[tuple[int, int]]) -> Pairs:
    pairs = Pairs(n)
    for first, second in chosen:
        pairs.add(first, second)
    return pairs


@given(sets_of_pairs, st.data())
def test_pairs_are_a_set(drawn: tuple[int, set[tuple[int, int]]], data) -> None:
    n, chosen = drawn
    pairs = pairs_of(n, chosen)
    assert set(pairs) == chosen and len(pairs) == len(chosen)
    assert list(pairs) == sorted(chosen)
    assert set(pairs.transposed()) == {(second, first) for first, second in chosen}
    assert set(Pairs.from_bytes(n, pairs.to_bytes())) == chosen
    other = data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    assert set(pairs.without(pairs_of(n, other))) == chosen - other
    test = data.draw(st.integers(0, n - 1))
    pairs.discard_test(test)
    assert set(pairs) == {pair for pair in chosen if test not in pair}


@given(st.integers(0, 2**200))
def test_bits_are_found_and_counted(row: int) -> None:
    places = [place for place in range(201) if row >> place & 1]
    assert list(bits_of(row)) == places and bits_in(row) == len(places)


def test_neighbours_of_an_order_are_seen_clean_if_the_second_passed() -> None:
    seen = Pairs(4)
    seen.add_order([3, 1, 0, 2], passed={3, 0, 2})
    assert set(seen) == {(1, 0), (0, 2)}
    seen.add_order([3, 1, 0, 2])
    assert (3, 1) in seen
    seen.discard(3, 1)
    assert (3, 1) not in seen and len(seen) == 2


def test_every_pair_but_a_test_with_itself() -> None:
    assert set(Pairs.every(3)) == {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}


def test_five_thousand_tests_take_three_megabytes() -> None:
    assert len(Pairs(5_000).to_bytes()) == 3_125_000


def test_bits_of_another_roster_are_refused() -> None:
    with pytest.raises(ValueError, match="no pairs of 9 tests"):
        Pairs.from_bytes(9, Pairs(8).to_bytes())
