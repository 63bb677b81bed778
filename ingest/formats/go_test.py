"""`go test -json`: a stream of events, one on each line."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from json.decoder import JSONDecoder
from typing import Any

from ingest.formats.cases import LONGEST_NAME, Case, Trouble
from ingest.formats.json_text import number_in, text_in
from ingest.formats.text import Damage, TextFormat, lines_of
from ingest.junit.dialects import Dialect
from ingest.junit.kept_text import ClippedText
from ingest.junit.problems import over_limit
from ingest.verdict import Verdict

START = re.compile(rb'\{\s{0,9}"(?:Time|Action|ImportPath|Package|Test|Elapsed|Output|FailedBuild)"\s{0,9}:')
LATER = re.compile(rb'^\{(?:"(?:Time|ImportPath)":[^\n]{1,2000},\s?)?"Action":\s?"', re.MULTILINE)
"""The first event of a stream that starts with other output of the go command."""

_ENDS = {"pass": Verdict.PASS, "bench": Verdict.PASS, "fail": Verdict.FAIL, "skip": Verdict.SKIP}
_ON_THE_WAY = frozenset({"start", "run", "pause", "cont", "output", "attr", "artifacts"})
_HARMLESS = re.compile(
    r"\A(?:go: |# \S|\?? +\t|ok  \t|\S{1,400}\.go:[0-9]{1,9}:|\t|note: |warning: |exit status [0-9]+\Z)"
)
_BUILD_FAILED = re.compile(r"FAIL\t(\S{1,1000}) \[(?:build|setup) failed\]\s*\Z")
_FEW = 8
"""Tests that become rows as fast one by one."""
_MARKERS = ("=== RUN", "=== PAUSE", "=== CONT", "=== NAME")


@dataclass(slots=True)
class _Package:
    running: dict[str, "ClippedText | None"] = field(default_factory=dict)
    """Test -> its output."""
    output: ClippedText | None = None
    failed: int = 0
    ended: bool = False


class GoTest(TextFormat):
    dialect = Dialect("go-test", lambda facts: False, suite_in_key=False)

    def read(self, chunks: Iterator[bytes]) -> None:
        self._packages: dict[str, _Package] = {}
        self._builds: dict[str, ClippedText] = {}
        self._failed_builds: set[str] = set()
        self._line = self._damaged = 0
        self._is_dated = False
        self._passes: list[tuple[str, str, str]] = []
        """Package, name and seconds of tests that passed, since the last one that did not."""
        self._decoder = JSONDecoder(object_pairs_hook=self._object)
        for lines in lines_of(chunks, self.report, self.limits.markup):
            for line, event in zip(lines, _events(lines), strict=True):
                self._line += 1
                if event is not None:
                    self._take(event)
                elif line.strip():
                    self._read_line(line)
            self._add_passes()
        self._end()

    # -- lines -------------------------------------------------------------------------------------------------

    def _read_line(self, line: str) -> None:
        if not line.startswith("{"):
            self._read_words(line)
            return
        try:
            event = self._decoder.decode(line)
        except (ValueError, RecursionError):
            self._damaged = self._damaged or self._line
            self.tell("damaged_line", f"Line {self._line:,} is not an event of go test: {line[:80]!r}.")
            return
        self._take(event)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        event = dict(pairs)
        if len(event) < len(pairs):
            self.tell("key_twice", f"A key stands twice in line {self._line:,}: which one counts is not known.")
        return event

    def _read_words(self, line: str) -> None:
        """Read a line that the go command or the compiler printed among the events."""
        if found := _BUILD_FAILED.match(line):
            self._package(found[1]).ended = True
            self.run_error(found[1], Trouble(line.strip(), type="build failed"))
        elif not _HARMLESS.match(line) or '"Action"' in line:
            self.tell("stray_line", f"Line {self._line:,} is not an event of go test: {line.strip()[:80]!r}.")

    def _take(self, event: dict[str, Any]) -> None:
        get = event.get
        action, test, name = get("Action"), get("Test"), get("Package")
        if type(action) is not str or type(test) is not str or type(name) is not str:
            action, test, name = text_in(action), text_in(test), text_in(name)
        if action.startswith("build-"):
            self._build(action, text_in(get("ImportPath")), event)
            return
        if not name:
            self.tell("unknown_value", f"Line {self._line:,} names no package.")
        package = self._packages.get(name) or self._package(name)
        if not self._is_dated and "Time" in event:
            self.report.timestamp = text_in(event["Time"])[:64]
            self._is_dated = bool(self.report.timestamp)
        if action == "pass" and test:
            package.running.pop(test, None)
            self._passes.append((name, test, _elapsed(get("Elapsed"))))
        elif action not in _ENDS:
            self._go_on(package, action, test, event)
        elif test:
            self._end_test(name, package, test, action, event)
        else:
            self._end_package(name, package, action, event)

    def _go_on(self, package: _Package, action: str, test: str, event: dict[str, Any]) -> None:
        package.ended = False
        if action not in _ON_THE_WAY:
            self.tell("unknown_verdict", f"The action {action[:40]!r} is not known.")
        elif test and action == "run":
            package.running.setdefault(test, None)
        elif action == "output":
            self._keep(package, test, text_in(event.get("Output")))

    def _package(self, name: str) -> _Package:
        package = self._packages.get(name)
        if package is None:
            if len(self._packages) >= self.limits.cases:
                raise over_limit("cases", self.limits.cases, "The file has too many packages")
            package = self._packages[name] = _Package()
        return package

    def _keep(self, package: _Package, test: str, output: str) -> None:
        if output.startswith(_MARKERS):
            return
        if not test:
            package.output = package.output or self.share.sink(self.limits.text_kept)
            package.output.add(output)
            return
        sink = package.running.get(test)
        if sink is None:
            if len(package.running) > self.limits.cases:
                raise over_limit("cases", self.limits.cases, "The file has too many test cases")
            sink = package.running[test] = self.share.sink(self.limits.text_kept)
        sink.add(output)

    # -- what ended --------------------------------------------------------------------------------------------

    def _end_test(self, name: str, package: _Package, test: str, action: str, event: dict[str, Any]) -> None:
        sink = package.running.pop(test, None)
        case = Case(test, name, _ENDS[action], _elapsed(event.get("Elapsed")))
        if case.verdict.failing:
            package.failed += 1
            case.trouble = self._trouble(sink)
        self.add(case)

    def add(self, case: Case) -> None:
        self._add_passes()
        super().add(case)

    def _add_passes(self) -> None:
        passes, self._passes = self._passes, []
        if len(passes) > _FEW:
            packages, names, times = map(list, zip(*passes, strict=True))
            written = {*packages, *names}
            if max(map(len, written)) <= LONGEST_NAME and "".join(written).isprintable():
                self.target.add_plain(packages, names, times)
                return
        for package, name, time in passes:
            super().add(Case(name, package, time=time))

    def _trouble(self, sink: ClippedText | None) -> Trouble:
        text = self.share.take(sink) if sink is not None else ""
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("--- ")]
        return Trouble(lines[0].strip() if lines else "Failed", text)

    def _end_package(self, name: str, package: _Package, action: str, event: dict[str, Any]) -> None:
        self._end_unfinished(name, package)
        build = text_in(event.get("FailedBuild"))
        if action == "fail" and (build or not package.failed):
            sink = self._builds.get(build) or package.output
            trouble = self._trouble(sink)
            trouble.type = "build failed" if build else "package failed"
            self.run_error(name, trouble)
            self._failed_builds.add(build)
        package.output, package.failed, package.ended = None, 0, True

    def _end_unfinished(self, name: str, package: _Package) -> None:
        """End the tests that were running when the run broke off."""
        for test, sink in package.running.items():
            trouble = self._trouble(sink)
            if glued := _glued(test, trouble.text):
                verdict = _ENDS[glued.lower()]
                package.failed += verdict.failing
                self.add(Case(test, name, verdict, own_trouble=trouble))
                continue
            trouble.message = f"The test did not end. {trouble.message}".removesuffix(" Failed")
            package.failed += 1
            self.add(Case(test, name, Verdict.ERROR, own_trouble=trouble))
            self.run_error(f"{name}: {test}", trouble)
        package.running = {}

    def _build(self, action: str, path: str, event: dict[str, Any]) -> None:
        if action == "build-output":
            if path not in self._builds and len(self._builds) < self.limits.attempts * 100:
                self._builds[path] = self.share.sink(self.limits.text_kept)
            if path in self._builds:
                self._builds[path].add(text_in(event.get("Output")))
        elif action == "build-fail":
            self._failed_builds.add(path)
            self.run_error(path, Trouble(f"{path} could not be built.", type="build failed"))
        else:
            self.tell("unknown_verdict", f"The action {action[:40]!r} is not known.")

    def _end(self) -> None:
        cut = False
        for name, package in self._packages.items():
            if not package.ended or package.running:
                cut = True
                self._end_unfinished(name, package)
                self.run_error(name, Trouble("The package has no end: the file was cut off, or the runner crashed."))
        if cut or self._damaged:
            raise Damage("It does not tell how every package ended", self._damaged or self._line, 1)


_DECODER = JSONDecoder()
_APART = re.compile(r'"[ \t\r\n]+:')
"""A key with blanks before its colon."""


def _events(lines: list[str]) -> Iterable[dict[str, Any] | None]:
    """The events of lines that are one event each, decoded together; None for each line if one of them may be not.

    No value crosses a line: it would need a list, or a string with a line break, which JSON forbids."""
    together = ",\n".join(lines)
    if "[" not in together and all(line.startswith("{") for line in lines):
        try:
            events: list[dict[str, Any]] = _DECODER.decode(f"[{together}]")
        except (ValueError, RecursionError):
            events = []
        # each key is followed by a colon: there are fewer keys than that if one stands twice or is in another object
        if len(events) == len(lines) and together.count('":') == sum(map(len, events)) and not _APART.search(together):
            return events
    return repeat(None, len(lines))


def _glued(test: str, output: str) -> str:
    """A test's outcome from its output: before Go 1.20 that line is no event if it follows output without a newline."""
    ends = re.findall(r"--- (PASS|FAIL|SKIP): (\S{1,2000}) \([0-9.]{1,20}s\)$", output, re.MULTILINE)
    return next((word for word, name in ends if name == test), "") if len(ends) == 1 else ""


def _elapsed(written: object) -> str:
    value = number_in(written)
    if value is None:
        return "" if written is None else str(written)[:40]
    return repr(value)
