"""TRX, NUnit 3 and xUnit.net."""

import pytest

from ingest.junit.report import Provenance
from tests.ingest.formats.tables import outcome
from tests.ingest.junit.reading import case, read

# -- TRX -----------------------------------------------------------------------------------------------------------

NAMESPACE = "http://microsoft.com/schemas/VisualStudio/TeamTest/2010"
SUMMARY = "<ResultSummary outcome='Completed'/>"


def result(name: str, outcome: str | None = "Passed", inside: str = "", *, number: str = "1") -> str:
    said = f" outcome='{outcome}'" if outcome is not None else ""
    return f"<UnitTestResult testId='{number}' testName='{name}' duration='00:00:01.5'{said}>{inside}</UnitTestResult>"


def definition(classname: str, name: str, *, number: str = "1") -> str:
    return f"<UnitTest name='{name}' id='{number}'><TestMethod className='{classname}' name='{name}'/></UnitTest>"


def trx(results: str, summary: str = SUMMARY, definitions: str = definition("shop.Cart", "t")) -> str:
    return (
        f"<TestRun id='1' xmlns='{NAMESPACE}'><Times start='2026-01-01T10:00:00Z'/><Results>{results}</Results>"
        f"<TestDefinitions>{definitions}</TestDefinitions>{summary}</TestRun>"
    )


FAILED = "<ResultSummary outcome='Failed'/>"


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("Passed", "PASS"), ("Warning", "PASS"), ("Completed", "PASS"), ("Failed", "FAIL"), ("Error", "ERROR"),
        ("Timeout", "ERROR"), ("Aborted", "ERROR"), ("Disconnected", "ERROR"), ("NotRunnable", "ERROR"),
        ("PassedButRunAborted", "ERROR"), ("InProgress", "ERROR"), ("Pending", "ERROR"), ("NotExecuted", "SKIP"),
        ("Inconclusive", "SKIP"), (None, "ERROR"),
    ],
)  # fmt: skip
def test_outcomes_of_trx(word: str | None, verdict: str) -> None:
    summary = FAILED if verdict in ("FAIL", "ERROR") else SUMMARY
    assert outcome(trx(result("t", word), summary)) == ({"t": verdict}, [], [])


def test_a_trx_result_gets_its_class_text_time_and_start() -> None:
    info = "<Output><StdOut>said</StdOut><ErrorInfo><Message>System.Exception : no</Message><StackTrace>at a</StackTrace></ErrorInfo></Output>"
    report = read(trx(result("shop.Cart.t(1)", "Failed", info), FAILED))
    found = case(report, "t(1)")
    (attempt,) = found.attempts
    assert (found.key[1], found.duration, attempt.system_out) == ("shop.Cart", 1.5, "said")
    (failure,) = attempt.failures
    assert (failure.type, failure.message, failure.text) == ("System.Exception", "System.Exception : no", "at a")
    assert report.started_at is not None and report.started_at.hour == 10


