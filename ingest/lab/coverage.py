"""Coverage by test: read from what CI sends, kept, and read again. Lines are bits of a number: bit n is line n."""

import base64
import binascii
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from ingest.lab.coverage_models import Coverage
from ingest.models import Project

MOST_BYTES = 50_000_000
MOST_UNPACKED = 500_000_000
MOST_TESTS = 100_000
MOST_FILES = 50_000
_LONGEST_LINE = 16_000_000
_MOST_LINES = 1_000_000
"""Of one source file."""
_PIECE = 1024 * 1024
KEPT = 20
"""Coverages of one project, of its newest branches."""

Maps = dict[int, int]
"""File, by its number -> its lines."""


class BadCoverage(Exception):
    """What was sent is no coverage by test: a code and a sentence."""

    def __init__(self, sentence: str, code: str = "bad_coverage") -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


@dataclass(frozen=True, slots=True)
class Header:
    """The revision, its measured files, and what ran outside of any test."""

    commit: str
    tree: str
    branch: str
    files: Sequence[str]
    functions: Sequence[Sequence[tuple[str, int, int]]]
    """By file: name, first and last line of each function's body."""
    outside: Maps = field(default_factory=dict)


TestMaps = tuple[tuple[str, str, str], Maps]
"""Class, name and file of a test, and what it ran."""


def coverage_keep(*, project: Project, content: bytes) -> Coverage:
    """Check and keep it, in place of the branch's coverage before. Raises BadCoverage."""
    header, rows = read(content)
    tests = sum(1 for _ in rows)
    if not tests:
        raise BadCoverage("The coverage names no test.")
    values = {
        "commit": header.commit,
        "tree": header.tree,
        "tests": tests,
        "files": len(header.files),
        "data": content,
        "received_at": timezone.now(),
    }
    coverage, _ = Coverage.objects.update_or_create(project=project, branch=header.branch, defaults=values)
    newest = Coverage.objects.filter(project=project).order_by("-received_at", "-pk").values_list("pk", flat=True)
    Coverage.objects.filter(project=project).exclude(pk__in=list(newest[:KEPT])).delete()
    return coverage


def coverages_of(project: Project) -> "QuerySet[Coverage]":
    """The newest first, without their data."""
    return Coverage.objects.filter(project=project).defer("data").order_by("-received_at", "-pk")


def read(content: bytes | memoryview) -> tuple[Header, Iterator[TestMaps]]:
    """The header, and the tests one by one: all of them at once may take more memory than there is."""
    lines = _lines(bytes(content))
    first = next(lines, None)
    if first is None:
        raise BadCoverage("The body is empty.")
    header = _header(_object(first))
    return header, _tests(lines, len(header.files))


def _lines(content: bytes) -> Iterator[bytes]:
    """The unpacked lines; what unpacks to too much is given up on its way."""
    unpacked, held, total = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), b"", 0
    try:
        rest = content
        while rest and not unpacked.eof:
            held += unpacked.decompress(rest, _PIECE)
            rest = unpacked.unconsumed_tail
            *whole, held = held.split(b"\n")
            total += sum(map(len, whole))
            if total + len(held) > MOST_UNPACKED or len(held) > _LONGEST_LINE:
                raise BadCoverage(f"The coverage unpacks to more than {MOST_UNPACKED:,} bytes.", "limit_coverage")
            yield from (line for line in whole if line)
    except zlib.error:
        raise BadCoverage("The body is no gzip, or a damaged one.") from None
    if not unpacked.eof:
        raise BadCoverage("The body ends before its gzip does.")
    if held:
        yield held


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise BadCoverage("A line of the coverage is no JSON.") from None
    if not isinstance(value, dict):
        raise BadCoverage("A line of the coverage is no JSON object.")
    return value


def _header(value: dict[str, Any]) -> Header:
    revision, files, functions = value.get("revision"), value.get("files"), value.get("functions")
    if not isinstance(revision, dict):
        raise BadCoverage("The first line must say the revision.")
    commit, tree, branch = (_text(revision.get(name, ""), name, most) for name, most in _REVISION)
    if not commit:
        raise BadCoverage("The revision must have a commit.")
    if not isinstance(files, list) or len(files) > MOST_FILES:
        raise BadCoverage(f"files must be a list of at most {MOST_FILES:,} paths.")
    paths = [_text(path, "files", 4_000) for path in files]
    if not isinstance(functions, list) or len(functions) != len(paths):
        raise BadCoverage("functions must have a list for each file.")
    of_files = [[_function(row) for row in _list(rows)] for rows in functions]
    return Header(commit, tree, branch, paths, of_files, _maps(value.get("outside"), len(paths)))


_REVISION = (("commit", 64), ("tree", 64), ("branch", 255))


def _text(value: Any, name: str, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise BadCoverage(f"{name} must be text of at most {most:,} characters.")
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadCoverage("functions must be lists of [name, first, last].")
    return value


def _function(row: Any) -> tuple[str, int, int]:
    if not isinstance(row, list) or len(row) != 3 or type(row[1]) is not int or type(row[2]) is not int:
        raise BadCoverage("functions must be lists of [name, first, last].")
    if not 1 <= row[1] <= row[2] <= _MOST_LINES:
        raise BadCoverage("A function must have lines.")
    return _text(row[0], "functions", 4_000), row[1], row[2]


def _tests(lines: Iterator[bytes], files: int) -> Iterator[TestMaps]:
    for count, line in enumerate(lines, start=1):
        if count > MOST_TESTS:
            raise BadCoverage(f"The coverage is of more than {MOST_TESTS:,} tests.", "limit_coverage")
        value = _object(line)
        test = value.get("test")
        if not isinstance(test, list) or len(test) != 3:
            raise BadCoverage("A test must be [class, name, file].")
        classname, name, file = (_text(part, "test", 4_000) for part in test)
        yield (classname, name, file), _maps(value.get("maps"), files)


def _maps(value: Any, files: int) -> Maps:
    if not isinstance(value, dict):
        raise BadCoverage("Maps must be an object: of each file, by number, its lines.")
    found = {}
    for number, packed in value.items():
        if not (isinstance(packed, str) and number.isascii() and number.isdecimal() and len(number) < 9):
            raise BadCoverage("Maps must be an object: of each file, by number, its lines.")
        if int(number) >= files or len(packed) > _MOST_LINES // 6:
            raise BadCoverage("A map is of no file, or of a file that is too long.")
        found[int(number)] = _unpacked(packed)
    return found


def _unpacked(packed: str) -> int:
    try:
        return int.from_bytes(base64.b64decode(packed, validate=True), "little")
    except (binascii.Error, ValueError):
        raise BadCoverage("A map is no base64.") from None
