"""The dialect of each producer, in one place: how to recognise it, and what its files mean.

A dialect answers four questions: what is a test's identity, what does the same test twice mean, which cases are
not tests at all, and is the order of the file the order of execution."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ingest.junit.stable_names import without_browser


class Repetition(Enum):
    """What it means if a file names a test more than once."""

    UNKNOWN = "nobody knows: repeated on purpose, or two tests of one name"
    RETRIED = "likely retries in order: all but the last failed"
    LOST = "likely retries in order; all but the last failed, though they look like passes"
    SKIPPED = "retries in order; all but the last failed, though they look skipped"
    ITERATED = "executions in order, where the suite that runs again has the same id"
    SORTED = "likely retries, but the file is sorted by outcome, so failures come before the pass"


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a document once its first case is complete."""

    root: str
    root_attributes: Mapping[str, str]
    suite_attributes: Mapping[str, str]
    case_attributes: Mapping[str, str]
    properties: Mapping[str, str]
    generator: str = ""
    """The producer that a comment before the root names."""


Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Headers:
    """How far the counts in a producer's headers match the content of its file."""

    exact: bool = False
    """`failures` and `errors` count different things; otherwise errors may be counted among failures."""
    counts_tests: bool = False
    """`tests` counts cases and retries, and nothing that is not in the file."""
    errors_are_messages: bool = False
    """`errors` counts logged messages."""


_EXACT = Headers(exact=True)
_EXACT_TESTS = Headers(exact=True, counts_tests=True)


@dataclass(frozen=True, slots=True)
class Dialect:
    producer: str
    recognise: Callable[[Facts], bool]
    again: Repetition = Repetition.UNKNOWN
    order_reliable: bool = False
    suite_in_key: bool = True
    host_in_key: bool = False
    """The hostname attribute distinguishes cases of the same name in one file."""
    zoneless_is_utc: bool = False
    may_fail: "re.Pattern[str]" = field(default=re.compile(r"(?!)"))
    """Matches `type<TAB>message` of a `skipped` that marks an allowed failure, which did not fail the run."""
    headers: Headers = field(default_factory=Headers)
    class_is_place: bool = False
    """The suite of a case with a class is that class or one nested with it, so it is no part of the identity."""
    names: Callable[[str, str], Names] | None = None
    """(class, name) as written -> (class, name) as meant."""
    browser_in_names: bool = False
    """Suites and classes include the browser, which is no part of the identity."""
    run_error: "re.Pattern[str]" = field(default=re.compile(r"(?!)"))
    """Matches `class<TAB>name<TAB>message` of failing cases that are not tests: builds, collections, hooks."""


def _attributes(*names: str) -> Callable[[Mapping[str, str]], bool]:
    return lambda attributes: tuple(attributes) == names


def _root_name(*names: str) -> Callable[[Facts], bool]:
    return lambda facts: facts.root_attributes.get("name", "") in names


def _is_pytest(facts: Facts) -> bool:
    return facts.suite_attributes.get("name") == "pytest" or facts.root_attributes.get("name") == "pytest tests"


def _is_go(facts: Facts) -> bool:
    return "go.version" in facts.properties


def _is_gotestsum(facts: Facts) -> bool:
    return _is_go(facts) and "id" not in facts.suite_attributes


def _is_surefire(facts: Facts) -> bool:
    return any("surefire" in value for value in facts.root_attributes.values()) or any(
        name.startswith("surefire.") for name in facts.properties
    )


_gradle_attributes = _attributes("name", "tests", "skipped", "failures", "errors", "timestamp", "hostname", "time")


def _is_gradle(facts: Facts) -> bool:
    return facts.root == "testsuite" and _gradle_attributes(facts.root_attributes)


_TESTNG_NAMES = ("hostname", "failures", "tests", "name", "time", "errors", "timestamp")
_TESTNG_TIME = re.compile(r".{0,60}[0-9] (?:[A-Z]{2,5}|(?:GMT|UTC)[+-][0-9]{1,2}:?[0-9]{2})\Z")


