"""Tests whose names hold some words: a project's names are kept in memory, as one text.

Names never change and tests are only added, so how many there are says whether the text is still whole. PostgreSQL
could do this by trigrams, but the embedded one has no such extension, and without it reads every name each time."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analytics.kernel.executions import Ints
from ingest.models import Project, Test

KEPT_PROJECTS = 8
"""About 100 bytes a test each."""
_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class NameText:
    """Lines of small letters, one for each of a test's name, class, suite and file; its name comes first."""

    text: str
    number: Ints
    """The test that the i-th group of lines is of."""
    start: Ints
    name_end: Ints

    def found(self, words: str) -> "Found":
        """Tests that hold the words, in any case; of each the first place where it does."""
        sought = re.escape(_line(words).strip())
        places = np.fromiter((match.start() for match in re.finditer(sought, self.text)), dtype=np.int64)
        group, first = np.unique(np.searchsorted(self.start, places, side="right") - 1, return_index=True)
        place = places[first] - self.start[group]
        length = self.name_end[group] - self.start[group]
        return Found(self.number[group], place, length, len(words.strip()))


@dataclass(frozen=True, slots=True)
class Found:
    number: Ints
    place: Ints
    """Where the words begin: 0 for a name that begins with them."""
    length: Ints
    """Of the name."""
    sought: int

    def best(self, most: int) -> Ints:
        """The name itself, names that begin so, names that hold it, then the others; short names first."""
        in_name = self.place + self.sought <= self.length
        begins = self.place == 0
        rank = np.select([begins & (self.length == self.sought), begins & in_name, in_name], [0, 1, 2], 3)
        return np.asarray(self.number[np.lexsort((self.number, self.length, rank))[:most]])


def names_of(project_id: int, tests: int | None = None) -> NameText:
    """All names of a project; `tests` is how many it has, where that was read already."""
    if tests is None:
        tests = Project.objects.filter(pk=project_id).values_list("test_count", flat=True).first() or 0
    return _read(project_id, tests)


@lru_cache(maxsize=KEPT_PROJECTS)
def _read(project_id: int, count: int) -> NameText:
    tests = Test.objects.filter(project_id=project_id, number__lt=count).order_by("number")
    number, start, name_end = (np.zeros(count, dtype=np.int64) for _ in range(3))
    groups, at, row = [], 0, 0
    for own, *called in tests.values_list("number", "name", "classname", "suite", "file").iterator(5_000):
        lines = [_line(one) for one in called]
        group = _BREAK.join(lines)
        number[row], start[row], name_end[row] = own, at, at + len(lines[0])
        groups.append(group)
        at, row = at + len(group) + 1, row + 1
    return NameText(_BREAK.join(groups), number[:row], start[:row], name_end[:row])


def _line(text: str) -> str:
    return text.lower().replace(_BREAK, " ")
