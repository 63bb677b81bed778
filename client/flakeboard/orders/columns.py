"""Orders that show every pair between different branches, by a square over the branches (ours).

Each row of the square is filled column by column, a test of one branch each, so that neighbouring columns show all
their combinations: on a path the fewest orders suffice, the largest product of two neighbours (Meagher 2007)."""

from __future__ import annotations

from typing import Sequence

from flakeboard.orders.squares import square


def orders_between(branches: Sequence[Sequence[int]]) -> list[list[int]]:
    """Orders with at most one test of each branch in which all pairs of different branches are neighbours."""
    ranked = _mountain(branches)
    return [order for row in square(len(ranked)) for order in _filled([ranked[number] for number in row])]


def _mountain(branches: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Sizes rise, then fall: neighbours of a branch in a row of the square are then of similar size."""
    rising = sorted(range(len(branches)), key=lambda number: (len(branches[number]), number))
    return [branches[number] for number in (*rising[::2], *rising[1::2][::-1])]


def _filled(row: Sequence[Sequence[int]]) -> list[list[int]]:
    """The orders of a row. Sorted by the column before, the next is dealt out in turn: each of its tests meets each
    test of the column before, and all of them occur equally often, so that it goes on so."""
    if len(row) < 2:
        return []
    count = max(len(first) * len(second) for first, second in zip(row, row[1:]))
    columns = [[row[0][number % len(row[0])] for number in range(count)]]
    for branch in row[1:]:
        before = columns[-1]
        column = [0] * count
        for turn, number in enumerate(sorted(range(count), key=before.__getitem__)):
            column[number] = branch[turn % len(branch)]
        columns.append(column)
    return [list(order) for order in zip(*columns)]
