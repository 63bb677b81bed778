"""Suites for tests: from sizes of classes, or drawn as trees by hypothesis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flakeboard.orders.suite import Case, Suite
from hypothesis import strategies as st


def suite_of(sizes: Iterable[int]) -> Suite:
    """Classes of the given sizes, one after the other."""
    return Suite(
        Case(f"c{number}.t{place}", (f"c{number}",)) for number, size in enumerate(sizes) for place in range(size)
    )


def suite_of_paths(paths: Sequence[tuple[str, ...]]) -> Suite:
    """A test for each path of units, in this order."""
    return Suite(Case(f"t{place}", tuple(path)) for place, path in enumerate(paths))


paths = st.lists(st.sampled_from("abc"), max_size=3).map(tuple)
trees = st.lists(paths, max_size=12).map(suite_of_paths)
"""Up to three levels of units; tests directly in outer units, and units that the original order tears apart."""
