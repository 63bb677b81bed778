"""Tuscan squares: every pair of neighbours, exactly once."""

from __future__ import annotations

from collections import Counter

import pytest
from flakeboard.orders.squares import square


@pytest.mark.parametrize("n", [*range(2, 62), 99, 101, 127, 129, 201, 299, 300])
def test_each_pair_occurs_exactly_once(n: int) -> None:
    rows = square(n)
    assert len(rows) == (n + 1 if n in (3, 5) else n)
    assert all(sorted(row) == list(range(n)) for row in rows)
    pairs = Counter(pair for row in rows for pair in zip(row, row[1:], strict=False))
    assert len(pairs) == n * (n - 1)
    if n not in (3, 5):
        assert set(pairs.values()) == {1}


def test_nothing_and_a_single_test_have_no_pairs() -> None:
    assert square(0) == [] and square(1) == [[0]]
