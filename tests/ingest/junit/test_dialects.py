"""How each producer is recognised, and what its files mean: one small document of each, all asked the same questions."""

from dataclasses import dataclass

import pytest

from ingest.junit.report import Case, Provenance
from tests.ingest.junit.reading import read, upload

NOTHING = "    "
"""What repeating a name says of a producer that is not known to retry."""
RETRIED, LOST, SKIPPED, SORTED = "D   ", "DDD ", "   D", "DD  "


@dataclass(frozen=True)
class Dialect:
    document: str
    """With {head} for the counts of its header, and {cases}."""
    case: str = 'name="{name}" classname="c.K" time="0"'
    again: str = NOTHING
    """D where these are taken for retries: fail and pass, pass and fail, pass and pass, skip and pass."""
    key: str = "s"
    """The suite's part in the identity of a test that names its class."""
    ordered: bool = False
    exact: bool = True
    """A header with a failure and an error must find two in the file."""
    counts_tests: bool = True


def _of(root: str = "", suite: str = 'name="s"', inside: str = "") -> str:
    return f"<testsuites {root}><testsuite {suite} {{head}}>{inside}{{cases}}</testsuite></testsuites>"


def _alone(attributes: str) -> str:
    return f"<testsuite {attributes}>{{cases}}</testsuite>"


_GO = '<properties><property name="go.version" value="go1.22"/></properties>'
_SUREFIRE = '<properties><property name="surefire.test.class.path" value="x"/></properties>'
_QTEST = '<properties><property name="QTestVersion" value="6"/></properties>'
DIALECTS = {
    "pytest": Dialect(_of("", 'name="pytest"'), again=LOST, key="", ordered=True, counts_tests=False),
    "gotestsum": Dialect(_of(inside=_GO), again=SORTED),
    "go-junit-report": Dialect(_of(suite='name="s" id="0"', inside=_GO)),
    "surefire": Dialect(_of(inside=_SUREFIRE), again=RETRIED),
    "gradle": Dialect(
        _alone(
            'name="s" {tests} skipped="0" {failures} {errors} timestamp="2026-01-01T00:00:00" hostname="h" time="1"'
        ),
        again=RETRIED,
    ),
    "testng": Dialect(
        _alone('hostname="h" {failures} {tests} name="s" time="0" {errors} timestamp="1 Jan 2026 00:00:00 GMT"'),
        again=SKIPPED,
    ),
    "nextest": Dialect(_of('name="nextest-run"'), again=RETRIED),
    "jest-junit": Dialect(_of('name="jest tests"')),
    "mocha": Dialect(_of('name="Mocha Tests"'), ordered=True, counts_tests=False),
    "vitest": Dialect(_of('name="vitest tests" ')),
    "playwright": Dialect(
        _of(
            'id="" name="" tests="0" failures="0" skipped="0" errors="0" time="1"',
            'name="s" timestamp="2026-01-01T00:00:00Z" hostname="chromium"',
        ),
        again=RETRIED,
        key="chromium:s",
    ),
    "node:test": Dialect(_of(), 'name="{name}" time="0" classname="test"'),
    "catch2": Dialect(
        _of("", 'name="s" hostname="tbd"'), 'classname="c.K" name="{name}" time="0" status="run"', counts_tests=False
    ),
    "googletest": Dialect(_of('name="AllTests"')),
    "ctest": Dialect(_of(), 'name="{name}" classname="{name}" time="0" status="run"', key=""),
    "qtest": Dialect(_of(inside=_QTEST), exact=False, counts_tests=False),
    "bazel": Dialect(
        _of(), 'name="{name}" status="run" duration="0" time="0"', again=RETRIED, exact=False, counts_tests=False
    ),
    "phpunit": Dialect(
        _of(),
        'name="{name}" class="c.K" classname="c.K" assertions="1" time="0"',
        key="",
        ordered=True,
        counts_tests=False,
    ),
    "unittest-xml-reporting": Dialect(_of("", 'name="s-20260101000000"'), key="s"),
    "unknown": Dialect(_of(), exact=False, counts_tests=False),
}
each = pytest.mark.parametrize("producer", DIALECTS)


