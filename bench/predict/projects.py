"""Tests of public projects with their labels, dates and words: the folder `predict` of the data."""

import csv
import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tests.paths import DATA

FOLDER = DATA / "predict"
LEAST_FLAKY = 7
"""FLAST leaves out projects with fewer."""


@dataclass(frozen=True, slots=True)
class Case:
    project: str
    group: str
    name: str
    flaky: bool
    written: str
    """The day, or the second; empty where it is not known."""
    words: Counter[str]


def is_here() -> bool:
    return FOLDER.is_dir()


@lru_cache(maxsize=4)
def cases(name: str) -> list[Case]:
    """All tests of a set: `python`, `flakeflagger` or `msr`."""
    return [_case(row, _words(name)) for row in rows(name)]


def rows(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(FOLDER / f"{name}_tests.csv.gz", "rt", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def by_project(cases_: list[Case], *, dated: bool = False) -> dict[str, list[Case]]:
    """Projects with enough flaky tests; `dated`: only tests whose date is known, in that order."""
    projects: dict[str, list[Case]] = {}
    for case in cases_:
        if case.written or not dated:
            projects.setdefault(case.project, []).append(case)
    enough = {name: found for name, found in projects.items() if sum(case.flaky for case in found) >= LEAST_FLAKY}
    return {name: sorted(found, key=lambda case: case.written) if dated else found for name, found in enough.items()}


@lru_cache(maxsize=4)
def _words(name: str) -> list[str]:
    with gzip.open(FOLDER / f"{name}_words.txt.gz", "rt", encoding="utf-8") as file:
        return file.read().split("\n")


def _case(row: dict[str, str], words: list[str]) -> Case:
    group = f"{row.get('file', '')}::{row['class']}"
    written = row.get("written") or row.get("first_added") or ""
    return Case(row["project"], group, row["name"], row["flaky"] == "1", written, bag(row["words"], words))


def bag(text: str, words: list[str]) -> Counter[str]:
    """`4 1 7:2` is word 4 once, word 5 once, word 12 twice."""
    counts: Counter[str] = Counter()
    at = 0
    for part in text.split():
        step, _, times = part.partition(":")
        at += int(step)
        counts[words[at]] = int(times or 1)
    return counts
