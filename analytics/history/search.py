"""Tests whose names hold some words: a project's names are kept in memory, as one text.

Names never change and tests are only added, so how many there are says which are missing in the text. PostgreSQL
could do this by trigrams, but the embedded one has no such extension, and without it reads every name each time."""

import re
import sys
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from analytics.history.pasted_names import pasted_names
from analytics.kernel.executions import Ints
from ingest.models import Project, Test

MOST_BYTES = 256_000_000
"""Of names that a process keeps; about 125 bytes a test."""
_BREAK = "\n"
_MOST_COMPARED = 2_000
"""Tests of one name whose class and file are compared with what was pasted."""


@dataclass(frozen=True, slots=True)
class NameText:
    """Lines of small letters, one for each of a test's name, class, suite and file; its name comes first."""

    text: str
    number: Ints
    """The test that the i-th group of lines is of."""
    start: Ints
    name_end: Ints
    tests: int
    """How many tests the project had when it was read."""

    @property
    def bytes(self) -> int:
        return sys.getsizeof(self.text) + self.number.nbytes + self.start.nbytes + self.name_end.nbytes

    def joined(self, later: "NameText") -> "NameText":
        """With the tests that came later."""
        if not len(self.number) or not len(later.number):
            return replace(self if len(self.number) else later, tests=later.tests)
        at = len(self.text) + len(_BREAK)
        columns = (
            np.concatenate(pair)
            for pair in (
                (self.number, later.number),
                (self.start, later.start + at),
                (self.name_end, later.name_end + at),
            )
        )
        return NameText(self.text + _BREAK + later.text, *columns, later.tests)

    def found(self, words: str) -> "NameMatches":
        """Tests that hold the words, in any case; where none does, those that the words are another spelling of."""
        matches = self._holding(words)
        if len(matches.number):
            return matches
        name, inside = "", matches
        for pasted in pasted_names(words):
            if pasted.name != name:
                name, inside = pasted.name, self._holding(pasted.name).in_name()
            found = inside.chosen([self._is_in(number, pasted.places) for number in inside.number])
            if len(found.number):
                return found
        return matches

    def _is_in(self, number: int, places: tuple[str, ...]) -> bool:
        """Whether the lines below a test's name hold all of these."""
        at = int(np.searchsorted(self.number, number))
        end = self.start[at + 1] if at + 1 < len(self.start) else len(self.text)
        below = self.text[self.name_end[at] : end]
        return all(place in below for place in places)

    def _holding(self, words: str) -> "NameMatches":
        """Of each test that holds the words the first place where it does."""
        sought = re.escape(_line(words).strip())
        places = np.fromiter((match.start() for match in re.finditer(sought, self.text)), dtype=np.int64)
        group, first = np.unique(np.searchsorted(self.start, places, side="right") - 1, return_index=True)
        place = places[first] - self.start[group]
        length = self.name_end[group] - self.start[group]
        return NameMatches(self.number[group], place, length, len(words.strip()))


@dataclass(frozen=True, slots=True)
class NameMatches:
    number: Ints
    place: Ints
    """Where the words begin: 0 for a name that begins with them."""
    length: Ints
    """Of the name."""
    sought: int

    def in_name(self) -> "NameMatches":
        """Those that hold it in the name itself; the shortest names, since a longer one is less likely meant."""
        inside = np.flatnonzero(self.place + self.sought <= self.length)
        shortest = inside[np.lexsort((inside, self.length[inside]))[:_MOST_COMPARED]]
        return self.chosen(np.isin(np.arange(len(self.number)), shortest))

    def chosen(self, chosen: "Sequence[bool] | NDArray[np.bool_]") -> "NameMatches":
        kept = np.asarray(chosen, dtype=bool)
        return NameMatches(self.number[kept], self.place[kept], self.length[kept], self.sought)

    def best(self, most: int) -> Ints:
        """The name itself, names that begin so, names that hold it, then the others; short names first."""
        in_name = self.place + self.sought <= self.length
        begins = self.place == 0
        rank = np.select([begins & (self.length == self.sought), begins & in_name, in_name], [0, 1, 2], 3)
        return np.asarray(self.number[np.lexsort((self.number, self.length, rank))[:most]])


_NONE = np.zeros(0, dtype=np.int64)
_EMPTY = NameText("", _NONE, _NONE, _NONE, 0)


class NameCache:
    """The names of the projects that were searched last: one text a project, all together within so many bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[int, NameText] = OrderedDict()
        self._reading = Lock()
        """One project is read at a time: however many search at once, there is one copy more than is kept."""

    def names(self, project_id: int, tests: int) -> NameText:
        with self._reading:
            known = self._kept.pop(project_id, None)
            if known is None or known.tests > tests:
                known = _EMPTY
            names = known if known.tests == tests else known.joined(_read(project_id, known.tests, tests))
            self._keep(project_id, names)
        return names

    def _keep(self, project_id: int, names: NameText) -> None:
        """The last that was used is the last to go; one that is too large by itself is not kept at all."""
        self._kept[project_id] = names
        while self._kept and self.bytes > self._most:
            self._kept.popitem(last=False)

    @property
    def bytes(self) -> int:
        return sum(names.bytes for names in self._kept.values())


_CACHE = NameCache(MOST_BYTES)


def names_of(project_id: int, tests: int | None = None) -> NameText:
    """All names of a project; `tests` is how many it has, where that was read already."""
    if tests is None:
        tests = Project.objects.filter(pk=project_id).values_list("test_count", flat=True).first() or 0
    return _CACHE.names(project_id, tests)


def _read(project_id: int, first: int, count: int) -> NameText:
    """The names of the tests from `first` on, of a project that has `count`."""
    tests = Test.objects.filter(project_id=project_id, number__gte=first, number__lt=count).order_by("number")
    number, start, name_end = (np.zeros(count - first, dtype=np.int64) for _ in range(3))
    groups, at, row = [], 0, 0
    for own, *called in tests.values_list("number", "name", "classname", "suite", "file").iterator(5_000):
        lines = [_line(part) for part in called]
        group = _BREAK.join(lines)
        number[row], start[row], name_end[row] = own, at, at + len(lines[0])
        groups.append(group)
        at, row = at + len(group) + 1, row + 1
    return NameText(_BREAK.join(groups), number[:row], start[:row], name_end[:row], count)


def _line(text: str) -> str:
    return text.lower().replace(_BREAK, " ")