def document(dialect: Dialect, *cases: str, tests: int = 0, failures: int = 0, errors: int = 0) -> str:
    counts = {"tests": f'tests="{tests}"', "failures": f'failures="{failures}"', "errors": f'errors="{errors}"'}
    return dialect.document.format(head=" ".join(counts.values()), cases="".join(cases), **counts)


def case(dialect: Dialect, inside: str = "", name: str = "t") -> str:
    return f"<testcase {dialect.case.format(name=name)}>{inside}</testcase>"


def first(text: str) -> Case:
    return next(read(text).cases())


def codes(text: str) -> set[str]:
    return {unclear["code"] for unclear in upload(text.encode()).files[0]["not_understood"]}


@each
def test_a_producer_is_recognised(producer: str) -> None:
    assert read(document(DIALECTS[producer], case(DIALECTS[producer]))).producer == producer


@each
def test_a_name_again_is_a_retry_where_the_producer_is_known_to_write_it_so(producer: str) -> None:
    dialect = DIALECTS[producer]
    endings = {"f": "<failure/>", "p": "", "s": "<skipped/>"}
    for pair, expected in zip(("fp", "pf", "pp", "sp"), dialect.again, strict=True):
        found = first(document(dialect, *(case(dialect, endings[ending]) for ending in pair)))
        provenance = Provenance.DUPLICATE if expected == "D" else Provenance.AMBIGUOUS
        assert {attempt.provenance for attempt in found.attempts} == {provenance}, pair


@each
def test_the_suite_is_part_of_the_identity_unless_the_producer_names_it_at_will(producer: str) -> None:
    dialect = DIALECTS[producer]
    found = first(document(dialect, case(dialect)))
    alone = "c.K" not in dialect.case
    assert found.key[:3] == (dialect.key, "" if alone else "c.K", "t")


@each
def test_the_order_of_the_file_is_believed_of_producers_that_write_as_they_run(producer: str) -> None:
    dialect = DIALECTS[producer]
    assert read(document(dialect, case(dialect), case(dialect, name="u"))).order_reliable == dialect.ordered


@each
def test_a_header_is_compared_as_far_as_the_producer_counts_well(producer: str) -> None:
    dialect = DIALECTS[producer]
    error = case(dialect, "<error message='no'/>")
    assert codes(document(dialect, error, tests=1, errors=1)) == set()
    among = codes(document(dialect, error, tests=1, failures=1, errors=1))
    assert among == ({"header_surplus"} if dialect.exact else set())
    more = codes(document(dialect, error, tests=2, errors=1))
    assert more == ({"header_tests"} if dialect.counts_tests else set())


def test_qtest_counts_messages_as_errors_and_others_do_not() -> None:
    for producer, expected in (("qtest", set()), ("unknown", {"header_surplus"})):
        dialect = DIALECTS[producer]
        assert codes(document(dialect, case(dialect), tests=1, errors=2)) == expected


