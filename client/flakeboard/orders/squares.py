"""Tuscan squares: n orders of n tests in which each pair of neighbours occurs exactly once (n+1 orders for 3 and 5)."""

from __future__ import annotations

_NINE = ((0, 5, 2, 4, 3, 7, 1, 6, 8), (5, 4, 8, 0, 3, 1, 2, 6, 7), (4, 2, 5, 1, 7, 0, 8, 6, 3))


def square(n: int) -> list[list[int]]:
    """The rows for n tests, numbered from 0; one row for a single test and none for no test."""
    if n <= 1:
        return [[0]] * n
    if n % 2 == 0:
        return _even(n)
    if n in (3, 5):
        return [[number for number in row if number < n] for row in _even(n + 1)]
    if n == 9:
        return [[(number + shift) % 9 for number in row] for shift in (0, 3, 6) for row in _NINE]
    return _tillson(n) if n % 4 == 3 else _doubled(n)


def _even(n: int) -> list[list[int]]:
    """0, 1, n-1, 2, n-2, … and its shifts: a zigzag passes every difference once (Williams 1949)."""
    return [even_row(n, shift) for shift in range(n)]


def even_row(n: int, shift: int) -> list[int]:
    """A row of the square of an even n, without the others."""
    return [(number + shift) % n for number in _zigzag(n)]


def _zigzag(n: int) -> list[int]:
    return [(step + 1) // 2 if step % 2 else (n - step // 2) % n for step in range(n)]


def _tillson(n: int) -> list[list[int]]:
    """n = 4k+3: cycles through all numbers, cut so that the cuts make a last row (Tillson 1980)."""
    k, size = n // 4, n - 1
    cuts = {0: 1, k + 1: 4 * k + 2, 2 * k + 2: 3, 3 * k + 2: 4 * k}
    rows = []
    for number in range(size):
        cycle = [size, *((number + step) % size for step in _zigzag(size))]
        cut = cuts.get(number, 2 * k)
        rows.append(cycle[cut:] + cycle[:cut])
    following = {row[-1]: row[0] for row in rows}
    last = [size]
    while len(last) < n:
        last.append(following[last[-1]])
    return [*rows, last]


def _doubled(n: int) -> list[list[int]]:
    """n = 4m+1 from the square of half the size: cycles of n+1 numbers, cut at the number n."""
    half = (n + 1) // 2
    cycles = [[*row, *(number + half for number in reversed(row))] for row in square(half)]
    cycles += [_crossing_cycle(half, number) for number in range(half - 1)]
    rows = []
    for cycle in cycles:
        cut = cycle.index(n)
        rows.append(cycle[cut + 1 :] + cycle[:cut])
    return rows


def _crossing_cycle(half: int, number: int) -> list[int]:
    """A cycle that changes between the two halves at every step but two."""
    cycle = []
    for step in range(half - 1):
        shift = half - 2 - (step - 1) // 2 if step % 2 else step // 2
        cycle.append(half * (step % 2) + (number + shift) % (half - 1))
    cycle.append(half - 1)
    for step in range(half, 2 * half):
        cycle.append(half * (step % 2) + cycle[step - half] % half)
    return cycle
