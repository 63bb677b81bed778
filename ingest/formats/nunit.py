"""NUnit 3: cases in nested suites, each of which may fail by itself."""

from typing import ClassVar

from ingest.formats.cases import Case, Trouble, first_line
from ingest.formats.templates import Run
from ingest.formats.xml import XmlFormat
from ingest.junit.dialects import Dialect, Headers
from ingest.junit.elements import Attributes
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.verdict import Verdict

_WORDS = {
    **dict.fromkeys(("passed", "warning"), Verdict.PASS),
    "failed": Verdict.FAIL,
    **dict.fromkeys(("skipped", "inconclusive"), Verdict.SKIP),
}
_ERRORS = frozenset({"error", "cancelled", "invalid", "timeout"})
"""Labels of failures that are not failed assertions."""
_TOLD = frozenset({"properties", "failure", "reason", "output", "assertions", "attachments", "settings", "environment"})


class NUnit(XmlFormat):
    dialect = Dialect("nunit", lambda facts: False, suite_in_key=False, headers=Headers(counts_tests=True))
    results = frozenset({"test-run", "test-suite", "test-case", "failure", "assertion"})
    texts = frozenset({"message", "stack-trace", "output"})
    children: ClassVar[dict[str, frozenset[str]]] = {
        "": frozenset({"test-run", "test-suite"}),
        "test-run": _TOLD | {"test-suite", "test-case", "command-line", "filter"},
        "test-suite": _TOLD | {"test-suite", "test-case"},
        "test-case": _TOLD,
        "failure": frozenset({"message", "stack-trace"}),
        "reason": frozenset({"message"}),
        "assertions": frozenset({"assertion"}),
        "assertion": frozenset({"message", "stack-trace"}),
        **dict.fromkeys(("message", "stack-trace", "output"), frozenset[str]()),
    }
    runs: ClassVar[dict[str, frozenset[str]]] = {"test-case": frozenset({"result", "label"})}
    taken = frozenset({"test-case"})

    def __init__(self, limits: Limits, share: Share) -> None:
        super().__init__(limits, share)
        self._suites: list[tuple[Trouble, int]] = []
        """Open suites: the failure of each suite itself, and how many failures and run errors preceded it."""
        self._case: Case | None = None
        self._message = self._trace = ""

    def _failed(self) -> int:
        tally = self.target.tally()
        return tally.failing + tally.run_errors

    def open_test_run(self, attributes: Attributes) -> None:
        self._open_suite(attributes)

    def open_test_suite(self, attributes: Attributes) -> None:
        self._open_suite(attributes)

    def _open_suite(self, attributes: Attributes) -> None:
        get = attributes.get
        counts = {name: value for name, key in (("tests", "total"), ("failures", "failed")) if (value := get(key, ""))}
        name = get("fullname", "") or get("name", "")
        self._suites.append((Trouble(), self._failed()))
        self.target.start("testsuite", {"name": name, "timestamp": get("start-time", ""), **counts})

    def close_test_run(self, attributes: Attributes, text: str) -> None:
        self._close_suite(attributes)

    def close_test_suite(self, attributes: Attributes, text: str) -> None:
        self._close_suite(attributes)

    def _close_suite(self, attributes: Attributes) -> None:
        get = attributes.get
        trouble, before = self._suites.pop()
        verdict = _WORDS.get(_outcome(attributes)[0])
        if verdict is None:
            self.tell("unknown_verdict", f"The outcome {get('result', '')[:40]!r} of a suite is not known.")
        site = get("site", "").strip().lower()
        own = site in ("setup", "teardown")
        if verdict is Verdict.FAIL and (own or self._failed() == before):
            trouble.message = trouble.message or "The suite says that it failed; no case in it did."
            trouble.type = get("label", "") or site
            self.run_error(get("fullname", "") or get("name", ""), trouble)
        self.target.end("testsuite")

    def open_test_case(self, attributes: Attributes) -> None:
        get = attributes.get
        name, fullname = get("name", "") or get("methodname", ""), get("fullname", "")
        classname = get("classname", "")
        if name and fullname.endswith(f".{name}"):
            classname = fullname.removesuffix(f".{name}")  # with the arguments of a parametrised fixture
        case = self._case = Case(name or fullname, classname, time=get("duration", "") or get("time", ""))
        word, label = _outcome(attributes)
        self.verdict_of(word, _WORDS, case)
        if case.verdict is Verdict.FAIL and label in _ERRORS:
            case.verdict = Verdict.ERROR
        self._message = self._trace = ""

    def close_test_case(self, attributes: Attributes, text: str) -> None:
        if self._case is not None:
            self.add(self._case)
        self._case = None

    def take_test_case(self, run: Run) -> bool:
        names = run.column("test-case", "name")
        word, _ = _outcome({name: value for (_, name), value in run.same.items()})
        if _WORDS.get(word) is not Verdict.PASS or "" in names:
            return False
        classes = [
            fullname[: -len(name) - 1] if fullname.endswith(f".{name}") else classname
            for name, fullname, classname in zip(
                names, run.column("test-case", "fullname"), run.column("test-case", "classname"), strict=True
            )
        ]
        durations, times = run.column("test-case", "duration"), run.column("test-case", "time")
        self._message = self._trace = ""
        self.target.add_plain(classes, names, [first or second for first, second in zip(durations, times, strict=True)])
        return True

    def close_message(self, attributes: Attributes, text: str) -> None:
        self._message = text.strip()

    def close_stack_trace(self, attributes: Attributes, text: str) -> None:
        self._trace = text

    def close_output(self, attributes: Attributes, text: str) -> None:
        if self._case is not None:
            self._case.system_out = text

    def close_failure(self, attributes: Attributes, text: str) -> None:
        trouble = self._case.trouble if self._case is not None else self._suites[-1][0]
        trouble.message, trouble.text = self._message or first_line(self._trace), self._trace
        if self._case is not None and not self._case.verdict.failing:
            self._case.verdict = Verdict.FAIL  # the worst outcome counts
        self._message = self._trace = ""

    def close_reason(self, attributes: Attributes, text: str) -> None:
        if self._case is None and self._suites and not self._suites[-1][0].message:
            self._suites[-1][0].message = self._message
        self._message = self._trace = ""

    def close_assertion(self, attributes: Attributes, text: str) -> None:
        failed = attributes.get("result", "").strip().lower() not in ("passed", "warning", "inconclusive")
        if self._case is not None and failed and not self._case.verdict.failing:
            self._case.verdict, self._case.trouble.message = Verdict.FAIL, self._message
        self._message = self._trace = ""


def _outcome(attributes: Attributes) -> tuple[str, str]:
    """The word and its label: `Failed` and `Error`, which early versions wrote as `Failed(Error)`."""
    word, _, label = attributes.get("result", "").strip().lower().partition("(")
    return word, label.rstrip(")") or attributes.get("label", "").strip().lower()
