"""Reads files of reach. Whatever a file holds, the answer is what its tests used or a refusal with its line. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from flakeboard.reach.form import CHILD, MANY, REACH_VERSION, SHARED, SKIPPED
from flakeboard.reach.limits import LIMITS, ReachLimits
from flakeboard.traces.checks import Wrong, check_depth, index_of, list_of, number_of, parsed
from flakeboard.traces.sources import SOURCES as SOURCE_TABLE

from ingest.junit.problems import Refused

MALFORMED, UNKNOWN_VERSION, LIMIT = "reach_malformed", "reach_version", "limit_reach"
TORN = "the process did not end"
REASONS = ("", CHILD, MANY, SKIPPED, SHARED, TORN)
"""Why what a test used is not all known; a stored number is a place in this list, so only append."""
CATEGORIES = tuple(sorted({source.category for source in SOURCE_TABLE if source.category}))
"""Of sources. They are stored as bits, by `ingest.reach.models.SOURCES`."""
Name = tuple[str, str]
"""A file, and the qualified name of a function in it; without one the file itself."""


@dataclass(slots=True)
class TestReach:
    """What a test used, as places in the tables of its file."""

    __test__ = False

    functions: set[int]
    files: set[int]
    sources: set[str]
    incomplete: str


@dataclass(slots=True)
class ReachFile:
    commit: str = ""
    functions: list[Name] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    tests: dict[str, TestReach] = field(default_factory=dict)
    """By node id; all attempts of a test together."""
    imports: dict[str, frozenset[int]] = field(default_factory=dict)
    """Test file -> files that it imports."""
    outside: frozenset[int] = frozenset()
    """Functions that ran outside of any test."""
    is_whole: bool = False


def is_reach(first: bytes) -> bool:
    """Whether a file that begins so is one of reach."""
    return first.lstrip()[:24].replace(b" ", b"").startswith(b'{"flakeboard_reach"')


def read_reach(lines: Iterable[bytes], limits: ReachLimits = LIMITS) -> ReachFile:
    """What a file says; raises Refused. A torn last line is what a killed process leaves, and is left out."""
    reading = _Reading(limits)
    for number, line in enumerate(lines, 1):
        if len(line) > limits.line:
            raise Refused(LIMIT, f"A line is longer than {limits.line:,} bytes.", number)
        if not line.endswith(b"\n"):
            break
        try:
            reading.take(number, line)
        except Wrong as wrong:
            raise Refused(MALFORMED, f"The file of reach is refused: {wrong}.", number) from None
    return reading.found()


class _Reading:
    def __init__(self, limits: ReachLimits) -> None:
        self._limits = limits
        self._file = ReachFile()
        self._prefix = ""
        self._has_head = False

    def take(self, number: int, line: bytes) -> None:
        body = parsed(line)
        check_depth(body, self._limits.depth)
        if number == 1:
            self._head(body)
        elif self._file.is_whole:
            raise Wrong("there is more after its end")
        elif "test" in body:
            self._test(body)
        elif "functions" in body:
            self._grow(self._file.functions, body, "functions", self._limits.functions, self._function)
        elif "imports" in body:
            self._imports(body)
        elif "outside" in body:
            self._file.outside = frozenset(self._functions(body["outside"]))
            self._file.is_whole = body.get("end") is True
        elif "files" in body:
            self._grow(self._file.files, body, "files", self._limits.files, self._path)
        else:
            raise Wrong("neither a table nor a test")

    def found(self) -> ReachFile:
        file = self._file
        if not self._has_head:
            raise Refused(MALFORMED, "The file of reach has no whole line.", 1)
        for test, reach in file.tests.items():
            if not file.is_whole or test.partition("::")[0] not in file.imports:
                reach.incomplete = reach.incomplete or TORN
        return file

    def _head(self, body: Mapping[str, Any]) -> None:
        if "flakeboard_reach" not in body:
            raise Wrong("the first line is no head of such a file")
        if body["flakeboard_reach"] != REACH_VERSION:
            raise Refused(UNKNOWN_VERSION, "This version of reach is not known.", 1)
        self._has_head = True
        self._file.commit = self._text(body.get("commit", ""))[:64]
        prefix = self._text(body.get("prefix", "")).strip("/")
        self._prefix = prefix + "/" if prefix else ""

    def _grow(self, table: list[Any], body: Mapping[str, Any], name: str, most: int, read: Any) -> None:
        if set(body) != {name, "from"} or body["from"] != len(table) or isinstance(body["from"], bool):
            raise Wrong(f"{name} do not go on where they ended")
        table.extend(read(row) for row in list_of(body[name]))
        if len(table) > most:
            raise Wrong(f"more than {most:,} {name}")

    def _function(self, row: Any) -> Name:
        if len(list_of(row)) != 4 or number_of(row[2]) > number_of(row[3]):
            raise Wrong("a function has a file, a name, and its first and last line")
        return self._path(row[0]), self._text(row[1])

    def _path(self, path: Any) -> str:
        text = self._text(path)
        if not text:
            raise Wrong("a path that is empty")
        return self._prefix + text

    def _test(self, body: Mapping[str, Any]) -> None:
        test = self._text(body["test"], 4 * self._limits.text)
        number_of(body.get("attempt", 1))
        sources = {self._text(source) for source in list_of(body.get("sources", []))}
        if not sources <= set(CATEGORIES):
            raise Wrong("an unknown category of sources")
        why = self._text(body.get("incomplete", ""))
        if why not in REASONS:
            raise Wrong("an unknown reason")
        functions, files = self._functions(body.get("reach", [])), self._files(body.get("files", []))
        known = self._file.tests.get(test)
        if known is None:
            if len(self._file.tests) >= self._limits.tests:
                raise Wrong(f"more than {self._limits.tests:,} tests")
            self._file.tests[test] = TestReach(set(functions), set(files), sources, why)
            return
        known.functions.update(functions)
        known.files.update(files)
        known.sources |= sources
        known.incomplete = known.incomplete or why

    def _imports(self, body: Mapping[str, Any]) -> None:
        test_file = self._text(body["imports"])
        if test_file in self._file.imports or len(self._file.imports) >= self._limits.files:
            raise Wrong("imports of a file twice, or of too many files")
        self._file.imports[test_file] = frozenset(self._files(body.get("files", [])))

    def _functions(self, gaps: Any) -> list[int]:
        """Ascending numbers, written as differences."""
        numbers = list(accumulate(number_of(gap) for gap in list_of(gaps)))
        if numbers:
            index_of(numbers[-1], len(self._file.functions))
        return numbers

    def _files(self, numbers: Any) -> list[int]:
        return [index_of(number, len(self._file.files)) for number in list_of(numbers)]

    def _text(self, text: Any, most: int = 0) -> str:
        most = most or self._limits.text
        if not isinstance(text, str) or len(text) > most:
            raise Wrong(f"a text that is none, or longer than {most} characters")
        return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