VARIANTS = {
    "pytest by its root": ("pytest", _of('name="pytest tests"'), ""),
    "a suite that only mentions pytest": ("unknown", _of("", 'name="pytest suite"'), ""),
    "surefire by its schema": ("surefire", _of('x="https://maven.apache.org/surefire/a.xsd" y="b"'), ""),
    "a property that only mentions surefire": (
        "unknown", _of(inside=_SUREFIRE.replace("surefire.", "no.surefire.")), "",
    ),
    "gradle's attributes inside a root": (
        "unknown",
        "<testsuites><testsuite "
        'name="s" tests="1" skipped="0" failures="0" errors="0" timestamp="x" hostname="h" time="1">{cases}</testsuite></testsuites>',
        "",
    ),
    "gradle's attributes in another order": (
        "unknown", _alone('tests="1" name="s" skipped="0" failures="0" errors="0" timestamp="x" hostname="h" time="1"'), "",
    ),
    "gradle's attributes and more": (
        "unknown", _alone('name="s" tests="1" skipped="0" failures="0" errors="0" timestamp="x" hostname="h" time="1" x="1"'), "",
    ),
    "testng's attributes in another order, and a zone": (
        "testng", _alone('name="s" ignored="0" hostname="h" skipped="1" failures="0" tests="1" time="0" errors="0" timestamp="2026-01-02T03:04:05 CET"'), "",
    ),
    "testng's attributes in another order, and no zone": (
        "unknown", _alone('name="s" hostname="h" failures="0" tests="1" time="0" errors="0" timestamp="x"'), "",
    ),
    "a zone, and an attribute that testng does not write": (
        "unknown", _alone('name="s" hostname="h" failures="0" tests="1" time="0" errors="0" timestamp="2026-01-02T03:04:05 CET" x="1"'), "",
    ),
    "testng's attributes and a zone, of another root": (
        "unknown",
        '<testsuites hostname="h" failures="0" tests="1" name="s" time="0" errors="0" timestamp="2026-01-02T03:04:05 CET"><testsuite>{cases}</testsuite></testsuites>',
        "",
    ),
    "playwright's root without times of its suites": (
        "unknown", _of('id="" name="" tests="0" failures="0" skipped="0" errors="0" time="1"'), "",
    ),
    "times of suites below another root": ("unknown", _of('id=""', 'name="s" timestamp="x"'), ""),
    "node's suites": ("node:test", _of(), 'name="t" time="0" classname="suite"'),
    "node's tests that say more": ("node:test", _of(), 'name="t" time="0" classname="test" file="a.js"'),
    "node's attributes and a class": ("unknown", _of(), 'name="t" time="0" classname="tests"'),
    "node's class and other attributes": ("unknown", _of(), 'name="t" classname="test" time="0"'),
    "catch2's host and no status": ("unknown", _of("", 'name="s" hostname="tbd"'), ""),
    "catch2's status on another host": ("unknown", _of("", 'name="s" hostname="h"'), 'name="t" status="run"'),
    "ctest's attributes and a class": ("unknown", _of(), 'name="t" classname="c" time="0" status="run"'),
    "ctest's class and other attributes": ("unknown", _of(), 'name="t" classname="t" status="run" time="0"'),
    "googletest under another name": ("googletest", _of('name="x" disabled="0"'), 'name="t" status="run" result="completed"'),
    "googletest's cases and a plain root": ("unknown", _of(), 'name="t" status="run" result="completed" classname="c"'),
    "googletest's root and plain cases": ("unknown", _of('disabled="0"'), 'name="t" status="run" classname="c"'),
    "googletest's root and cases with a result alone": ("unknown", _of('disabled="0"'), 'name="t" result="completed"'),
    "bazel's attributes and a class": ("unknown", _of(), 'name="t" status="run" duration="0" classname="c"'),
    "a duration alone": ("unknown", _of(), 'name="t" duration="0"'),
    "a status alone": ("unknown", _of(), 'name="t" status="run"'),
    "phpunit's count and one name of the class": ("unknown", _of(), 'name="t" assertions="1" classname="c"'),
    "phpunit's count and the other name of the class": ("unknown", _of(), 'name="t" assertions="1" class="c"'),
    "phpunit's names of the class and no count": ("unknown", _of(), 'name="t" class="c" classname="c"'),
    "a suite that ends with a shorter number": ("unknown", _of("", 'name="s-2026010100000"'), ""),
    "a root that only begins as jest's": ("unknown", _of('name="jest tests of mine"'), ""),
    "a root that begins as mocha's": ("mocha", _of('name="Mocha Tests: shop"'), ""),
}  # fmt: skip


@pytest.mark.parametrize(("producer", "text", "attributes"), VARIANTS.values(), ids=VARIANTS)
def test_a_producer_is_recognised_by_no_less_than_it_takes(producer: str, text: str, attributes: str) -> None:
    plain = 'name="t" classname="c"'
    assert read(text.format(head="", cases=f"<testcase {attributes or plain}/>")).producer == producer


