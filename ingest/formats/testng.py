"""testng-results.xml: methods by class, including configuration methods, parameters, and retries that look skipped."""

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from ingest.formats.cases import Case, Trouble, first_line
from ingest.formats.templates import Run
from ingest.formats.xml import XmlFormat
from ingest.junit.dialects import Dialect, Headers, Repetition
from ingest.junit.elements import Attributes
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.junit.problems import over_limit
from ingest.junit.stable_names import stable_name
from ingest.junit.times import read_duration
from ingest.verdict import Verdict

_WORDS = {
    "pass": Verdict.PASS,
    "fail": Verdict.FAIL,
    **dict.fromkeys(("skip", "success_percentage_failure"), Verdict.SKIP),
}
_LONGEST_PARAMETER = 1_000


@dataclass(slots=True)
class _Method:
    case: Case
    retried: bool
    config: bool
    started_at: str


class TestNG(XmlFormat):
    dialect = Dialect("testng", lambda facts: False, again=Repetition.SKIPPED, headers=Headers(counts_tests=False))
    results = frozenset({"suite", "test", "class", "test-method", "exception"})
    texts = frozenset({"value", "message", "full-stacktrace", "short-stacktrace"})
    children: ClassVar[dict[str, frozenset[str]]] = {
        "": frozenset({"testng-results"}),
        "testng-results": frozenset({"reporter-output", "suite"}),
        "suite": frozenset({"groups", "test", "suite", "reporter-output"}),
        "test": frozenset({"class"}),
        "class": frozenset({"test-method"}),
        "test-method": frozenset({"params", "exception", "reporter-output", "attributes", "group", "groups"}),
        "params": frozenset({"param"}),
        "param": frozenset({"value"}),
        "value": frozenset(),
        "exception": frozenset({"message", "full-stacktrace", "short-stacktrace"}),
        **dict.fromkeys(("message", "full-stacktrace", "short-stacktrace"), frozenset[str]()),
    }
    runs: ClassVar[dict[str, frozenset[str]]] = dict.fromkeys(
        ("class", "test-method"), frozenset({"status", "retried", "is-config"})
    )
    taken = frozenset({"class", "test-method"})

    def __init__(self, limits: Limits, share: Share) -> None:
        super().__init__(limits, share)
        self._suite = self._classname = ""
        self._methods: list[_Method] = []
        self._method: _Method | None = None
        self._parameters: list[str] = []
        self._trouble: Trouble | None = None
        """How the open method failed, once something tells of it."""

    # the root is JUnit's root too, so that its counts are compared with what was read
    def open_testng_results(self, attributes: Attributes) -> None:
        failed = attributes.get("failed", "").strip()
        self.target.start("testsuites", {"failures": failed} if failed else {})

    def close_testng_results(self, attributes: Attributes, text: str) -> None:
        self.target.end("testsuites")

    def open_suite(self, attributes: Attributes) -> None:
        self._suite = attributes.get("name", "")

    def open_test(self, attributes: Attributes) -> None:
        get = attributes.get
        name = f"{self._suite}/{get('name', '')}"
        self.target.start("testsuite", {"name": name, "timestamp": get("started-at", "")})

    def close_test(self, attributes: Attributes, text: str) -> None:
        self.target.end("testsuite")

    def open_class(self, attributes: Attributes) -> None:
        self._classname = attributes.get("name", "")
        self._methods = []

    def open_test_method(self, attributes: Attributes) -> None:
        get = attributes.get
        if len(self._methods) >= self.limits.cases:
            raise over_limit("cases", self.limits.cases, "The file has too many test cases")
        case = Case(get("name", "") or get("signature", "").partition("(")[0], self._classname)
        case.time = _seconds(get("duration-ms", ""))
        self.verdict_of(get("status", ""), _WORDS, case)
        self._method = _Method(
            case, _is_true(get("retried", "")), _is_true(get("is-config", "")), get("started-at", "")
        )
        self._parameters, self._trouble = [], None

    def close_test_method(self, attributes: Attributes, text: str) -> None:
        method = self._method
        if method is None:
            return
        if method.case.verdict is not Verdict.ERROR and (method.retried or method.case.verdict is not Verdict.PASS):
            method.case.trouble = self._failure()
            method.case.trouble.seconds = read_duration(method.case.time)
        self._method = None
        if not method.config:
            if self._parameters:
                method.case.name += f"[{', '.join(self._parameters)}]"
            self._methods.append(method)
        elif method.case.verdict.failing:
            self.run_error(f"{self._classname}: {method.case.name}", method.case.trouble)

    def take_class(self, run: Run) -> bool:
        """Take classes with one method each."""
        if not _has_plain_methods(run):
            return False
        self.target.add_plain(run.column("class", "name"), run.column("test-method", "name"), _all_seconds(run))
        return True

    def take_test_method(self, run: Run) -> bool:
        if not _has_plain_methods(run) or len(self._methods) + run.count > self.limits.cases:
            return False
        columns = (run.column("test-method", "name"), _all_seconds(run), run.column("test-method", "started-at"))
        self._methods += [
            _Method(Case(name, self._classname, time=seconds), retried=False, config=False, started_at=started_at)
            for name, seconds, started_at in zip(*columns, strict=True)
        ]
        return True

    def close_value(self, attributes: Attributes, text: str) -> None:
        self._parameters.append(text.strip()[:_LONGEST_PARAMETER])

    def _failure(self) -> Trouble:
        if self._trouble is None:
            self._trouble = Trouble()
        return self._trouble

    def open_exception(self, attributes: Attributes) -> None:
        self._failure().type = attributes.get("class", "")

    def close_message(self, attributes: Attributes, text: str) -> None:
        self._failure().message = text.strip()

    def close_full_stacktrace(self, attributes: Attributes, text: str) -> None:
        trouble = self._failure()
        trouble.text = text.strip()
        trouble.message = trouble.message or first_line(text)

    def close_short_stacktrace(self, attributes: Attributes, text: str) -> None:
        trouble = self._failure()
        trouble.text = trouble.text or text.strip()

    def close_class(self, attributes: Attributes, text: str) -> None:
        self.finish()

    def finish(self) -> None:
        """Hand over the cases of a class grouped by name: a data provider creates new objects for a retry."""
        by_name: dict[str, list[_Method]] = defaultdict(list)
        for method in self._methods:
            by_name[stable_name(method.case.name)].append(method)
        for methods in by_name.values():
            if len(methods) == 1 and not methods[0].retried:
                self.add(methods[0].case)
            else:
                self._hand_over(methods)
        self._methods = []

    def _hand_over(self, methods: list[_Method]) -> None:
        """Merge results marked as retried into the only one that is not."""
        retried = [method for method in methods if method.retried] or _skipped_before(methods)
        finals = [method for method in methods if method not in retried]
        if retried and len(finals) == 1:
            finals[0].case.before = [method.case.trouble for method in retried]
            self.add(finals[0].case)
            return
        for method in methods:
            if method.retried:  # its rerun cannot be identified
                self.tell("retry_unclear", f"{method.case.name[:80]!r} was retried, but its last run is unclear.")
                method.case.verdict = Verdict.FAIL
            self.add(method.case)


