"""What must run before what: tests, the setters that they need, and edges that are given up where they form a cycle."""

from __future__ import annotations

from typing import Callable, Iterator, Mapping, NamedTuple, Sequence

from flakeboard.orders.dependencies import POSITIVE, STRENGTH, Dependency
from flakeboard.orders.outcomes import is_alternative

_BY_CLEANER, _BY_SETTER, _BY_LOSS = 0, 1, 2
CYCLE = "it contradicts others: together they form a cycle"


class LeftOut(NamedTuple):
    dependency: Dependency
    reason: str


class Solved(NamedTuple):
    order: list[int]
    added: list[int]
    left_out: list[LeftOut]


class Constraints:
    """The chosen tests and their dependencies, all of which name tests that there are."""

    def __init__(
        self,
        chosen: Sequence[int],
        dependencies: Sequence[Dependency],
        original: Sequence[int],
        seconds: Mapping[int, float] | Sequence[float] | None,
    ) -> None:
        self._chosen = {test: place for place, test in enumerate(chosen)}
        self._original = {test: place for place, test in enumerate(original)}
        self._dependencies = dependencies
        self._seconds = seconds
        self._active = [True] * len(dependencies)
        self._cleaners: list[list[int]] = [self._usable_cleaners(each) for each in dependencies]
        self._is_cleaned = [False] * len(dependencies)
        """By dependency: kept by its first usable cleaner instead of by order."""
        self._needed: dict[int, list[int]] = {}
        for number, each in enumerate(dependencies):
            if each.sign == POSITIVE:
                self._needed.setdefault(each.after, []).append(number)

    def _usable_cleaners(self, dependency: Dependency) -> list[int]:
        partners = {*dependency.before, dependency.after}
        known = [test for test in dependency.cleaners if test in self._chosen or test in self._original]
        return sorted((test for test in dict.fromkeys(known) if test not in partners), key=self._rank)

    def _rank(self, test: int) -> tuple[bool, int]:
        """Chosen tests by their place, then the others by their place in the original order."""
        return (False, self._chosen[test]) if test in self._chosen else (True, self._original[test])

    def solve(self) -> Solved:
        """The order, found anew after each round in which edges of cycles were given up."""
        left_out: list[LeftOut] = []
        while True:
            members = self._members()
            edges = self._edges(members)
            order, cycles = _topological(list(self._chosen), edges, self._rank)
            if not cycles:
                added = [test for test in order if test not in self._chosen]
                return Solved(order, added, left_out)
            for cycle in cycles:
                left_out += self._give_up(cycle, edges)

    def _members(self) -> dict[int, list[int]]:
        """The chosen tests and all that they need, each with the numbers of the dependencies that serve it."""
        members: dict[int, list[int]] = {}
        waiting = list(self._chosen)
        while waiting:
            for test in waiting:
                members.setdefault(test, [])
            fresh: dict[int, None] = {}
            for test in waiting:
                members[test] = self._serving(test, members)
                for number in members[test]:
                    fresh.update((setter, None) for setter in self._dependencies[number].before)
            if not any(test not in members for test in fresh):
                fresh.update((cleaner, None) for cleaner in self._needed_cleaners(members))
            waiting = [test for test in fresh if test not in members]
        return members

    def _serving(self, test: int, members: Mapping[int, object]) -> list[int]:
        """The dependencies that are kept for a test: each stated one, and one of the alternatives."""
        numbers = [number for number in self._needed.get(test, ()) if self._active[number]]
        either = [number for number in numbers if is_alternative(self._dependencies[number])]
        if len(either) < 2:
            return numbers
        chosen = [number for number in either if all(x in self._chosen for x in self._dependencies[number].before)]
        if chosen:
            best = min(chosen, key=lambda number: max(self._chosen[x] for x in self._dependencies[number].before))
        else:
            best = min(either, key=lambda number: (self._seconds_with_needs(number, members), number))
        return [number for number in numbers if number == best or number not in either]

    def _seconds_with_needs(self, number: int, members: Mapping[int, object]) -> float:
        """Seconds of all tests that a dependency would add, with what they need; of alternatives the shortest."""
        added: set[int] = set()
        waiting = list(self._dependencies[number].before)
        while waiting:
            test = waiting.pop()
            if test in members or test in added:
                continue
            added.add(test)
            needed = [self._dependencies[each] for each in self._needed.get(test, ()) if self._active[each]]
            either = [each.before for each in needed if is_alternative(each)]
            waiting += [setter for each in needed if not is_alternative(each) for setter in each.before]
            waiting += min(either, key=lambda group: sum(map(self._cost, group)), default=())
        return sum(map(self._cost, added))

    def _cost(self, test: int) -> float:
        return 1.0 if self._seconds is None else self._seconds[test]

    def _needed_cleaners(self, members: Mapping[int, object]) -> Iterator[int]:
        for number, dependency in enumerate(self._dependencies):
            if self._active[number] and self._is_cleaned[number] and self._is_met(dependency, members):
                yield self._cleaners[number][0]

    @staticmethod
    def _is_met(dependency: Dependency, members: Mapping[int, object]) -> bool:
        return dependency.after in members and all(test in members for test in dependency.before)

    def _edges(self, members: Mapping[int, list[int]]) -> dict[int, dict[int, list[int]]]:
        """By test: the tests that must run before it, each with the numbers of the dependencies that say so."""
        edges: dict[int, dict[int, list[int]]] = {}

        def add(before: int, after: int, number: int) -> None:
            edges.setdefault(after, {}).setdefault(before, []).append(number)

        for test, numbers in members.items():
            for number in numbers:
                chain = (*self._dependencies[number].before, test)
                for before, after in zip(chain, chain[1:]):
                    add(before, after, number)
        for number, dependency in enumerate(self._dependencies):
            if dependency.sign == POSITIVE or not self._active[number] or not self._is_met(dependency, members):
                continue
            last = dependency.before[-1]
            if self._is_cleaned[number]:
                add(last, self._cleaners[number][0], number)
                add(self._cleaners[number][0], dependency.after, number)
            else:
                add(dependency.after, last, number)
        return edges

    def _give_up(self, cycle: list[tuple[int, int]], edges: Mapping[int, Mapping[int, list[int]]]) -> list[LeftOut]:
        """Break a cycle where it costs least: by a cleaner, by another setter, else at the weakest, oldest ground."""
        labels = [edges[after][before] for before, after in cycle]
        if not all(self._active[number] for numbers in labels for number in numbers):
            return []
        numbers = min(labels, key=self._loss)
        kind = self._loss(numbers)[0]
        for number in numbers:
            if kind == _BY_CLEANER:
                if self._is_cleaned[number]:
                    self._cleaners[number].pop(0)
                self._is_cleaned[number] = True
            else:
                self._active[number] = False
        return [LeftOut(self._dependencies[number], CYCLE) for number in numbers] if kind == _BY_LOSS else []

    def _loss(self, numbers: Sequence[int]) -> tuple[int, int, int, int]:
        if all(len(self._cleaners[number]) > self._is_cleaned[number] for number in numbers):
            return _BY_CLEANER, 0, 0, numbers[0]
        if all(self._has_other_setter(number, numbers) for number in numbers):
            return _BY_SETTER, 0, 0, numbers[0]
        grounds = [self._dependencies[number] for number in numbers]
        return _BY_LOSS, max(STRENGTH[each.ground] for each in grounds), -min(each.age for each in grounds), numbers[0]

    def _has_other_setter(self, number: int, besides: Sequence[int]) -> bool:
        dependency = self._dependencies[number]
        return is_alternative(dependency) and any(
            self._active[other] and other not in besides and is_alternative(self._dependencies[other])
            for other in self._needed[dependency.after]
        )


def _topological(
    starts: Sequence[int], edges: Mapping[int, Mapping[int, object]], rank: Callable[[int], tuple[bool, int]]
) -> tuple[list[int], list[list[tuple[int, int]]]]:
    """Each start behind all that must run before it, those by rank; or cycles without a common test, as edges."""
    order: list[int] = []
    cycles: list[list[tuple[int, int]]] = []
    done: set[int] = set()
    for start in starts:
        if start in done:
            continue
        path = {start: 0}
        waiting = [(start, iter(sorted(edges.get(start, ()), key=rank)))]
        while waiting:
            test, befores = waiting[-1]
            before = next(befores, None)
            if before is None:
                waiting.pop()
                done.add(test)
                order.append(test)
                del path[test]
            elif before in path:
                ring = [test for test, _ in waiting[path[before] :]]
                cycles.append([*zip(ring[1:], ring), (before, test)])
                del waiting[path[before] :]
                done.update(ring)
                for test in ring:
                    del path[test]
            elif before not in done:
                path[before] = len(waiting)
                waiting.append((before, iter(sorted(edges.get(before, ()), key=rank))))
    return order, cycles
