"""Which tests go first: those that cover most, or most that is not covered yet, or that found regressions before.

Ties go by the place in the original order, always; tests of which nothing is known come first, since a new test is the
likeliest to fail."""

from __future__ import annotations

import heapq
from typing import NamedTuple, Sequence

from flakeboard.orders.pairs import bits_in

PRIOR_REGRESSIONS, PRIOR_RUNS = 0.5, 20.0
"""a0 and b0: what is assumed of a test before its first run, so that a single run neither damns nor acquits it."""


class Record(NamedTuple):
    """What the history says of a test."""

    regressions: int
    """Runs that ended as a regression and in which it was among the first to fail; without flaky, masked and incident
    failures."""
    runs: int
    seconds: float


def by_failures(records: Sequence[Record | None]) -> list[int]:
    """By regressions a run and second: what finds most in the least time goes first.

    A test that never found a regression precedes none that did, however quick it is."""
    order = _sorted([None if record is None else regression_rate(record) for record in records])
    return sorted(order, key=lambda test: _standing(records[test]))


def _standing(record: Record | None) -> int:
    return 0 if record is None else 1 if record.regressions else 2


def regression_rate(record: Record) -> float:
    """Regressions to expect of a second of this test."""
    rate = (record.regressions + PRIOR_REGRESSIONS) / (record.runs + PRIOR_RUNS)
    return rate / max(record.seconds, 0.001)


def total(covered: Sequence[int | None]) -> list[int]:
    """By how much each test covers (T1, T3); what it covers are the bits of a number."""
    return _sorted([None if bits is None else float(bits_in(bits)) for bits in covered])


def additional(covered: Sequence[int | None]) -> list[int]:
    """By how much each adds to those before it (T2, T4); when nothing is added, begin anew (Elbaum 2002).

    What a test adds only shrinks, so that the best of yesterday is looked at first and the others rarely."""
    unknown = [test for test, bits in enumerate(covered) if bits is None]
    left = [(test, bits) for test, bits in enumerate(covered) if bits is not None]
    order = list(unknown)
    while left:
        taken, rest = _one_round(left)
        order += taken
        left = rest
    return order


def _one_round(left: Sequence[tuple[int, int]]) -> tuple[list[int], list[tuple[int, int]]]:
    """Tests that add something to nothing, each at its turn; and those that then add nothing.

    Where no test covers anything, all of them come in original order."""
    waiting = [(-bits_in(bits), test, bits) for test, bits in left]
    heapq.heapify(waiting)
    seen = 0
    taken: list[int] = []
    rest: list[tuple[int, int]] = []
    while waiting:
        _, test, bits = heapq.heappop(waiting)
        added = bits_in(bits & ~seen)
        if not added and taken:
            rest.append((test, bits))
        elif not added:
            return sorted(other for other, _ in left), []
        elif waiting and (-added, test) > waiting[0][:2]:
            heapq.heappush(waiting, (-added, test, bits))
        else:
            seen |= bits
            taken.append(test)
    return taken, sorted(rest)


def _sorted(worth: Sequence[float | None]) -> list[int]:
    return sorted(range(len(worth)), key=lambda test: (worth[test] is not None, -(worth[test] or 0.0), test))