ROWS_OF_A_TEST = result("t(1)", "Failed") + result("t(2)", "Passed")
TRX: dict[str, tuple[str, tuple[dict[str, str], list[str], list[str]]]] = {
    "definitions before results": (
        f"<TestRun xmlns='{NAMESPACE}'>{SUMMARY}<TestDefinitions>{definition('c', 't')}</TestDefinitions>"
        f"<Results>{result('t')}</Results></TestRun>",
        ({"t": "PASS"}, [], []),
    ),
    "rows tell it for their test": (
        trx(result("t", "Failed", f"<InnerResults>{ROWS_OF_A_TEST}</InnerResults>"), FAILED),
        ({"t(1)": "FAIL", "t(2)": "PASS"}, [], []),
    ),
    "a test fails though its rows pass": (
        trx(result("t", "Failed", f"<InnerResults>{result('t(1)')}</InnerResults>"), FAILED),
        ({"t(1)": "PASS", "t": "FAIL"}, [], []),
    ),
    "a name twice": (trx(result("t", "Failed") + result("t"), FAILED), ({"t": "FAIL"}, [], [])),
    "the run failed, no test did": (trx(result("t"), FAILED), ({"t": "PASS"}, ["run"], [])),
    "the run was aborted": (
        trx(result("t", "Failed"), "<ResultSummary outcome='Aborted'/>"),
        ({"t": "FAIL"}, ["run"], []),
    ),
    "an error of the run": (
        trx(
            result("t"),
            "<ResultSummary outcome='Failed'><RunInfos><RunInfo outcome='Error'><Text>host crashed</Text></RunInfo></RunInfos></ResultSummary>",
        ),
        ({"t": "PASS"}, ["host crashed"], []),
    ),
    "a warning of the run": (
        trx(
            result("t"),
            "<ResultSummary outcome='Completed'><RunInfos><RunInfo outcome='Warning'><Text>x</Text></RunInfo></RunInfos></ResultSummary>",
        ),
        ({"t": "PASS"}, [], []),
    ),
    "what xUnit says of a failing test": (
        trx(
            result("c.t", "Failed"),
            "<ResultSummary outcome='Failed'><RunInfos><RunInfo outcome='Error'><Text>[xUnit.net 00:00:01.01]     c.t [FAIL]</Text></RunInfo></RunInfos></ResultSummary>",
            definition("c", "t"),
        ),
        ({"t": "FAIL"}, [], []),
    ),
    "what xUnit says of a test that is not there": (
        trx(
            result("c.t", "Failed"),
            "<ResultSummary outcome='Failed'><RunInfos><RunInfo outcome='Error'><Text>[xUnit.net 00:00:01.01]     c.u [FAIL]</Text></RunInfo></RunInfos></ResultSummary>",
            definition("c", "t"),
        ),
        ({"t": "FAIL"}, ["[xUnit.net 00:00:01.01]     c.u [FAIL]"], []),
    ),
    "more failures counted": (
        trx(
            result("t"),
            "<ResultSummary outcome='Completed'><Counters total='1' failed='1' error='0'/></ResultSummary>",
        ),
        ({"t": "PASS"}, [], ["header_surplus"]),
    ),
    "more tests counted": (
        trx(result("t"), "<ResultSummary outcome='Completed'><Counters total='2'/></ResultSummary>"),
        ({"t": "PASS"}, [], ["header_tests"]),
    ),
    "a count that is none": (
        trx(result("t"), "<ResultSummary outcome='Completed'><Counters failed='x'/></ResultSummary>"),
        ({"t": "PASS"}, [], ["header_unreadable"]),
    ),
    "no summary": (trx(result("t"), ""), ({"t": "PASS"}, [], ["no_summary"])),
    "an unknown outcome": (trx(result("t", "Nope"), FAILED), ({"t": "ERROR"}, [], ["unknown_verdict"])),
    "an unknown outcome of the run": (
        trx(result("t"), "<ResultSummary outcome='Nope'/>"),
        ({"t": "PASS"}, [], ["unknown_verdict"]),
    ),
    "an unknown element": (trx(result("t") + "<OddResult/>"), ({"t": "PASS"}, [], ["unknown_element"])),
    "a result elsewhere": (
        trx(result("t"), f"{SUMMARY}<TestLists>{result('u', 'Failed')}</TestLists>"),
        ({"t": "PASS"}, [], ["misplaced"]),
    ),
    "text among results": (trx(result("t") + "UnitTestResult"), ({"t": "PASS"}, [], ["stray_text"])),
    "a commented result": (
        trx(result("t") + "<!-- <UnitTestResult outcome='Failed'/> -->"),
        ({"t": "PASS"}, [], ["commented_out"]),
    ),
}


@pytest.mark.parametrize(("document", "expected"), TRX.values(), ids=TRX)
def test_trx(document: str, expected: tuple[object, object, object]) -> None:
    assert outcome(document) == expected


def test_a_name_twice_in_trx_is_ambiguous() -> None:
    found = case(read(trx(result("t", "Failed") + result("t"), FAILED)), "t")
    assert {attempt.provenance for attempt in found.attempts} == {Provenance.AMBIGUOUS}


def test_other_tools_with_the_same_root_are_refused_by_name() -> None:
    from tests.ingest.junit.reading import refusal

    assert refusal("<TestRun><FailedTests><FailedTest id='1'/></FailedTests></TestRun>").code == "other_format"


# -- NUnit 3 -------------------------------------------------------------------------------------------------------


def nunit(inside: str, head: str = "result='Passed'", suite: str = "result='Passed'") -> str:
    return f"<test-run {head}><test-suite name='Cart' fullname='shop.Cart' {suite}>{inside}</test-suite></test-run>"