def _skipped_before(methods: list[_Method]) -> list[_Method]:
    """Retries as written before TestNG 7: skipped with the failure's exception in the same second or earlier, and one
    result of the same name that is not skipped."""
    ran = [method for method in methods if method.case.verdict is not Verdict.SKIP]
    if len(ran) != 1:
        return []
    skipped = [method for method in methods if method.case.verdict is Verdict.SKIP]
    are_retries = all(method.case.trouble.type and method.started_at <= ran[0].started_at for method in skipped)
    return skipped if are_retries else []


def _has_plain_methods(run: Run) -> bool:
    """Whether its methods passed, are tests, were not retried and have names."""
    flags = (run.same.get(("test-method", name), "") for name in ("retried", "is-config"))
    return (
        run.passes("test-method", "status", _WORDS)
        and not any(map(_is_true, flags))
        and "" not in run.column("test-method", "name")
    )


def _all_seconds(run: Run) -> list[str]:
    durations = run.column("test-method", "duration-ms")
    seconds = {written: _seconds(written) for written in set(durations)}
    return [seconds[written] for written in durations]


def _is_true(written: str) -> bool:
    return bool(written) and written.strip().lower() == "true"


def _seconds(milliseconds: str) -> str:
    value = read_duration(milliseconds)
    return "" if value is None else repr(value / 1_000)
