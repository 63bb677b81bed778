"""A suite in parts for several machines: by position, by time, or by time with groups of tests kept together."""

from __future__ import annotations

import heapq
from typing import Iterable, Sequence

from flakeboard.orders.dependencies import POSITIVE, Dependency
from flakeboard.orders.outcomes import is_alternative


def by_position(count: int, total: int) -> list[list[int]]:
    """Test i to shard i mod n (P1 of Lam 2020b)."""
    return [list(range(shard, count, total)) for shard in range(total)]


def by_time(seconds: Sequence[float], total: int) -> list[list[int]]:
    """Longest first, each to the shard that would end first, and kept in that order (P2 of Lam 2020b)."""
    return _filled([], seconds, total)


def by_groups(seconds: Sequence[float], total: int, dependencies: Iterable[Dependency]) -> list[list[int]]:
    """The longest group to the shard that would end first; inside a shard the original order."""
    return of_groups(groups(len(seconds), dependencies), seconds, total)


def of_groups(
    grouped: Sequence[Sequence[int]], seconds: Sequence[float], total: int, own: Sequence[int] = (), shard: int = 0
) -> list[list[int]]:
    """The same, of groups that are known; tests of `own`, which are in no group, go to that shard, from 0."""
    return [sorted(part) for part in _filled(grouped, seconds, total, own, shard)]


def groups(count: int, dependencies: Iterable[Dependency]) -> list[list[int]]:
    """Tests that positive dependencies hold together, each group in original order, the groups by their first test; a
    test by itself is none.

    Of several setters that would do as well, one is enough: one that is in the group already, else the first."""
    needs = [dependency for dependency in dependencies if dependency.sign == POSITIVE]
    if not needs:
        return []
    forest = _Forest(count)
    alternatives: dict[int, list[tuple[int, ...]]] = {}
    for dependency in needs:
        if is_alternative(dependency):
            alternatives.setdefault(dependency.after, []).append(dependency.before)
        else:
            forest.join(dependency.after, dependency.before)
    for test, setters in sorted(alternatives.items()):
        chosen = min(setters, key=lambda before: (not forest.holds(test, before), before))
        forest.join(test, chosen)
    return forest.groups()


def bound(seconds: Sequence[float], total: int, grouped: Iterable[Sequence[int]]) -> float:
    """No split ends sooner: an equal share of everything, the longest test, or the longest group."""
    longest = max((sum(seconds[test] for test in group) for group in grouped), default=0.0)
    return max(sum(seconds) / total, longest, max(seconds, default=0.0))


def _filled(
    grouped: Sequence[Sequence[int]],
    seconds: Sequence[float],
    total: int,
    own: Sequence[int] = (),
    owner: int = 0,
) -> list[list[int]]:
    """A group goes by its first test; the others are not dealt by themselves. Ties keep the original order."""
    led_by = {group[0]: group for group in grouped}
    led = {test for group in grouped for test in group[1:]}.union(own)
    shortness = [-each for each in seconds]
    for first, group in led_by.items():
        shortness[first] = -sum(seconds[test] for test in group)
    parts: list[list[int]] = [[] for _ in range(total)]
    parts[owner].extend(own)
    ends = [(sum(seconds[test] for test in parts[shard]), shard) for shard in range(total)]
    heapq.heapify(ends)
    for first in sorted((test for test in range(len(seconds)) if test not in led), key=shortness.__getitem__):
        end, shard = ends[0]
        parts[shard].extend(led_by.get(first, (first,)))
        heapq.heapreplace(ends, (end - shortness[first], shard))
    return parts


class _Forest:
    """Disjoint sets of tests."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def _root(self, test: int) -> int:
        while self._above[test] != test:
            self._above[test] = self._above[self._above[test]]
            test = self._above[test]
        return test

    def join(self, test: int, others: Iterable[int]) -> None:
        for other in others:
            first, second = sorted((self._root(test), self._root(other)))
            self._above[second] = first

    def holds(self, test: int, others: Iterable[int]) -> bool:
        return all(self._root(other) == self._root(test) for other in others)

    def groups(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for test in range(len(self._above)):
            found.setdefault(self._root(test), []).append(test)
        return [group for group in found.values() if len(group) > 1]