def nunit_case(name: str, word: str = "Passed", inside: str = "", more: str = "") -> str:
    return (
        f"<test-case name='{name}' fullname='shop.Cart.{name}' classname='shop.Cart' result='{word}' duration='0.5'{more}>"
        f"{inside}</test-case>"
    )


BAD, RED = "result='Failed'", "<failure><message>no</message><stack-trace>at a</stack-trace></failure>"
NUNIT: dict[str, tuple[str, tuple[dict[str, str], list[str], list[str]]]] = {
    "passed": (nunit(nunit_case("t")), ({"t": "PASS"}, [], [])),
    "failed": (nunit(nunit_case("t", "Failed", RED), BAD, BAD), ({"t": "FAIL"}, [], [])),
    "an error": (nunit(nunit_case("t", "Failed", RED, " label='Error'"), BAD, BAD), ({"t": "ERROR"}, [], [])),
    "cancelled": (nunit(nunit_case("t", "Failed", RED, " label='Cancelled'"), BAD, BAD), ({"t": "ERROR"}, [], [])),
    "early versions": (nunit(nunit_case("t", "Failed(Error)", RED), BAD, BAD), ({"t": "ERROR"}, [], [])),
    "skipped": (nunit(nunit_case("t", "Skipped")), ({"t": "SKIP"}, [], [])),
    "inconclusive": (nunit(nunit_case("t", "Inconclusive")), ({"t": "SKIP"}, [], [])),
    "a warning": (nunit(nunit_case("t", "Warning")), ({"t": "PASS"}, [], [])),
    "an unknown outcome": (nunit(nunit_case("t", "Nope")), ({"t": "ERROR"}, [], ["unknown_verdict"])),
    "passed with a failure": (nunit(nunit_case("t", "Passed", RED)), ({"t": "FAIL"}, [], [])),
    "a fixture's setup failed": (
        nunit(RED + nunit_case("t", "Failed", RED), BAD, "result='Failed' site='SetUp'"),
        ({"t": "FAIL"}, ["shop.Cart"], []),
    ),
    "a fixture's tear-down failed": (
        nunit(RED + nunit_case("t"), BAD, "result='Failed' site='TearDown'"),
        ({"t": "PASS"}, ["shop.Cart"], []),
    ),
    "an assembly that did not load": (
        nunit("<reason><message>no dll</message></reason>", BAD, "result='Failed' runstate='NotRunnable'"),
        ({}, ["shop.Cart"], []),
    ),
    "a child failed": (
        nunit(RED + nunit_case("t", "Failed", RED), BAD, "result='Failed' site='Child'"),
        ({"t": "FAIL"}, [], []),
    ),
    "the run failed alone": (nunit(nunit_case("t"), BAD), ({"t": "PASS"}, ["suite"], [])),
    "more failures counted": (
        nunit(nunit_case("t"), "result='Passed' total='1' failed='1'"),
        ({"t": "PASS"}, [], ["header_surplus"]),
    ),
    "more tests counted": (nunit(nunit_case("t"), "result='Passed' total='2'"), ({"t": "PASS"}, [], ["header_tests"])),
    "an unknown element": (nunit(nunit_case("t") + "<test-cuse/>"), ({"t": "PASS"}, [], ["unknown_element"])),
    "a case elsewhere": (
        nunit(nunit_case("t") + f"<properties>{nunit_case('u', 'Failed')}</properties>"),
        ({"t": "PASS"}, [], ["misplaced"]),
    ),
    "a suite of no known outcome": (nunit(nunit_case("t"), suite=""), ({"t": "PASS"}, [], ["unknown_verdict"])),
}


@pytest.mark.parametrize(("document", "expected"), NUNIT.values(), ids=NUNIT)
def test_nunit(document: str, expected: tuple[object, object, object]) -> None:
    assert outcome(document) == expected


def test_the_arguments_of_a_fixture_are_part_of_its_tests_identity() -> None:
    written = "<test-case name='t(1)' fullname='shop.Cart(42).t(1)' classname='shop.Cart' result='Passed'/>"
    assert read(nunit(written)).keys == [("", "shop.Cart(42)", "t(1)", "", "")]


