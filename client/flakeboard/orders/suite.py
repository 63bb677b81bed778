"""A suite as a tree: units hold units and tests, and a test is known by its place in the original order."""

from __future__ import annotations

import hashlib
from typing import Iterable, Iterator, NamedTuple, Sequence, Union


class Case(NamedTuple):
    """A test and the units that hold it, the outermost first: of pytest its file, then its classes."""

    id: str
    units: tuple[str, ...]


class Unit:
    """What a runner keeps together; its children are units and places of tests, as the original order meets them."""

    __slots__ = ("children", "path")

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path
        self.children: list[Child] = []

    def tests(self) -> list[int]:
        """All places below, in the original order of units."""
        return list(leaves(self.children))


Child = Union[Unit, int]


def case_of(node_id: str) -> Case:
    """The case of a pytest node id; `::` within the brackets of a parameter separates nothing."""
    file, separator, rest = node_id.partition("::")
    names, _, _ = rest.partition("[")
    return Case(node_id, (file, *names.split("::")[:-1]) if separator else ())


def leaves(children: Iterable[Child]) -> Iterator[int]:
    """The places of tests below, depth first and without recursion."""
    waiting = [iter(children)]
    while waiting:
        for child in waiting[-1]:
            if isinstance(child, int):
                yield child
            else:
                waiting.append(iter(child.children))
                break
        else:
            waiting.pop()


class Suite:
    """Cases in their original order; two with the same id are refused, since orders name tests by id."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self.cases: tuple[Case, ...] = tuple(cases)
        self.places: dict[str, int] = {case.id: place for place, case in enumerate(self.cases)}
        if len(self.places) != len(self.cases):
            raise ValueError("two tests of one suite have the same id")
        self.root = Unit(())
        self._units: dict[tuple[str, ...], Unit] = {(): self.root}
        for place, case in enumerate(self.cases):
            self._unit(case.units).children.append(place)

    def __len__(self) -> int:
        return len(self.cases)

    def _unit(self, path: tuple[str, ...]) -> Unit:
        """The unit of a path, made with all units around it when it is met for the first time."""
        unit = self.root
        for depth in range(1, len(path) + 1):
            inner = self._units.get(path[:depth])
            if inner is None:
                inner = self._units[path[:depth]] = Unit(path[:depth])
                unit.children.append(inner)
            unit = inner
        return unit

    @property
    def units(self) -> list[Unit]:
        """Every unit but the suite itself, a unit before those within it."""
        return [unit for path, unit in self._units.items() if path]

    @property
    def classes(self) -> list[list[int]]:
        """Places by innermost unit, in the order in which the suite meets them."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, case in enumerate(self.cases):
            groups.setdefault(case.units, []).append(place)
        return list(groups.values())

    @property
    def digest(self) -> str:
        """The roster's fingerprint: which tests there are, in which units and in which original order."""
        return digest_of("\t".join((*case.units, case.id)) for case in self.cases)

    def names(self, order: Iterable[int]) -> list[str]:
        return [self.cases[place].id for place in order]

    def is_compatible(self, order: Sequence[int]) -> bool:
        """Whether the tests of every unit are consecutive in an order of the suite or of a part of it."""
        left: set[tuple[str, ...]] = set()
        path: tuple[str, ...] = ()
        for place in order:
            units = self.cases[place].units
            if units == path:
                continue
            shared = _shared(path, units)
            left.update(path[:depth] for depth in range(shared + 1, len(path) + 1))
            if any(units[:depth] in left for depth in range(shared + 1, len(units) + 1)):
                return False
            path = units
        return True


def outer_unit(suite: Suite) -> Unit:
    """The suite, or where all tests are in one unit that unit, and so on: the first with more than one child."""
    unit = suite.root
    while len(unit.children) == 1 and isinstance(unit.children[0], Unit):
        unit = unit.children[0]
    return unit


def _shared(path: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many outer units two paths have in common."""
    depth = 0
    while depth < min(len(path), len(other)) and path[depth] == other[depth]:
        depth += 1
    return depth


def digest_of(names: Iterable[str]) -> str:
    """SHA-256 over names, a line each: equal for equal orders."""
    return hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest()
