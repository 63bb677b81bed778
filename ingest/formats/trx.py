"""TRX, from `dotnet test`, VSTest and MSTest: results and the classes of their methods are in separate sections."""

import re
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from ingest.formats.cases import LONGEST_NAME, Case, Trouble, first_line, tell_surplus
from ingest.formats.templates import Run
from ingest.formats.xml import XmlFormat
from ingest.junit.dialects import Dialect
from ingest.junit.elements import Attributes
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.junit.problems import over_limit
from ingest.junit.suites import number
from ingest.verdict import Verdict

NAMESPACE = re.compile(r"\{http://microsoft\.com/schemas/VisualStudio/TeamTest/[0-9]{4}\}TestRun")

_WORDS = {
    **dict.fromkeys(("passed", "completed", "warning"), Verdict.PASS),
    "failed": Verdict.FAIL,
    **dict.fromkeys(("error", "timeout", "aborted", "disconnected", "notrunnable"), Verdict.ERROR),
    **dict.fromkeys(("passedbutrunaborted", "inprogress", "pending"), Verdict.ERROR),
    **dict.fromkeys(("notexecuted", "inconclusive"), Verdict.SKIP),
    "": Verdict.ERROR,  # MSTest omits the default value of its enum, which is Error
}
_FAILING_COUNTERS = ("failed", "error", "timeout", "aborted", "disconnected")
_RUN_BROKE = ("aborted", "timeout", "disconnected", "inprogress", "passedbutrunaborted")
_RESULTS = frozenset(
    f"{kind}Result" for kind in ("UnitTest", "GenericTest", "WebTest", "LoadTest", "ManualTest", "CodedWebTest", "Test")
) | {"TestResultAggregation"}
# The xUnit.net adapter repeats every failing test as an error of the run.
_XUNIT_FAIL = re.compile(r"\[xUnit\.net [0-9:.]{1,20}\]\s{1,9}(.{1,4000}) \[FAIL\]\s*\Z", re.DOTALL)
_XUNIT_MORE = re.compile(r"\[xUnit\.net [0-9:.]{1,20}\]\s{6,}")


@dataclass(slots=True)
class _Result:
    test_id: str
    case: Case
    inner: list["_Result"] = field(default_factory=list)

    @property
    def fails(self) -> bool:
        return self.case.verdict.failing or any(result.fails for result in self.inner)


class _Passes(NamedTuple):
    """Results that follow each other, passed, and have nothing else to tell."""

    test_ids: list[str]
    names: list[str]
    times: list[str]