def test_a_fixtures_failure_keeps_its_words() -> None:
    report = read(nunit(RED + nunit_case("t"), BAD, "result='Failed' site='TearDown'"))
    (error,) = report.run_errors
    assert (error.failure.message, error.failure.text) == ("no", "at a")


# -- xUnit.net -----------------------------------------------------------------------------------------------------


def xunit(inside: str, head: str = "", errors: str = "<errors/>") -> str:
    return f"<assemblies><assembly name='shop.dll' run-date='2026-01-01' run-time='10:00:00'{head}>{errors}<collection name='c'>{inside}</collection></assembly></assemblies>"


def xunit_test(name: str, word: str = "Pass", inside: str = "") -> str:
    return f"<test name='shop.Cart.{name}' type='shop.Cart' method='t' time='0.5' result='{word}'>{inside}</test>"


XFAIL = "<failure exception-type='E'><message>no</message><stack-trace>at a</stack-trace></failure>"
ERRORS = f"<errors><error type='assembly-cleanup' name='shop'>{XFAIL}</error></errors>"
XUNIT: dict[str, tuple[str, tuple[dict[str, str], list[str], list[str]]]] = {
    "passed": (xunit(xunit_test("t")), ({"t": "PASS"}, [], [])),
    "failed": (xunit(xunit_test("t", "Fail", XFAIL)), ({"t": "FAIL"}, [], [])),
    "failed without a word": (xunit(xunit_test("t", "Fail")), ({"t": "FAIL"}, [], [])),
    "passed with a failure": (xunit(xunit_test("t", "Pass", XFAIL)), ({"t": "FAIL"}, [], [])),
    "skipped": (xunit(xunit_test("t", "Skip", "<reason>no</reason>")), ({"t": "SKIP"}, [], [])),
    "not run": (xunit(xunit_test("t", "NotRun")), ({"t": "SKIP"}, [], [])),
    "an unknown outcome": (xunit(xunit_test("t", "Nope")), ({"t": "ERROR"}, [], ["unknown_verdict"])),
    "no outcome": (xunit("<test name='a.t' type='a'/>"), ({"t": "ERROR"}, [], ["unknown_verdict"])),
    "an error of the assembly": (
        xunit(xunit_test("t"), " errors='1'", ERRORS),
        ({"t": "PASS"}, ["assembly-cleanup shop"], []),
    ),
    "an error that is counted alone": (xunit(xunit_test("t"), " errors='1'"), ({"t": "PASS"}, ["shop.dll"], [])),
    "more failures counted": (
        xunit(xunit_test("t"), " total='1' failed='1'"),
        ({"t": "PASS"}, [], ["header_surplus"]),
    ),
    "more tests counted": (xunit(xunit_test("t"), " total='2'"), ({"t": "PASS"}, [], ["header_tests"])),
    "version 1": (
        f"<assembly name='a.dll'><class name='shop.Cart'>{xunit_test('t', 'Fail', XFAIL)}</class></assembly>",
        ({"t": "FAIL"}, [], []),
    ),
    "version 1, a fixture failed": (
        f"<assembly name='a.dll'><class name='shop.Cart'>{XFAIL}{xunit_test('t')}</class></assembly>",
        ({"t": "PASS"}, ["shop.Cart"], []),
    ),
    "a theory": (xunit(xunit_test("t(a: 1)") + xunit_test("t(a: 2)")), ({"t(a: 1)": "PASS", "t(a: 2)": "PASS"}, [], [])),
    "an unknown element": (xunit(xunit_test("t") + "<tets/>"), ({"t": "PASS"}, [], ["unknown_element"])),
    "a test elsewhere": (
        xunit(xunit_test("t", "Pass", f"<traits>{xunit_test('u', 'Fail')}</traits>")),
        ({"t": "PASS"}, [], ["misplaced"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), XUNIT.values(), ids=XUNIT)
def test_xunit(document: str, expected: tuple[object, object, object]) -> None:
    assert outcome(document) == expected


def test_an_xunit_failure_keeps_its_type_message_and_text() -> None:
    found = case(read(xunit(xunit_test("t", "Fail", XFAIL))), "t")
    (failure,) = found.attempts[0].failures
    assert (failure.type, failure.message, failure.text, found.duration) == ("E", "no", "at a", 0.5)
    assert found.key == ("", "shop.Cart", "t", "", "")
