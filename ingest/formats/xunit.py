"""xUnit.net's results, versions 1 to 3."""

from typing import ClassVar

from ingest.formats.cases import Case, Trouble, first_line
from ingest.formats.templates import Run
from ingest.formats.xml import XmlFormat
from ingest.junit.dialects import Dialect, Headers
from ingest.junit.elements import Attributes
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.junit.suites import number
from ingest.verdict import Verdict

_WORDS = {
    "pass": Verdict.PASS,
    "fail": Verdict.FAIL,
    **dict.fromkeys(("skip", "notrun"), Verdict.SKIP),
}


class XUnit(XmlFormat):
    dialect = Dialect("xunit.net", lambda facts: False, suite_in_key=False, headers=Headers(counts_tests=True))
    results = frozenset({"assembly", "collection", "class", "test", "failure", "error"})
    texts = frozenset({"message", "stack-trace", "output"})
    children: ClassVar[dict[str, frozenset[str]]] = {
        "": frozenset({"assemblies", "assembly"}),
        "assemblies": frozenset({"assembly"}),
        "assembly": frozenset({"errors", "collection", "class"}),
        "errors": frozenset({"error"}),
        "error": frozenset({"failure", "output"}),
        "collection": frozenset({"test", "failure"}),
        "class": frozenset({"test", "failure"}),
        "test": frozenset({"failure", "reason", "traits", "output", "warnings", "attachments", "start", "stop"}),
        "failure": frozenset({"message", "stack-trace"}),
        **dict.fromkeys(("message", "stack-trace", "output"), frozenset[str]()),
    }
    runs: ClassVar[dict[str, frozenset[str]]] = {"test": frozenset({"result"})}
    taken = frozenset({"test"})

    def __init__(self, limits: Limits, share: Share) -> None:
        super().__init__(limits, share)
        self._case: Case | None = None
        self._where = ""
        self._trouble = Trouble()
        self._seen = 0
        """Run errors that the open assembly lists."""

    def open_assembly(self, attributes: Attributes) -> None:
        get = attributes.get
        stamp = get("start-rtf", "") or f"{get('run-date', '')}T{get('run-time', '')}".strip("T")
        self._where = get("name", "")
        self._seen = 0
        self.target.start("testsuite", {"name": self._where, "timestamp": stamp, **_counts(attributes)})

    def close_assembly(self, attributes: Attributes, text: str) -> None:
        errors = number(attributes.get("errors", "0") or "0")
        if errors is None:
            self.tell("header_unreadable", f"The count errors={attributes.get('errors', '')[:40]!r} is not a number.")
        elif errors > self._seen:
            trouble = Trouble(f"The assembly counts {errors:,} errors outside its tests but lists {self._seen:,}.")
            self.run_error(attributes.get("name", ""), trouble)
        self.target.end("testsuite")

    def open_collection(self, attributes: Attributes) -> None:
        self.target.start("testsuite", {"name": attributes.get("name", ""), **_counts(attributes)})

    def close_collection(self, attributes: Attributes, text: str) -> None:
        self.target.end("testsuite")

    open_class, close_class = open_collection, close_collection

    def open_test(self, attributes: Attributes) -> None:
        get = attributes.get
        classname = get("type", "")
        name = get("name", "").removeprefix(f"{classname}.") if classname else get("name", "")
        case = self._case = Case(name or get("method", ""), classname, time=get("time", ""))
        case.file, case.line = get("source-file", ""), get("source-line", "")
        self.verdict_of(get("result", ""), _WORDS, case)

    def close_test(self, attributes: Attributes, text: str) -> None:
        if self._case is not None:
            self.add(self._case)
        self._case = None

    def take_test(self, run: Run) -> bool:
        if run.has("test", "source-file") or run.has("test", "source-line") or not run.passes("test", "result", _WORDS):
            return False
        classes, names = run.column("test", "type"), run.column("test", "name")
        names = [
            name.removeprefix(f"{classname}.") if classname else name
            for classname, name in zip(classes, names, strict=True)
        ]
        if "" in names:
            return False
        self.target.add_plain(classes, names, run.column("test", "time"))
        return True

    def close_output(self, attributes: Attributes, text: str) -> None:
        if self._case is not None:
            self._case.system_out = text

    def close_message(self, attributes: Attributes, text: str) -> None:
        self._trouble.message = text.strip()

    def close_stack_trace(self, attributes: Attributes, text: str) -> None:
        self._trouble.text = text

    def close_failure(self, attributes: Attributes, text: str) -> None:
        trouble, self._trouble = self._trouble, Trouble()
        trouble.type = attributes.get("exception-type", "")
        trouble.message = trouble.message or first_line(trouble.text)
        if self._case is None:
            self._error = trouble
            if self._open[-1][0] != "error":  # of a class whose fixture failed
                self.run_error(self._open[-1][1].get("name", ""), trouble)
            return
        self._case.trouble = trouble
        if not self._case.verdict.failing:
            self._case.verdict = Verdict.FAIL

    _error = Trouble()

    def close_error(self, attributes: Attributes, text: str) -> None:
        self._seen += 1
        where = " ".join(filter(None, (attributes.get("type", ""), attributes.get("name", "")))) or self._where
        self.run_error(where, self._error)
        self._error = Trouble()


def _counts(attributes: Attributes) -> dict[str, str]:
    """The header's counts under JUnit's names."""
    names = (("tests", "total"), ("failures", "failed"))
    return {name: value for name, key in names if (value := attributes.get(key, "").strip())}
