"""Robot Framework's output.xml: tests in nested suites; keywords are skipped except suite setup and teardown."""

import re
from datetime import datetime
from typing import ClassVar

from ingest.formats.cases import LONGEST_NAME, Case, Trouble, first_line, tell_surplus
from ingest.formats.templates import Run
from ingest.formats.xml import XmlFormat
from ingest.junit.dialects import Dialect
from ingest.junit.elements import Attributes
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.junit.suites import number
from ingest.verdict import Verdict

_WORDS = {"pass": Verdict.PASS, "fail": Verdict.FAIL, **dict.fromkeys(("skip", "not run", "not_run"), Verdict.SKIP)}
_CONTENT = frozenset(
    {"kw", "for", "while", "if", "try", "iter", "branch", "return", "continue", "break", "error", "group", "variable"}
    | {"doc", "tag", "tags", "timeout", "msg", "status", "arguments", "assign", "errors", "setup", "teardown", "value"}
    | {"metadata", "meta", "item", "var", "arg"}
)
_BROKEN = re.compile(r"Error in (?:file|library)|Importing |Parsing |Taking |Calling (?:method|listener)|Suite '")


class Robot(XmlFormat):
    dialect = Dialect("robot", lambda facts: False, suite_in_key=False)
    results = frozenset({"suite", "test", "robot"})
    texts = frozenset({"status", "stat", "error-message"})
    renamed: ClassVar[dict[tuple[str, str], str]] = {
        ("statistics", "suite"): "suite-statistics",
        ("suite", "kw"): "suite-keyword",
        ("suite-keyword", "status"): "keyword-status",
        ("robot", "errors"): "run-errors",
        ("run-errors", "msg"): "error-message",
    }
    children: ClassVar[dict[str, frozenset[str]]] = {
        "": frozenset({"robot"}),
        "robot": frozenset({"suite", "statistics", "errors"}),
        "suite": _CONTENT | {"suite", "test"},
        "suite-keyword": _CONTENT,
        "keyword-status": frozenset(),
        "test": _CONTENT,
        "status": frozenset(),
        "statistics": frozenset({"total", "tag", "suite"}),
        "total": frozenset({"stat"}),
        "stat": frozenset(),
        "run-errors": frozenset({"msg"}),
        "error-message": frozenset(),
    }
    runs: ClassVar[dict[str, frozenset[str]]] = {"test": frozenset({"status"})}
    taken = frozenset({"test", "status"})

    def __init__(self, limits: Limits, share: Share) -> None:
        super().__init__(limits, share)
        self._names: list[str] = []
        self._failed_before: list[int] = []
        self._broken: list[str] = []
        """By open suite: the kind of its own keyword that failed."""
        self._case: Case | None = None
        self._fixture = ""
        self._ended = False
        self._counted: tuple[int, int] | None = None

    # -- suites ------------------------------------------------------------------------------------------------

    def open_suite(self, attributes: Attributes) -> None:
        self._names.append(attributes.get("name", ""))
        tally = self.target.tally()
        self._failed_before.append(tally.failing + tally.run_errors)
        self._broken.append("")
        self.target.start("testsuite", {"name": ".".join(self._names)})

    def close_suite(self, attributes: Attributes, text: str) -> None:
        self._names.pop()
        self._failed_before.pop()
        self._broken.pop()
        self.target.end("testsuite")

    def open_suite_keyword(self, attributes: Attributes) -> None:
        self._fixture = attributes.get("type", "").strip().lower() or "keyword"

    def open_keyword_status(self, attributes: Attributes) -> None:
        if attributes.get("status", "").strip().lower() == "fail":
            self._broken[-1] = self._fixture

    # -- tests -------------------------------------------------------------------------------------------------

    def open_test(self, attributes: Attributes) -> None:
        self._case = Case(attributes.get("name", ""), ".".join(self._names), line=attributes.get("line", ""))
        self._ended = False

    def close_status(self, attributes: Attributes, text: str) -> None:
        """Read the outcome of a test or suite."""
        if self._case is None:
            self._end_suite(attributes.get("status", ""), text)
            return
        case, self._ended = self._case, True
        self.verdict_of(attributes.get("status", ""), _WORDS, case)
        case.time = attributes.get("elapsed", "") or _elapsed(attributes)
        if case.verdict is Verdict.FAIL:
            case.trouble = Trouble(first_line(text), text.strip())
        self._note_start(attributes)

    def close_test(self, attributes: Attributes, text: str) -> None:
        if self._case is not None:
            if not self._ended:
                self.verdict_of("", _WORDS, self._case)
            self.add(self._case)
        self._case = None

    def take_test(self, run: Run) -> bool:
        classname, times = ".".join(self._names), run.column("status", "elapsed")
        if not run.passes("status", "status", _WORDS) or run.has("test", "line") or len(classname) > LONGEST_NAME:
            return False
        if "" in times or not self.report.timestamp:
            return False
        self.target.add_plain([classname] * run.count, run.column("test", "name"), times)
        return True

    def _end_suite(self, word: str, text: str) -> None:
        verdict = _WORDS.get(word.strip().lower())
        if verdict is None:
            self.tell("unknown_verdict", f"The outcome {word[:40]!r} of a suite is not known.")
        tally = self.target.tally()
        alone = tally.failing + tally.run_errors == self._failed_before[-1]
        if self._broken[-1] or (verdict is Verdict.FAIL and alone):
            message = first_line(text) or f"The {self._broken[-1] or 'suite'} failed; no test says why."
            self.run_error(".".join(self._names), Trouble(message, text.strip(), self._broken[-1]))

    def _note_start(self, attributes: Attributes) -> None:
        if not self.report.timestamp:
            self.report.timestamp = (attributes.get("start", "") or attributes.get("starttime", ""))[:64]

    # -- the end -----------------------------------------------------------------------------------------------

    def close_stat(self, attributes: Attributes, text: str) -> None:
        passed, failed, skipped = (number(attributes.get(name, "0") or "0") for name in ("pass", "fail", "skip"))
        if passed is None or failed is None or skipped is None:
            self.tell("header_unreadable", "A count in the statistics is not a number.")
        elif self._counted is None or text.strip() == "All Tests":
            self._counted = failed, passed + failed + skipped

    def close_error_message(self, attributes: Attributes, text: str) -> None:
        level = attributes.get("level", "").strip().upper()
        if level in ("ERROR", "FAIL") and _BROKEN.match(text.strip()):
            self.run_error(first_line(text)[:200], Trouble(first_line(text), text, "error"))
        elif level not in ("WARN", "INFO", "DEBUG", "TRACE"):
            self.report.warnings.add("logged_error", f"Robot logged an error: {first_line(text)[:200]!r}.")

    def close_robot(self, attributes: Attributes, text: str) -> None:
        tally = self.target.tally()
        if self._counted is None:
            self.tell("no_summary", "The file has no statistics: whether the run came to its end is not known.")
            return
        failed, tests = self._counted
        tell_surplus(
            self.target, "The statistics", failing=failed, read_failing=tally.failing, tests=tests,
            read_tests=tally.cases,
        )  # fmt: skip


def _elapsed(attributes: Attributes) -> str:
    """Seconds between two times as Robot wrote them up to version 6."""
    try:
        start, end = (
            datetime.strptime(attributes.get(name, ""), "%Y%m%d %H:%M:%S.%f") for name in ("starttime", "endtime")
        )
    except ValueError:
        return ""
    return repr((end - start).total_seconds())
