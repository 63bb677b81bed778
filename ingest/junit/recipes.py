"""What each producer does differently, in one place: how it is recognised, and what its files mean.

A recipe answers four questions: what is a test's identity, what does the same test twice mean, which cases are
not tests at all, and is the order of the file the order of execution."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum


class Again(Enum):
    """What it means that one file names one test more than once."""

    UNKNOWN = "nobody knows: repeated on purpose, or two tests of one name"
    RETRIED = "retries in order: all but the last failed"
    LOST = "retries in order; all but the last failed, though they look like passes"
    SKIPPED = "retries in order; all but the last failed, though they look skipped"
    SORTED = "retries, but the file is sorted by outcome, so failures come before the pass"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a document when its first case is complete."""

    root: str
    root_attributes: Mapping[str, str]
    suite_attributes: Mapping[str, str]
    case_attributes: Mapping[str, str]
    properties: Mapping[str, str]


Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Recipe:
    producer: str
    recognise: Callable[[Facts], bool]
    again: Again = Again.UNKNOWN
    order_reliable: bool = False
    suite_in_key: bool = True
    host_in_key: bool = False
    """The hostname attribute is a variant that tells same-named cases of one file apart."""
    zoneless_is_utc: bool = False
    skip_wins: bool = False
    """A case with `skipped` and `failure` was allowed to fail: it did not make the run fail."""
    names: Callable[[str, str], Names] | None = None
    """(class, name) as written -> (class, name) as meant."""
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


_testng_attributes = _attributes("hostname", "failures", "tests", "name", "time", "errors", "timestamp")


def _is_testng(facts: Facts) -> bool:
    return facts.root == "testsuite" and _testng_attributes(facts.root_attributes)


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
# Surefire names a class that failed as a whole as its own test; a method's name has no dots.
_JVM_RUN_ERROR = re.compile(rf"{_JVM}|(?P<name>[^\t]+\.[^\t]+)\t(?P=name)\t|[^\t]+\t\t")
# A test file that could not be loaded is a case of the file's name.
_SCRIPT = re.compile(r"[^\t]*\t[^\t\s]+[.-](?:test|spec|tests)\.[cm]?[jt]sx?\t")

RECIPES = (
    Recipe(
        "pytest",
        _is_pytest,
        again=Again.LOST,
        order_reliable=True,
        suite_in_key=False,
        run_error=re.compile(r"[^\t]*\t[^\t]*\tcollection failure|pytest\tinternal\t"),
    ),
    Recipe("gotestsum", _is_gotestsum, again=Again.SORTED, run_error=re.compile(r"[^\t]*\tTestMain\t")),
    Recipe(
        "go-junit-report",
        _is_go,
        run_error=re.compile(r"[^\t]*\t(?:\[(?:build|setup) failed\]|Failure|TestMain)\t"),
    ),
    Recipe("surefire", _is_surefire, again=Again.RETRIED, run_error=_JVM_RUN_ERROR),
    Recipe("gradle", _is_gradle, again=Again.RETRIED, run_error=_JVM_RUN_ERROR),
    Recipe("testng", _is_testng, again=Again.SKIPPED, run_error=_JVM_RUN_ERROR),
    Recipe("nextest", _root_name("nextest-run"), again=Again.RETRIED),
    Recipe(
        "jest-junit",
        _root_name("jest tests"),
        zoneless_is_utc=True,
        run_error=re.compile(r".*Test suite failed to run"),
    ),
    Recipe(
        "mocha",
        lambda facts: facts.root_attributes.get("name", "").startswith("Mocha Tests"),
        order_reliable=True,
        names=_mocha_names,
        run_error=re.compile(_HOOK),
    ),
    Recipe("vitest", _root_name("vitest tests"), run_error=_SCRIPT),
    Recipe("playwright", _is_playwright, again=Again.RETRIED, host_in_key=True),
    Recipe("node:test", _is_node, names=lambda _, name: ("", name), skip_wins=True, run_error=_SCRIPT),
    Recipe("catch2", _is_catch2, skip_wins=True),
    Recipe("googletest", _is_googletest, again=Again.UNKNOWN),
    Recipe("ctest", _is_ctest, suite_in_key=False),
    Recipe("bazel", _is_bazel, again=Again.RETRIED),
    Recipe("phpunit", _is_phpunit, order_reliable=True, suite_in_key=False),
    Recipe(
        "unittest-xml-reporting",
        _is_unittest_xml,
        run_error=re.compile(_UNITTEST),
    ),
)

UNKNOWN = Recipe(
    "unknown",
    lambda facts: True,
    run_error=re.compile(
        rf"{_HOOK}|{_UNITTEST}|{_JVM}|[^\t]*\t\[(?:build|setup) failed\]"
        r"|[^\t]*\t(?:Number of runned tests does not match plan|Test died too soon)"
    ),
)


def recognise(facts: Facts) -> Recipe:
    return next((recipe for recipe in RECIPES if recipe.recognise(facts)), UNKNOWN)
