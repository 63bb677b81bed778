"""What tests cover, from the coverage that is kept: for priorities, and to find the tests that a change concerns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate

from django.utils import timezone

from analytics.lab.schedules.collected_tests import CollectedTests
from analytics.lab.schedules.request import Change
from ingest.lab.coverage import Header, Maps, coverages_of, read
from ingest.lab.coverage_models import Coverage
from ingest.models import Project

SAFE_DAYS = 30
"""Older coverage says too little of what tests run today."""
_MOST_BITS = 2_000_000_000
"""Lines times tests that are held at once, a quarter of a gigabyte."""


class NoCoverage(Exception):
    """What was asked for goes by coverage, and none is kept that would do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Selection:
    chosen: Sequence[int]
    """Places, in original order."""
    unsafe: Sequence[str]
    """Why all tests are chosen; empty where the selection is safe."""
    commit: str


def newest_coverage(project: Project) -> Coverage:
    """Of the default branch, else of the branch that was measured last."""
    kept = coverages_of(project)
    found = kept.filter(branch=project.default_branch).first() or kept.first()
    if found is None:
        raise NoCoverage("No coverage of this project is kept: send it with flakeboard coverage.")
    return found


def covered_by(coverage: Coverage, tests: CollectedTests, *, functions: bool) -> list[int | None]:
    """By place: the lines or functions that a test covers, as bits of one number; None for one without coverage."""
    header, rows = read(coverage.data)
    units: _Functions | _Lines = _Functions(header) if functions else _Lines(header, read(coverage.data)[1])
    if units.size * len(tests) > _MOST_BITS:
        raise NoCoverage("The coverage has too many lines for so many tests: go by functions.")
    covered: list[int | None] = [None] * len(tests)
    for place, maps in _by_place(rows, tests):
        covered[place] = (covered[place] or 0) | units.bits(maps)
    return covered


def selected(project: Project, tests: CollectedTests, change: Change) -> Selection:
    """The tests that a change concerns; all of them where that is not safe to say."""
    coverage = Coverage.objects.filter(project=project, pk=change.coverage).first()
    if coverage is None:
        raise NoCoverage("The coverage that the change is against is not kept any more: ask for the list again.")
    header, rows = read(coverage.data)
    changed, unsafe = _changed(header, change)
    unsafe = [*change.unsafe, *unsafe, *_age(coverage)]
    if unsafe:
        return Selection(range(len(tests)), unsafe, coverage.commit)
    known, chosen = set(), set(change.tests)
    for place, maps in _by_place(rows, tests):
        known.add(place)
        if any(maps.get(file, 0) & lines for file, lines in changed.items()):
            chosen.add(place)
    chosen |= set(range(len(tests))) - known  # of those without coverage nobody knows
    return Selection(sorted(chosen), [], coverage.commit)


def _by_place(rows: Iterator[tuple[tuple[str, str, str], Maps]], tests: CollectedTests) -> Iterator[tuple[int, Maps]]:
    """What was measured of collected tests; a test that was measured under several parameters is each of them."""
    places: dict[tuple[str, str, str], list[int]] = {}
    for place, name in enumerate(tests.names):
        places.setdefault(name, []).append(place)
    for name, maps in rows:
        for place in places.get(name, ()):
            yield place, maps


def _changed(header: Header, change: Change) -> tuple[Maps, list[str]]:
    """The changed lines by the number of their file, and what makes the selection unsafe."""
    number_of = {path: number for number, path in enumerate(header.files)}
    changed, unsafe = {}, []
    for path, spans in change.lines.items():
        if path not in number_of:
            unsafe.append(f"{path} is no source that coverage measures")
            continue
        number = number_of[path]
        changed[number] = _bits(spans)
        if changed[number] & header.outside.get(number, 0):
            unsafe.append(f"changed lines of {path} run outside of any single test")
    return changed, unsafe


def _bits(spans: Sequence[tuple[int, int]]) -> int:
    bits = 0
    for first, last in spans:
        bits |= ((1 << (last - first + 1)) - 1) << first
    return bits


def _age(coverage: Coverage) -> list[str]:
    age = timezone.now() - coverage.received_at
    return [f"the coverage is {age.days:,} days old"] if age > timedelta(days=SAFE_DAYS) else []


class _Lines:
    """Lines of all files, one file after the other."""

    def __init__(self, header: Header, rows: Iterator[tuple[tuple[str, str, str], Maps]]) -> None:
        length = [0] * len(header.files)
        for _, maps in rows:
            for file, lines in maps.items():
                length[file] = max(length[file], lines.bit_length())
        self._shift = _sums(length)
        self.size = sum(length)

    def bits(self, maps: Maps) -> int:
        return sum(lines << self._shift[file] for file, lines in maps.items())


class _Functions:
    """Functions of all files; one is covered where any line of its body is."""

    def __init__(self, header: Header) -> None:
        self._masks = [[_bits([(first, last)]) for _, first, last in rows] for rows in header.functions]
        self._shift = _sums([len(rows) for rows in header.functions])
        self.size = sum(len(rows) for rows in header.functions)

    def bits(self, maps: Maps) -> int:
        found = 0
        for file, lines in maps.items():
            for number, mask in enumerate(self._masks[file], start=self._shift[file]):
                if lines & mask:
                    found |= 1 << number
        return found


def _sums(lengths: Sequence[int]) -> list[int]:
    """What is ahead of each."""
    return [0, *accumulate(lengths)][:-1]
