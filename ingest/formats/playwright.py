"""Playwright's JSON report: suites of specs; a spec has a test for each project, a test a result for each attempt."""

import re
from collections import defaultdict
from collections.abc import Iterator
from types import NoneType
from typing import Any

from ingest.formats.cases import Case, Trouble, first_line, tell_surplus, tell_unknown
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
from ingest.junit.problems import over_limit
from ingest.junit.times import read_duration
from ingest.verdict import Verdict

FIRST_KEYS = frozenset({b"config", b"suites"})

_RESULTS = {
    "passed": Verdict.PASS,
    "failed": Verdict.FAIL,
    **dict.fromkeys(("timedOut", "interrupted"), Verdict.ERROR),
    "skipped": Verdict.SKIP,
}
_TESTS = frozenset({"expected", "unexpected", "flaky", "skipped"})
_EXPECTED = re.compile(r"\A(?:\x1b\[[0-9;]{0,20}m)*(?:\w{1,100}: )?(?:\x1b\[[0-9;]{0,20}m)*expect")
"""The message of a failed expectation; anything else thrown is an error, as in Playwright's JUnit report."""
_DURATION = "tests.[].results.[].duration"
_WANTED = {"title": str, "file": str, "line": float, _DURATION: float}
_FIXED = frozenset({"status", "expectedStatus", "projectName", "projectId"})
_BETWEEN = " › "
"""Playwright's JUnit reporter joins titles the same way, so both give a test the same name."""


class Playwright(TextFormat):
    dialect = Dialect("playwright", lambda facts: False, host_in_key=True)

    def read(self, chunks: Iterator[bytes]) -> None:
        self._stats: dict[str, Any] = {}
        self._seen = self._failed = self._flaky = 0
        self._cases: dict[str, list[Case]] = defaultdict(list)
        """Cases of the open file by project."""
        self._alike = Alike(_WANTED, _FIXED)
        self._held = 0
        cursor = self._cursor = Cursor(chunks, self.limits, self.report)
        readers = {"config": cursor.skip, "suites": self._suites, "errors": self._errors, "stats": self._read_stats}
        there = cursor.read(readers, self.tell, "the report")
        cursor.end()
        for key in ("suites", "errors", "stats"):
            if key not in there:
                self.tell("missing_key", f"The report has no `{key}`.")
        self._check()

    def _read_stats(self) -> None:
        self._stats = object_in(self._cursor.value())
        self.report.timestamp = text_in(self._stats.get("startTime"))[:64]

    def _errors(self) -> None:
        """Read failures other than tests: files that do not load, and global setup."""
        for _ in self._cursor.items():
            error = object_in(self._cursor.value())
            location = object_in(error.get("location"))
            trouble = _trouble([error])
            self.run_error(text_in(location.get("file")) or trouble.message[:200], trouble)

    # -- suites ------------------------------------------------------------------------------------------------

    def _suites(self) -> None:
        for _ in self._cursor.items():
            try:
                self._suite(())
            finally:
                self._hand_over()

    def _suite(self, titles: tuple[str, ...]) -> None:
        """Read a suite: its own fields precede its specs, and a file's suite has the file's name."""
        named = {"title": "", "file": ""}

        def take(key: str) -> None:
            named[key] = text_in(self._cursor.value())

        def inside() -> tuple[str, ...]:
            return titles or (named["file"] or named["title"],)

        def suites() -> None:
            for _ in self._cursor.items():
                self._suite((*inside(), *self._own(titles, named)))

        def specs() -> None:
            path = (*inside(), *self._own(titles, named))
            for _ in self._cursor.items():
                self._spec(path)
                self._take_alike(path)

        readers = {"title": lambda: take("title"), "file": lambda: take("file"), "suites": suites, "specs": specs}
        there = self._cursor.read(readers, self.tell, "a suite")
        if "specs" not in there:
            self.tell("missing_key", "A suite has no `specs`.")

    def _own(self, titles: tuple[str, ...], named: dict[str, str]) -> tuple[str, ...]:
        return (named["title"],) if titles and named["title"] else ()

    def _spec(self, titles: tuple[str, ...]) -> None:
        spec = self._cursor.value()
        for key in self._cursor.twice:
            self.tell("key_twice", f"The key {key[:60]!r} stands twice in one test: which one counts is not known.")
        self._cursor.twice = []
        if not isinstance(spec, dict):
            self.tell("unknown_value", "Something in `specs` is not an object.")
            return
        tests = list_in(spec.get("tests"))
        if not tests:
            self.tell("missing_key", f"The spec {text_in(spec.get('title'))[:80]!r} has no `tests`.")
        failed = False
        for test in map(object_in, tests):
            failed |= self._test(titles, spec, test)
        if len(tests) == 1 and not failed and _can_be_sample(spec, object_in(tests[0])):
            self._cursor.learn(self._alike, spec)
        if spec.get("ok") is not True and not failed:
            self.tell("unknown_verdict", f"{text_in(spec.get('title'))[:80]!r} is not ok, and no test of it failed.")

    def _test(self, titles: tuple[str, ...], spec: dict[str, Any], test: dict[str, Any]) -> bool:
        """Read a test; returns whether it failed."""
        file, *describes = titles
        case = Case(_BETWEEN.join([*describes, text_in(spec.get("title"))]), file, file=text_in(spec.get("file")))
        if "line" in spec:
            case.line = line_in(spec["line"])
        self._judge(case, test)
        self.spend(case)
        self._seen += 1
        self._failed += case.verdict.failing
        self._flaky += bool(case.before) and not case.verdict.failing
        self._cases[_project(test)].append(case)
        self._count(1)
        return case.verdict.failing

    def _count(self, cases: int) -> None:
        self._held += cases
        if self._held > self.limits.cases:
            raise over_limit("cases", self.limits.cases, "The file has too many test cases")

    def _take_alike(self, titles: tuple[str, ...]) -> None:
        """Take the plain passes that follow and are written like the one of the template."""
        columns = self._cursor.alike(self._alike)
        if not columns:
            return
        cases = self._cases[_project(object_in(self._alike.sample["tests"][0]))]
        file, *describes = titles
        before = "".join(f"{title}{_BETWEEN}" for title in describes)
        names = columns["title"]
        nothing = [""] * len(names)
        times = all_seconds(columns[_DURATION]) if _DURATION in columns else nothing
        lines = all_lines(columns["line"]) if "line" in columns else nothing
        cases += [
            Case(before + name, file, time=time, file=own_file, line=line)
            for name, time, own_file, line in zip(names, times, columns.get("file", nothing), lines, strict=True)
        ]
        self._seen += len(names)
        self._count(len(names))

    def _judge(self, case: Case, test: dict[str, Any]) -> None:
        """Set the verdict: the test's own status and its results must agree, or the worst counts."""
        status, expected, results = text_in(test.get("status")), _expected(test), _results(test)
        if _is_plain(test):
            case.time = seconds_in(results[0].get("duration"))
            return
        words = [text_in(result.get("status")) for result in results]
        for word in {*words} - _RESULTS.keys():
            tell_unknown(self.target, word, case.name)
        if status not in _TESTS or (not results and status != "skipped"):
            case.verdict, case.trouble = Verdict.ERROR, tell_unknown(self.target, status, case.name)
            return
        failed = [result for result, word in zip(results, words, strict=True) if word not in (expected, "skipped")]
        if results:
            case.time = seconds_in(results[-1].get("duration"))
            case.system_out, case.system_err = (_output(results[-1].get(name)) for name in ("stdout", "stderr"))
            case.system_out = with_marks(case.system_out, results[-1].get("attachments"))
        retried = status == "flaky" and words[-1] == expected and bool(failed) and _in_order(results)
        if status == "unexpected" or (failed and not retried):
            last = failed[-1] if failed else results[-1]
            case.trouble, failed = _result(last), failed[:-1]
            case.verdict = Verdict.ERROR if case.trouble.error else Verdict.FAIL
            if not case.trouble.message:
                case.trouble.message = f"Expected to be {expected!r}, was {text_in(last.get('status'))!r}."
        else:
            case.verdict = Verdict.SKIP if status == "skipped" else Verdict.PASS
        if _in_order(results):
            case.before = [_result(result) for result in failed]

    def _hand_over(self) -> None:
        """The cases of a file, a suite for each project."""
        for project, cases in self._cases.items():
            self.target.start("testsuite", {"name": cases[0].classname, "hostname": project})
            for case in cases:
                self.add(case)
            self.target.end("testsuite")
        self._cases.clear()
        self.report.hostname = ""

    def _check(self) -> None:
        counts = {name: number_in(self._stats.get(name)) for name in _TESTS}
        if None in counts.values():
            self.tell("header_unreadable", "The counts of the report are no numbers.")
        counted = {name: int(value or 0) for name, value in counts.items()}
        tell_surplus(
            self.target, "The summary", failing=counted["unexpected"] + counted["flaky"],
            read_failing=self._failed + self._flaky, tests=sum(counted.values()), read_tests=self._seen,
        )  # fmt: skip


