"""A test's identity from what its case says, and a memory of it: the same tests come every run, in the same order.

A worker reads the same suite again and again. What is remembered of a place (a producer's suite) is the sequence of
its keys, so that the next report of that suite is compared with it rather than looked up name by name."""

from dataclasses import dataclass

from ingest.junit.naming import stable_name
from ingest.junit.recipes import Recipe
from ingest.junit.report import TestKey

_REMEMBERED = 300_000
"""Keys remembered over all places; past it the memory starts anew."""
_LONG = 1_000
"""Names longer than this are not remembered: memory is bounded in bytes too."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the document cases stand, and so what the suite adds to their identity."""

    recipe: Recipe
    suite: str
    """The suite's part of the key of a case that names its class."""
    suite_alone: str
    """The same of a case that does not."""

    @property
    def id(self) -> tuple[str, str, str]:
        return self.recipe.producer, self.suite, self.suite_alone


def key_of(place: Place, classname: str, name: str, file: str = "") -> TestKey:
    """A test's identity. The file counts only where neither class nor suite says where the test is."""
    if place.recipe.names is not None:
        classname, name = place.recipe.names(classname, name)
    classname, name = stable_name(classname), stable_name(name)
    if classname and classname != name:
        return "" if place.suite == classname else place.suite, classname, name, "", ""
    return place.suite_alone, "", name, "" if place.suite_alone else file, ""


class Remembered:
    """The distinct keys of a place in the order in which a report named them last, each as its case wrote it."""

    __slots__ = ("_row_of", "classes", "keys", "names")

    def __init__(self, keys: list[TestKey]) -> None:
        self.keys = keys
        self.classes = [key[1] for key in keys]
        self.names = [key[2] for key in keys]
        self._row_of: dict[TestKey, int] = {}

    def row_of(self, key: TestKey) -> int:
        """Where the key stands, or -1."""
        if not self._row_of:
            self._row_of = {key: row for row, key in enumerate(self.keys)}
        return self._row_of.get(key, -1)


_nothing = Remembered([])


def _length(key: TestKey) -> int:
    return len(key[1]) + len(key[2])


class _Memory:
    """What is remembered of each place, all together bounded."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str, str], Remembered] = {}
        self._size = 0

    def get(self, place: Place) -> Remembered:
        return self._places.get(place.id, _nothing)

    def put(self, place: Place, keys: list[TestKey]) -> None:
        self._size += len(keys) - len(self.get(place).keys)
        if self._size > _REMEMBERED:
            self._places, self._size = {}, len(keys)
        if len(keys) <= _REMEMBERED and max(map(_length, keys), default=0) < _LONG:
            self._places[place.id] = Remembered(keys)


_memory = _Memory()


class Walk:
    """One document's walk through what is remembered of one place: forward only, so no key comes twice."""

    __slots__ = ("_at", "_known", "_place", "as_written", "ranges")

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known = _memory.get(place)
        self._at = 0
        self.as_written = True
        """Whether every key here is what its case says, word for word: only then names can be compared with keys."""
        self.ranges: list[tuple[int, int]] = []
        """The report's rows that this place filled."""

    def step(self, classes: list[str], names: list[str]) -> list[TestKey] | None:
        """The keys of these cases, where they are the next ones that are remembered."""
        known, start, end = self._known, self._at, self._at + len(names)
        if known.names[start:end] != names or known.classes[start:end] != classes:
            return None
        self._at = end
        return known.keys[start:end]

    def make(self, classes: list[str], names: list[str]) -> list[TestKey]:
        """The keys of cases that are not the next ones, made anew; the walk goes on behind the last of them."""
        keys = [key_of(self._place, *pair) for pair in zip(classes, names, strict=True)]
        self._at = max(self._at, self._known.row_of(keys[-1]) + 1)
        self.as_written = self.as_written and all(
            key[1] == classname and key[2] == name for key, classname, name in zip(keys, classes, names, strict=True)
        )
        return keys

    def remember(self, keys: list[TestKey]) -> None:
        """What this document named here is what the next one is compared with."""
        if not self.as_written:
            return
        mine = [key for start, end in self.ranges for key in keys[start:end]]
        if mine != self._known.keys:
            _memory.put(self._place, mine)