class Trx(XmlFormat):
    dialect = Dialect("trx", lambda facts: False, suite_in_key=False)
    results = _RESULTS | {"ResultSummary", "RunInfo", "Counters", "ErrorInfo"}
    texts = frozenset({"Message", "StackTrace", "Text", "StdOut", "StdErr"})
    children: ClassVar[dict[str, frozenset[str]]] = {
        "": frozenset({"TestRun"}),
        "TestRun": frozenset(
            {"Times", "TestSettings", "TestRunConfiguration", "Results", "TestDefinitions", "TestEntries", "TestLists"}
            | {"ResultSummary", "Build", "WorkItems", "Description", "Properties"}
        ),
        "Times": frozenset(),
        "Results": _RESULTS,
        **dict.fromkeys(
            _RESULTS,
            frozenset({"Output", "InnerResults", "ResultFiles", "CollectorDataEntries", "WorkItems", "TcmInformation"})
            | {"Description", "TimersMessage", "Timers"},
        ),
        "InnerResults": _RESULTS,
        "Output": frozenset(
            {"StdOut", "StdErr", "DebugTrace", "ErrorInfo", "TextMessages", "Exception", "TraceInfo", "Message"}
        ),
        "ErrorInfo": frozenset({"Message", "StackTrace", "Exception"}),
        **dict.fromkeys(("Message", "StackTrace", "StdOut", "StdErr"), frozenset[str]()),
        "TestDefinitions": frozenset(
            {
                "UnitTest",
                "GenericTest",
                "WebTest",
                "LoadTest",
                "ManualTest",
                "OrderedTest",
                "CodedWebTest",
                "TestElement",
            }
        ),
        "UnitTest": frozenset(
            {"TestMethod", "Execution", "Description", "TestCategory", "Properties", "DeploymentItems", "Css", "Owners"}
            | {"Agent", "WorkItemIDs", "Workitems", "TcmInformation", "AssociatedWorkItems", "Conditions"}
            | {"UnitTestConfiguration", "AgentRule", "DataSource", "TestOwners"}
        ),
        "TestMethod": frozenset(),
        "ResultSummary": frozenset({"Counters", "RunInfos", "Output", "CollectorDataEntries", "ResultFiles"}),
        "Counters": frozenset(),
        "RunInfos": frozenset({"RunInfo"}),
        "RunInfo": frozenset({"Text", "Exception"}),
        "Text": frozenset(),
    }
    runs: ClassVar[dict[str, frozenset[str]]] = {
        "UnitTestResult": frozenset({"outcome", "computerName"}),
        "UnitTest": frozenset(),
    }
    taken = frozenset({"UnitTestResult", "UnitTest", "TestMethod"})

    def __init__(self, limits: Limits, share: Share) -> None:
        super().__init__(limits, share)
        for name in _RESULTS:
            self._openers[name], self._closers[name] = self._open_result, self._close_result
        self._top: list[_Result | _Passes] = []
        self._stack: list[_Result] = []
        self._count = 0
        self._methods_of: dict[str, tuple[str, str]] = {}
        """Test id -> class and method."""
        self._test_id = ""
        self._summary: Attributes | None = None
        self._counters: Attributes | None = None
        self._infos: list[tuple[str, str]] = []
        self._text = ""
        self._handed_over = False
        self._total = self._failed = 0

    # -- elements ----------------------------------------------------------------------------------------------

    def open_times(self, attributes: Attributes) -> None:
        self.report.timestamp = attributes.get("start", "")[:64]

    def _open_result(self, attributes: Attributes) -> None:
        self._count_results(1)
        get = attributes.get
        case = Case(get("testName", ""), time=get("duration", ""))
        self.verdict_of(get("outcome", ""), _WORDS, case)
        result = _Result(get("testId", ""), case)
        self.report.hostname = self.report.hostname or get("computerName", "")[:255]
        (self._stack[-1].inner if self._stack else self._top).append(result)
        self._stack.append(result)

    def _count_results(self, count: int) -> None:
        self._count += count
        if self._count > self.limits.cases:
            raise over_limit("cases", self.limits.cases, "The file has too many test cases")

    def take_unittestresult(self, run: Run) -> bool:
        if self._stack or not run.passes(run.name, "outcome", _WORDS):
            return False
        self._count_results(run.count)
        self.report.hostname = self.report.hostname or run.same.get((run.name, "computerName"), "")[:255]
        self._top.append(_Passes(*(run.column(run.name, name) for name in ("testId", "testName", "duration"))))
        return True

    def _close_result(self, attributes: Attributes, text: str) -> None:
        self._stack.pop()

    def close_stdout(self, attributes: Attributes, text: str) -> None:
        if self._stack:
            self._stack[-1].case.system_out = text

    def close_stderr(self, attributes: Attributes, text: str) -> None:
        if self._stack:
            self._stack[-1].case.system_err = text

    def close_message(self, attributes: Attributes, text: str) -> None:
        if self._stack:
            self._stack[-1].case.trouble.message = text

    def close_stacktrace(self, attributes: Attributes, text: str) -> None:
        if self._stack:
            self._stack[-1].case.trouble.text = text

    def open_unittest(self, attributes: Attributes) -> None:
        self._test_id = attributes.get("id", "")

    def open_testmethod(self, attributes: Attributes) -> None:
        classname = attributes.get("className", "").partition(",")[0]
        self._methods_of[self._test_id] = classname, attributes.get("name", "")

    def take_unittest(self, run: Run) -> bool:
        if not run.has("TestMethod", "className"):
            return False
        written = run.column("TestMethod", "className")
        class_of = {name: name.partition(",")[0] for name in set(written)}
        methods = zip(map(class_of.__getitem__, written), run.column("TestMethod", "name"), strict=True)
        ids = run.column("UnitTest", "id")
        self._methods_of.update(zip(ids, methods, strict=True))
        self._test_id = ids[-1]
        return True

    def open_resultsummary(self, attributes: Attributes) -> None:
        self._tell_second(self._summary)
        self._summary = attributes

    def open_counters(self, attributes: Attributes) -> None:
        self._tell_second(self._counters)
        self._counters = attributes

    def _tell_second(self, first: Attributes | None) -> None:
        if first is not None:
            self.tell("two_summaries", "The file sums up its results twice: which sums count is not known.")

    def close_text(self, attributes: Attributes, text: str) -> None:
        self._text = text

    def close_runinfo(self, attributes: Attributes, text: str) -> None:
        if len(self._infos) < self.limits.attempts * 100:
            self._infos.append((attributes.get("outcome", "").strip().lower(), self._text))
        else:
            self.tell("too_many_messages", "The run has more messages than are looked at.")
        self._text = ""

    # -- the end -----------------------------------------------------------------------------------------------

    def close_testrun(self, attributes: Attributes, text: str) -> None:
        failing = {result.case.name for result in self._all() if result.case.verdict.failing}
        self.finish()
        for outcome, message in self._infos:
            self._judge_info(outcome, message, failing)
        self._judge_summary(bool(failing))

    def _all(self) -> list[_Result]:
        """All results but those that passed together."""
        everything: list[_Result] = []
        rest = [result for result in self._top if isinstance(result, _Result)]
        while rest:
            result = rest.pop()
            everything.append(result)
            rest += result.inner
        return everything

    def finish(self) -> None:
        if self._top and not self._handed_over:
            self._handed_over = True
            self._total = self._count - len(self._stack)
            self._failed = sum(result.case.verdict.failing for result in self._all())
            self.target.start("testsuite", {"timestamp": self.report.timestamp})
            for result in self._top:
                if isinstance(result, _Passes):
                    self._add_passes(result)
                elif result not in self._stack:  # an open one is incomplete
                    self._add(result)
            self.target.end("testsuite")

    def _add_passes(self, passes: _Passes) -> None:
        get, nothing = self._methods_of.get, ("", "")
        classes = [get(test_id, nothing)[0] for test_id in passes.test_ids]
        before = {classname: f"{classname}." if classname else "" for classname in set(classes)}
        names = [name.removeprefix(before[classname]) for name, classname in zip(passes.names, classes, strict=True)]
        if "" not in names and max(map(len, before)) <= LONGEST_NAME:
            self.target.add_plain(classes, names, passes.times)
            return
        for test_id, name, time in zip(*passes, strict=True):
            self._add(_Result(test_id, Case(name, time=time)))

    def _add(self, result: _Result) -> None:
        """Add the result, or those of its rows if it failed only because of them."""
        if result.inner:
            for row in result.inner:
                if row not in self._stack:
                    self._add(row)
            if not result.case.verdict.failing or any(row.fails for row in result.inner):
                return
        case = result.case
        classname, method = self._methods_of.get(result.test_id, ("", ""))
        case.classname = classname
        case.name = (case.name.removeprefix(f"{classname}.") if classname else case.name) or method
        if case.verdict.failing and not case.trouble.message:
            case.trouble.message = first_line(case.trouble.text)
        self.add(case)

    def _judge_info(self, outcome: str, text: str, failing: set[str]) -> None:
        if outcome in ("warning", "passed", "completed", "inconclusive", "notexecuted"):
            return
        found = _XUNIT_FAIL.match(text.strip())
        if (found and found[1].strip() in failing) or (failing and _XUNIT_MORE.match(text)):
            return
        self.run_error(first_line(text)[:200] or "run", Trouble(first_line(text), text, "RunInfo"))

    def _judge_summary(self, failing: bool) -> None:
        if self._summary is None:
            self.tell("no_summary", "The file has no ResultSummary: whether the run came to its end is not known.")
            return
        word = self._summary.get("outcome", "").strip().lower()
        verdict = _WORDS.get(word)
        if verdict is None or not word:
            self.tell("unknown_verdict", f"The outcome {word[:40]!r} of the run is not known.")
        elif word in _RUN_BROKE or (verdict.failing and not failing and not self.report.run_errors):
            self.run_error("run", Trouble(f"The run says that it ended as {word!r}.", type="ResultSummary"))
        get = (self._counters or {}).get
        counted = {name: number(get(name, "0")) for name in ("total", *_FAILING_COUNTERS)}
        for name, value in counted.items():
            if value is None:
                self.tell("header_unreadable", f"The count {name}={get(name, '')[:40]!r} of the run is not a number.")
        failed = sum(counted[name] or 0 for name in _FAILING_COUNTERS)
        tell_surplus(
            self.target, "The summary", failing=failed, read_failing=self._failed, tests=counted["total"] or 0,
            read_tests=self._total,
        )  # fmt: skip
