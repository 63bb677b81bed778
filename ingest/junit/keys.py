"""A test's identity from its case, and a memory of it: the same tests come in every run, in the same order.

A worker reads the same suite again and again. It remembers the sequence of keys of each place (a producer's suite),
so that the next report of that suite is compared with it rather than looked up name by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from operator import eq

from ingest.junit.dialects import BROWSER, Dialect
from ingest.junit.report import TestKey
from ingest.junit.stable_names import all_stable, stable_name, without_browser

_REMEMBERED = 300_000
"""Keys remembered over all places; beyond this the memory starts over."""
_LONG = 1_000
"""Names longer than this are not remembered: memory is bounded in bytes too."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where cases are in the document, and so what the suite adds to their identity."""

    dialect: Dialect
    suite: str
    """The suite's part of the key for a case with a class."""
    suite_alone: str
    """The same for a case without a class."""
    former: "Place | None" = None
    """The place while browsers were still part of the identity."""

    @property
    def id(self) -> tuple[str, str, str]:
        return self.dialect.producer, self.suite, self.suite_alone

    def is_class(self, classname: str) -> bool:
        """Whether the suite is the class or one nested with it: JUnit 5 moves cases between those."""
        if self.suite == classname:
            return True
        return self.dialect.class_is_place and self.suite.partition("$")[0] == classname.partition("$")[0]


def key_of(place: Place, classname: str, name: str, file: str = "") -> TestKey:
    """A test's identity. The file counts only if neither class nor suite locates the test."""
    if place.dialect.names is not None:
        classname, name = place.dialect.names(classname, name)
    classname, name = stable_name(classname), stable_name(name)
    if classname and classname != name:
        return "" if place.is_class(classname) else place.suite, classname, name, "", ""
    return place.suite_alone, "", name, "" if place.suite_alone else file, ""


def keys_at_once(place: Place, classes: list[str], names: list[str]) -> list[TestKey] | None:
    """The identities of many cases, all with a class or all without, and exactly as written; None if one of them needs
    a closer look.

    Tests of a class share its name in memory, too."""
    if place.dialect.names is not None or any(map(eq, classes, names)):
        return None
    shared = dict(zip(classes, classes, strict=True))
    nothing: Iterator[str] = repeat("")
    if not all_stable(names):
        return None
    if "" in shared:
        return list(zip(repeat(place.suite_alone), nothing, names, nothing, nothing)) if len(shared) == 1 else None
    if not all_stable(list(shared)):
        return None
    suites = nothing
    if place.suite:
        suite_of = {classname: "" if place.is_class(classname) else place.suite for classname in shared}
        suites = map(suite_of.__getitem__, classes)
    return list(zip(suites, map(shared.__getitem__, classes), names, nothing, nothing, strict=False))


def keys_of_collected(classname: str, name: str, file: str) -> list[TestKey]:
    """The identities that a report without suites, as pytest's is, may have given to a test that a runner collected."""
    stable_class, name = stable_name(classname), stable_name(name)
    if stable_class and stable_class != name:
        return [("", stable_class, name, "", "")]
    return [("", "", name, each, "") for each in dict.fromkeys(("" if classname else file, ""))]


def place_without_browser(dialect: Dialect, suite: str, path: str) -> Place:
    """The place of a suite that names a browser, or is inside one that does."""
    stable_path = "/".join(filter(None, map(without_browser, path.split("/"))))
    return Place(dialect, without_browser(suite), stable_path, Place(dialect, suite, path))


def key_without_browser(suite: str, classname: str, name: str) -> TestKey:
    """Today's key of a test that was stored with a browser in its suite or class; of any other test, its own."""
    return key_of(place_without_browser(BROWSER, suite, suite), without_browser(classname), name)


class RememberedKeys:
    """The distinct keys of a place in the order of its last report, each as its case wrote it."""

    def __init__(self, keys: list[TestKey]) -> None:
        self.keys = keys

    @cached_property
    def classes(self) -> list[str]:
        return [key[1] for key in self.keys]

    @cached_property
    def names(self) -> list[str]:
        return [key[2] for key in self.keys]

    def row_of(self, key: TestKey) -> int:
        """The row of the key, or -1."""
        return self._row_of.get(key, -1)

    @cached_property
    def _row_of(self) -> dict[TestKey, int]:
        return dict(zip(self.keys, range(len(self.keys)), strict=True))


_nothing = RememberedKeys([])


class _Memory:
    """The remembered keys of all places, bounded in total."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str, str], RememberedKeys] = {}
        self._size = 0

    def get(self, place: Place) -> RememberedKeys:
        return self._places.get(place.id, _nothing)

    def put(self, place: Place, keys: list[TestKey]) -> None:
        self._size += len(keys) - len(self.get(place).keys)
        if self._size > _REMEMBERED:
            self._places, self._size = {}, len(keys)
        if len(keys) <= _REMEMBERED:
            self._places[place.id] = RememberedKeys(keys)


_memory = _Memory()


class Walk:
    """A document's walk through the remembered keys of a place: forward only, so that no key comes twice."""

    __slots__ = ("_at", "_is_long", "_known", "_place", "as_written", "ranges")

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known = _memory.get(place)
        self._at = 0
        self._is_long = False
        """Whether a class and a name together are too long to be remembered."""
        self.as_written = True
        """Whether every key is exactly as its case wrote it: only then can names be compared with keys."""
        self.ranges: list[tuple[int, int]] = []
        """The report's rows that this place filled."""

    def step(self, classes: list[str], names: list[str]) -> list[TestKey] | None:
        """The keys of these cases, if they are the next remembered ones."""
        known, start, end = self._known, self._at, self._at + len(names)
        if known.names[start:end] != names or known.classes[start:end] != classes:
            return None
        self._at = end
        return known.keys[start:end]

    def make(self, classes: list[str], names: list[str]) -> list[TestKey]:
        """New keys for cases that are not the next ones; the walk continues after the last of them."""
        keys = keys_at_once(self._place, classes, names)
        self._is_long = self._is_long or max(map(len, set(classes))) + max(map(len, names)) >= _LONG
        if keys is not None:
            self._at = max(self._at, self._known.row_of(keys[-1]) + 1)
            return keys
        keys = [key_of(self._place, *pair) for pair in zip(classes, names, strict=True)]
        self._at = max(self._at, self._known.row_of(keys[-1]) + 1)
        self.as_written = self.as_written and all(
            key[1] == classname and key[2] == name for key, classname, name in zip(keys, classes, names, strict=True)
        )
        return keys

    def former(self, keys: list[TestKey]) -> dict[TestKey, tuple[TestKey, ...]]:
        """By key: the key from the time when the suite of a nested class was part of it."""
        place = self._place
        if not place.dialect.class_is_place or not place.suite:
            return {}
        seen = (key for start, end in self.ranges for key in keys[start:end])
        return {key: ((place.suite, *key[1:]),) for key in seen if not key[0] and key[1] and key[1] != place.suite}

    def remember(self, keys: list[TestKey]) -> None:
        """Remember this document's keys for comparison with the next one."""
        if not self.as_written or self._is_long:
            return
        seen: list[TestKey] = []
        for start, end in self.ranges:
            seen += keys[start:end]
        if seen != self._known.keys:
            _memory.put(self._place, seen)