def _is_testng(facts: Facts) -> bool:
    """By its comment, else by its attributes; in any order if the timestamp has a zone in TestNG's own style."""
    if facts.generator.startswith("org.testng."):
        return True
    attributes = facts.suite_attributes
    if facts.root == "testsuite" and tuple(attributes) == _TESTNG_NAMES:
        return True
    names = attributes.keys() - {"skipped", "ignored"}
    return names == set(_TESTNG_NAMES) and _TESTNG_TIME.match(attributes["timestamp"]) is not None


_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


def _is_newman(facts: Facts) -> bool:
    """A collection of requests, each a suite with the request's id."""
    suite = facts.suite_attributes
    return facts.root_attributes.keys() == {"name", "tests", "time"} and _UUID.match(suite.get("id", "")) is not None


def _names_browser(facts: Facts) -> bool:
    """Karma, Testem and WebdriverIO: by the suite's name or the class of the first case."""
    names = (facts.suite_attributes.get("name", ""), facts.case_attributes.get("classname", ""))
    return any(name and without_browser(name) != name for name in names)


_playwright_root = _attributes("id", "name", "tests", "failures", "skipped", "errors", "time")


def _is_playwright(facts: Facts) -> bool:
    return _playwright_root(facts.root_attributes) and "timestamp" in facts.suite_attributes


def _is_node(facts: Facts) -> bool:
    case = facts.case_attributes
    return tuple(case)[:3] == ("name", "time", "classname") and case["classname"] in ("test", "suite")


def _is_catch2(facts: Facts) -> bool:
    return facts.suite_attributes.get("hostname") == "tbd" and facts.case_attributes.get("status") == "run"


def _is_ctest(facts: Facts) -> bool:
    case = facts.case_attributes
    return tuple(case) == ("name", "classname", "time", "status") and case["name"] == case["classname"]


def _is_googletest(facts: Facts) -> bool:
    named = facts.root_attributes.get("name") == "AllTests"
    return named or ({"status", "result"} <= facts.case_attributes.keys() and "disabled" in facts.root_attributes)


def _is_qtest(facts: Facts) -> bool:
    return "QTestVersion" in facts.properties


def _is_bazel(facts: Facts) -> bool:
    case = facts.case_attributes
    return "duration" in case and "status" in case and "classname" not in case


def _is_phpunit(facts: Facts) -> bool:
    return "assertions" in facts.case_attributes and {"class", "classname"} <= facts.case_attributes.keys()


def _is_unittest_xml(facts: Facts) -> bool:
    return bool(re.search(r"-[0-9]{14}\Z", facts.suite_attributes.get("name", "")))


def _mocha_names(classname: str, name: str) -> Names:
    """mocha-junit-reporter writes the title as class and the full title as name: `Suite title`, `title`."""
    if classname and name != classname and name.endswith(classname):
        return name.removesuffix(classname).strip(), classname
    return classname, name


_HOOK = r'.{0,1000}"(?:before|after) (?:all|each)" hook'
_UNITTEST = (
    r"(?:unittest\.loader\._FailedTest|nose2\.loader\.\w{1,40}|nose\.failure\.Failure)\t"
    r"|(?:[^\t]*\t)?(?:setUp|tearDown)(?:Class|Module) \("
)
_JVM = r"[^\t]*\t(?:initializationError|executionError|classMethod)(?:\[.{0,40}\])?\t|junit\.framework\.TestSuite\t"
# Surefire reports a class that failed as a whole as a test of its own; a method's name has no dots.
_JVM_RUN_ERROR = re.compile(rf"{_JVM}|(?P<name>[^\t]+\.[^\t]+)\t(?P=name)\t|[^\t]+\t\t")
# A test file that could not be loaded is a case with the file's name.
_SCRIPT = re.compile(r"[^\t]*\t[^\t\s]+[.-](?:test|spec|tests)\.[cm]?[jt]sx?\t")

