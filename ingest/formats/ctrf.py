"""CTRF, the Common Test Report Format in JSON."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from types import NoneType
from typing import Any

from ingest.formats.cases import Case, Trouble, clean, first_line, tell_surplus, tell_unknown
from ingest.formats.json_templates import Alike
from ingest.formats.json_text import (
    Cursor,
    all_lines,
    all_seconds,
    line_in,
    list_in,
    number_in,
    object_in,
    seconds_in,
    text_in,
    with_marks,
)
from ingest.formats.text import TextFormat
from ingest.junit.dialects import Dialect
from ingest.junit.problems import Refused
from ingest.junit.times import read_duration
from ingest.verdict import Verdict

FIRST_KEYS = frozenset({b"results", b"reportFormat", b"reportId", b"specVersion"})
NAMED = re.compile(rb'"reportFormat"\s{0,9}:\s{0,9}"CTRF"')

_WORDS = {"passed": Verdict.PASS, "failed": Verdict.FAIL, **dict.fromkeys(("skipped", "pending"), Verdict.SKIP)}
_RAW = {
    **dict.fromkeys(("skipped", "skip", "pending", "todo", "disabled", "ignored", "not run", "notrun"), Verdict.SKIP),
    **dict.fromkeys(("error", "broken", "timedout", "timeout", "interrupted", "crashed", "aborted"), Verdict.ERROR),
    **dict.fromkeys(("failed", "fail", "failure"), Verdict.FAIL),
}
"""The runner's own words for outcomes that CTRF calls `other`."""
_MOST_RETRIES = 1_000
_WANTED = {"name": str, "suite": str, "filePath": str, "duration": float, "line": float}
_FIXED = frozenset({"status", "suite.[]"})


class Ctrf(TextFormat):
    dialect = Dialect("ctrf", lambda facts: False)

    def read(self, chunks: Iterator[bytes]) -> None:
        self._summary: dict[str, Any] = {}
        self._seen = self._failed = 0
        self._alike = Alike(_WANTED, _FIXED)
        cursor = self._cursor = Cursor(chunks, self.limits, self.report)
        there = cursor.read({"results": self._results}, self.tell, "the report")
        cursor.end()
        if "results" not in there:
            raise _no_report()

    def _results(self) -> None:
        readers = {"tests": self._tests, "summary": self._read_summary, "tool": self._cursor.skip}
        there = self._cursor.read(readers, self.tell, "`results`")
        if there.isdisjoint({"tests", "summary"}):
            raise _no_report()
        for key in ("tests", "summary"):
            if key not in there:
                self.tell("missing_key", f"`results` has no `{key}`.")
        failed, tests = (number_in(self._summary.get(name)) for name in ("failed", "tests"))
        if "summary" in there and (failed is None or tests is None):
            self.tell("header_unreadable", "The counts `failed` and `tests` of the summary are no numbers.")
        tell_surplus(
            self.target, "The summary", failing=int(failed or 0), read_failing=self._failed, tests=int(tests or 0),
            read_tests=self._seen,
        )  # fmt: skip

    def _read_summary(self) -> None:
        self._summary = object_in(self._cursor.value())
        start = number_in(self._summary.get("start"))
        if start is not None and 1e11 < start < 1e14:
            self.report.timestamp = datetime.fromtimestamp(start / 1_000, UTC).isoformat()

    def _tests(self) -> None:
        for _ in self._cursor.items():
            test = self._cursor.value()
            for key in self._cursor.twice:
                self.tell("key_twice", f"The key {key[:60]!r} stands twice in one test: which one counts is not known.")
            self._cursor.twice = []
            if isinstance(test, dict):
                self._take(test)
            else:
                self.tell("unknown_value", "Something in `tests` is not an object.")
            self._take_alike()

    # -- a test ------------------------------------------------------------------------------------------------

    def _take(self, test: dict[str, Any]) -> None:
        self._seen += 1
        file = text_in(test.get("filePath")) or text_in(test.get("filepath"))
        case = Case(text_in(test.get("name")), _suite(test.get("suite")) or file, file=file)
        case.time = seconds_in(test.get("duration"))
        if "line" in test:
            case.line = line_in(test["line"])
        if test.get("status") == "passed" and not test.get("retryAttempts") and test.get("flaky") is not True:
            self.add(case)  # nothing else can matter
            if "filepath" not in test and isinstance(test.get("duration"), float | NoneType):
                self._cursor.learn(self._alike, test)
            return
        self._judge(case, test)
        self._failed += case.verdict.failing
        case.before = self._before(case, test)
        case.system_out, case.system_err = (_output(test.get(name)) for name in ("stdout", "stderr"))
        case.system_out = with_marks(case.system_out, test.get("attachments"))
        self.spend(case)
        self.add(case)

    def _take_alike(self) -> None:
        """Take the plain passes that follow and are written like the one of the template."""
        columns = self._cursor.alike(self._alike)
        if not columns:
            return
        nothing = [""] * len(columns[""])
        self._seen += len(nothing)
        files = columns.get("filePath", nothing)
        times = all_seconds(columns["duration"]) if "duration" in columns else nothing
        lines = all_lines(columns["line"]) if "line" in columns else nothing
        names, suites = columns.get("name", nothing), columns.get("suite")
        suites = suites or [_suite(self._alike.sample.get("suite"))] * len(nothing)
        for name, suite, file, time, line in zip(names, suites, files, times, lines, strict=True):
            self.add(Case(name, suite or file, time=time, file=file, line=line))

    def _judge(self, case: Case, test: dict[str, Any]) -> None:
        word = text_in(test.get("status")).strip().lower()
        verdict = _WORDS.get(word)
        if word == "other":
            verdict = _RAW.get(text_in(test.get("rawStatus")).strip().lower())
        if verdict is None:
            case.verdict, case.trouble = Verdict.ERROR, tell_unknown(self.target, word, case.name)
            return
        case.verdict = verdict
        case.trouble = _trouble(test)

    def _before(self, case: Case, test: dict[str, Any]) -> list[Trouble]:
        """Failed attempts before the final one."""
        attempts = [object_in(attempt) for attempt in list_in(test.get("retryAttempts"))]
        retries = number_in(test.get("retries")) or 0
        if attempts:
            if len(attempts) > retries > 0 and text_in(attempts[-1].get("status")) == text_in(test.get("status")):
                attempts = attempts[:-1]  # the last one is the test itself
            words = [text_in(attempt.get("status")).strip().lower() for attempt in attempts]
            for word in words:
                if word not in _WORDS and word != "other":
                    tell_unknown(self.target, word, case.name)
            failed = [attempt for attempt, word in zip(attempts, words, strict=True) if word in ("failed", "other")]
            return [_trouble(attempt) for attempt in failed]
        if test.get("flaky") is True or (case.verdict.failing and retries):
            return [Trouble() for _ in range(int(min(max(retries, test.get("flaky") is True), _MOST_RETRIES)))]
        return []


def _no_report() -> Refused:
    return Refused("other_format", "This is a JSON file that is no CTRF report: it has no results.", 1, 1)


def _trouble(content: dict[str, Any]) -> Trouble:
    message, trace = (text_in(content.get(name)) for name in ("message", "trace"))
    return Trouble(message or first_line(trace), trace, seconds=read_duration(seconds_in(content.get("duration"))))


def _suite(value: object) -> str:
    if value is None:
        return ""
    parts = [text_in(part) for part in value] if isinstance(value, list) else [text_in(value)]
    return clean(" > ".join(filter(None, parts)))


def _output(value: object) -> str:
    return "\n".join(text_in(line) for line in value) if isinstance(value, list) else text_in(value)