def _project(test: dict[str, Any]) -> str:
    return text_in(test.get("projectName")) or text_in(test.get("projectId"))


def _expected(test: dict[str, Any]) -> str:
    return text_in(test.get("expectedStatus")) or "passed"


def _results(test: dict[str, Any]) -> list[dict[str, Any]]:
    return [object_in(result) for result in list_in(test.get("results"))]


def _is_plain(test: dict[str, Any]) -> bool:
    """Whether it passed at once, as it was to: nothing else in it can matter."""
    results = _results(test)
    passed = len(results) == 1 and results[0].get("status") == _expected(test) == "passed"
    return passed and test.get("status") == "expected"


def _can_be_sample(spec: dict[str, Any], test: dict[str, Any]) -> bool:
    """Whether a spec that is written like this one differs from it in title, file, line and duration alone."""
    if not _is_plain(test) or spec.get("ok") is not True or not isinstance(spec.get("title"), str):
        return False
    return isinstance(_results(test)[0].get("duration"), float | NoneType)


def _in_order(results: list[dict[str, Any]]) -> bool:
    """Whether the results are the attempts 0, 1, 2, … of one test."""
    return [number_in(result.get("retry")) for result in results] == list(range(len(results)))


def _result(result: dict[str, Any]) -> Trouble:
    errors = [object_in(error) for error in list_in(result.get("errors"))] or [object_in(result.get("error"))]
    trouble = _trouble(errors)
    trouble.error = bool(trouble.message) and not _EXPECTED.match(trouble.message)
    trouble.seconds = read_duration(seconds_in(result.get("duration")))
    return trouble


def _trouble(errors: list[dict[str, Any]]) -> Trouble:
    texts = [
        text_in(error.get("stack")) or text_in(error.get("message")) or text_in(error.get("value")) for error in errors
    ]
    message = text_in(errors[0].get("message")) or texts[0]
    return Trouble(first_line(message), "\n\n".join(filter(None, texts)))


def _output(value: object) -> str:
    return "".join(text_in(object_in(piece).get("text")) for piece in list_in(value))