DIALECTS = (
    Dialect(
        "pytest",
        _is_pytest,
        again=Repetition.LOST,
        order_reliable=True,
        suite_in_key=False,
        headers=_EXACT,  # `tests` counts subtests, of which those that passed are not in the file
        run_error=re.compile(r"[^\t]*\t[^\t]*\tcollection failure|pytest\tinternal\t"),
    ),
    Dialect(
        "gotestsum",
        _is_gotestsum,
        again=Repetition.SORTED,
        headers=_EXACT_TESTS,
        run_error=re.compile(r"[^\t]*\tTestMain\t"),
    ),
    Dialect(
        "go-junit-report",
        _is_go,
        headers=_EXACT_TESTS,
        run_error=re.compile(r"[^\t]*\t(?:\[(?:build|setup) failed\]|Failure|TestMain)\t"),
    ),
    Dialect(
        "surefire",
        _is_surefire,
        again=Repetition.RETRIED,
        headers=_EXACT_TESTS,
        class_is_place=True,
        run_error=_JVM_RUN_ERROR,
    ),
    Dialect(
        "gradle",
        _is_gradle,
        again=Repetition.RETRIED,
        headers=_EXACT_TESTS,
        class_is_place=True,
        run_error=_JVM_RUN_ERROR,
    ),
    Dialect("testng", _is_testng, again=Repetition.SKIPPED, headers=_EXACT_TESTS, run_error=_JVM_RUN_ERROR),
    Dialect("nextest", _root_name("nextest-run"), again=Repetition.RETRIED, headers=_EXACT_TESTS),
    Dialect(
        "jest-junit",
        _root_name("jest tests"),
        zoneless_is_utc=True,
        headers=_EXACT_TESTS,
        run_error=re.compile(r".*Test suite failed to run"),
    ),
    Dialect(
        "mocha",
        lambda facts: facts.root_attributes.get("name", "").startswith("Mocha Tests"),
        order_reliable=True,
        names=_mocha_names,
        headers=_EXACT,  # `tests` counts skipped ones, which are not in the file
        run_error=re.compile(_HOOK),
    ),
    Dialect("vitest", _root_name("vitest tests"), headers=_EXACT_TESTS, run_error=_SCRIPT),
    Dialect("newman", _is_newman, again=Repetition.ITERATED, headers=_EXACT),
    Dialect("playwright", _is_playwright, again=Repetition.RETRIED, host_in_key=True, headers=_EXACT_TESTS),
    Dialect(
        "node:test",
        _is_node,
        names=lambda _, name: ("", name),
        may_fail=re.compile(r"todo\t"),
        headers=_EXACT_TESTS,
        run_error=_SCRIPT,
    ),
    Dialect("catch2", _is_catch2, may_fail=re.compile(r"[^\t]*\tTEST_CASE tagged with !"), headers=_EXACT),
    Dialect("googletest", _is_googletest, headers=_EXACT_TESTS),
    Dialect("ctest", _is_ctest, suite_in_key=False, headers=_EXACT_TESTS),
    Dialect("qtest", _is_qtest, headers=Headers(errors_are_messages=True)),
    Dialect("bazel", _is_bazel, again=Repetition.RETRIED),
    Dialect("phpunit", _is_phpunit, order_reliable=True, suite_in_key=False, headers=_EXACT),
    Dialect(
        "unittest-xml-reporting",
        _is_unittest_xml,
        headers=_EXACT_TESTS,
        run_error=re.compile(_UNITTEST),
    ),
)

_UNKNOWN_RUN_ERROR = re.compile(
    rf"{_HOOK}|{_UNITTEST}|{_JVM}|[^\t]*\t\[(?:build|setup) failed\]"
    r"|[^\t]*\t(?:Number of runned tests does not match plan|Test died too soon)"
)
BROWSER = Dialect("browser", _names_browser, browser_in_names=True, run_error=_UNKNOWN_RUN_ERROR)
"""Karma, Testem, WebdriverIO: runners that name the browser in suites or classes."""

UNKNOWN = Dialect(
    "unknown",
    lambda facts: True,
    run_error=_UNKNOWN_RUN_ERROR,
)


def recognise(facts: Facts) -> Dialect:
    return next((dialect for dialect in (*DIALECTS, BROWSER) if dialect.recognise(facts)), UNKNOWN)