BESIDES = {
    "pytest": ('classname="" name="tests.test_a"', "collection failure"),
    "gotestsum": ('classname="p" name="TestMain"', "Failed"),
    "go-junit-report": ('classname="p" name="[build failed]"', "Failed"),
    "surefire": ('classname="a.X" name="initializationError"', "no"),
    "gradle": ('classname="a.X" name="executionError"', "no"),
    "testng": ('classname="a.X" name="a.X"', "no"),
    "jest-junit": ('classname="a" name="Test suite failed to run"', "no"),
    "mocha": ('classname="c" name="c &quot;before all&quot; hook"', "no"),
    "vitest": ('classname="c" name="a.test.ts"', "no"),
    "node:test": ('name="a-test.mjs" time="0" classname="test"', "no"),
    "unittest-xml-reporting": ('classname="unittest.loader._FailedTest" name="a"', "no"),
    "unknown": ('classname="" name="setUpClass (a.B)"', "no"),
}


@pytest.mark.parametrize("producer", BESIDES)
def test_what_failed_besides_tests_is_no_test(producer: str) -> None:
    attributes, message = BESIDES[producer]
    failing = f"<testcase {attributes}><error message='{message}'/></testcase>"
    dialect = DIALECTS[producer]
    report = read(document(dialect, case(dialect), failing))
    assert (report.counts()["tests"], len(report.run_errors)) == (1, 1)
    ordinary = read(document(dialect, case(dialect), case(dialect, "<error message='no'/>", name="u")))
    assert (ordinary.counts()["tests"], len(ordinary.run_errors)) == (2, 0)


@pytest.mark.parametrize(
    ("producer", "skipped", "expected"),
    [
        ("node:test", '<skipped type="todo" message="later"/>', "SKIP"),
        ("catch2", '<skipped message="TEST_CASE tagged with !mayfail"/>', "SKIP"),
        ("node:test", '<skipped message="later"/>', "FAIL"),
        ("catch2", '<skipped message="later"/>', "FAIL"),
        ("unknown", '<skipped type="todo" message="TEST_CASE tagged with !mayfail"/>', "FAIL"),
    ],
)
def test_what_was_allowed_to_fail_did_not_fail(producer: str, skipped: str, expected: str) -> None:
    dialect = DIALECTS[producer]
    assert first(document(dialect, case(dialect, f"{skipped}<failure/>"))).verdict.name == expected


@pytest.mark.parametrize(
    ("classname", "name", "expected"),
    [
        ("adds", "Cart adds", ("Cart", "adds")),
        ("adds", "adds", ("", "adds")),
        ("Cart", "adds", ("Cart", "adds")),
        ("", "adds", ("", "adds")),
    ],
)
def test_mocha_writes_the_title_as_class_and_the_whole_title_as_name(
    classname: str, name: str, expected: tuple[str, str]
) -> None:
    text = document(DIALECTS["mocha"], f'<testcase classname="{classname}" name="{name}"/>')
    assert first(text).key[1:3] == expected


def test_jests_times_have_no_zone_and_are_utc_and_those_of_others_are_not_known() -> None:
    for producer, known in (("jest-junit", True), ("vitest", False)):
        dialect = DIALECTS[producer]
        text = document(dialect, case(dialect)).replace('name="s"', 'name="s" timestamp="2026-01-01T00:00:00"')
        assert (read(text).started_at is not None) == known


@pytest.mark.parametrize("producer", ["surefire", "gradle", "testng"])
def test_a_nested_class_is_known_by_its_class_alone_where_suites_are_classes(producer: str) -> None:
    dialect = DIALECTS[producer]
    text = document(dialect, case(dialect)).replace('name="s"', 'name="c.K$Inner"')
    assert first(text).key[0] == ("c.K$Inner" if producer == "testng" else "")
