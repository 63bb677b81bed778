"""One run in every format that is read: the same tests with the same outcomes, as each producer writes them."""

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import quoteattr


class Result(NamedTuple):
    name: str
    failed: bool = False
    classname: str = "shop.cart"


def junit(results: Sequence[Result], *, inside: str = "", surplus: int = 0) -> bytes:
    failed = sum(result.failed for result in results) + surplus
    failure = "<failure message='no'>no</failure>"
    cases = "".join(
        f"<testcase classname={quoteattr(result.classname)} name={quoteattr(result.name)} time='0.1'>"
        f"{failure if result.failed else ''}</testcase>\n"
        for result in results
    )
    head = f"<testsuite name='shop' tests='{len(results)}' failures='{failed}' errors='0' skipped='0'>"
    return f"<testsuites>{head}{inside}\n{cases}</testsuite></testsuites>".encode()


def trx(results: Sequence[Result]) -> bytes:
    rows = "".join(
        f"<UnitTestResult testId='{number}' testName={quoteattr(result.name)} duration='00:00:00.1'"
        f" outcome='{'Failed' if result.failed else 'Passed'}'/>\n"
        for number, result in enumerate(results)
    )
    definitions = "".join(
        f"<UnitTest name={quoteattr(result.name)} id='{number}'>"
        f"<TestMethod className={quoteattr(result.classname)} name={quoteattr(result.name)}/></UnitTest>\n"
        for number, result in enumerate(results)
    )
    failed = sum(result.failed for result in results)
    counters = f"<Counters total='{len(results)}' executed='{len(results)}' passed='{len(results) - failed}' failed='{failed}'/>"
    return (
        f"<TestRun xmlns='http://microsoft.com/schemas/VisualStudio/TeamTest/2010'><Results>{rows}</Results>"
        f"<TestDefinitions>{definitions}</TestDefinitions>"
        f"<ResultSummary outcome='{'Failed' if failed else 'Completed'}'>{counters}</ResultSummary></TestRun>"
    ).encode()


def nunit(results: Sequence[Result]) -> bytes:
    failed = sum(result.failed for result in results)
    rows = "".join(
        f"<test-case id='{number}' name={quoteattr(result.name)} classname={quoteattr(result.classname)}"
        f" fullname={quoteattr(f'{result.classname}.{result.name}')} result='{'Failed' if result.failed else 'Passed'}' duration='0.1'>"
        f"{'<failure><message>no</message></failure>' if result.failed else ''}</test-case>\n"
        for number, result in enumerate(results)
    )
    told = f"result='{'Failed' if failed else 'Passed'}' total='{len(results)}' passed='{len(results) - failed}' failed='{failed}'"
    suite = f"<test-suite type='TestFixture' name='cart' fullname='shop.cart' {told}>{rows}</test-suite>"
    return f"<test-run id='2' testcasecount='{len(results)}' {told}>{suite}</test-run>".encode()


def xunit(results: Sequence[Result]) -> bytes:
    failed = sum(result.failed for result in results)
    rows = "".join(
        f"<test name={quoteattr(f'{result.classname}.{result.name}')} type={quoteattr(result.classname)}"
        f" method={quoteattr(result.name)} time='0.1' result='{'Fail' if result.failed else 'Pass'}'/>\n"
        for result in results
    )
    told = f"total='{len(results)}' passed='{len(results) - failed}' failed='{failed}' skipped='0'"
    return (
        f"<assemblies><assembly name='shop.dll' {told} errors='0'><collection name='c' {told}>{rows}</collection>"
        "</assembly></assemblies>"
    ).encode()


def testng(results: Sequence[Result]) -> bytes:
    failed = sum(result.failed for result in results)
    rows = "".join(
        f"<class name={quoteattr(result.classname)}><test-method status='{'FAIL' if result.failed else 'PASS'}'"
        f" signature='x' name={quoteattr(result.name)} duration-ms='5'/></class>\n"
        for result in results
    )
    told = f"skipped='0' failed='{failed}' total='{len(results)}' passed='{len(results) - failed}'"
    return f"<testng-results {told}><suite name='s'><test name='t'>{rows}</test></suite></testng-results>".encode()


def tap(results: Sequence[Result]) -> bytes:
    lines = [
        f"{'not ok' if result.failed else 'ok'} {number} - {result.name}" for number, result in enumerate(results, 1)
    ]
    return "\n".join(["TAP version 13", f"1..{len(results)}", *lines, ""]).encode()


def go(results: Sequence[Result]) -> bytes:
    events = [
        {"Action": action, "Package": "shop", "Test": result.name, "Elapsed": 0.1}
        for result in results
        for action in ("run", "fail" if result.failed else "pass")
    ]
    ended = {"Action": "fail" if any(result.failed for result in results) else "pass", "Package": "shop", "Elapsed": 1}
    return b"".join(
        json.dumps(event).encode() + b"\n" for event in [{"Action": "start", "Package": "shop"}, *events, ended]
    )


def ctrf(results: Sequence[Result]) -> bytes:
    failed = sum(result.failed for result in results)
    summary = {
        "tests": len(results),
        "passed": len(results) - failed,
        "failed": failed,
        "pending": 0,
        "skipped": 0,
        "other": 0,
    }
    tests = [
        {"name": result.name, "status": "failed" if result.failed else "passed", "duration": 5} for result in results
    ]
    whole = {"tool": {"name": "shop"}, "summary": {**summary, "start": 1, "stop": 2}, "tests": tests}
    return json.dumps({"results": whole}).encode()


def robot(results: Sequence[Result]) -> bytes:
    failed = sum(result.failed for result in results)
    rows = "".join(
        f"<test id='s1-t{number}' name={quoteattr(result.name)}><status status='{'FAIL' if result.failed else 'PASS'}'"
        f" start='2026-01-01T00:00:00' elapsed='0.1'>{'no' if result.failed else ''}</status></test>\n"
        for number, result in enumerate(results, 1)
    )
    stat = f"<stat pass='{len(results) - failed}' fail='{failed}' skip='0'>All Tests</stat>"
    status = f"<status status='{'FAIL' if failed else 'PASS'}' start='2026-01-01T00:00:00' elapsed='1'/>"
    return (
        f"<robot generator='Robot 7.0'><suite id='s1' name='Shop'>{rows}{status}</suite>"
        f"<statistics><total>{stat}</total></statistics><errors/></robot>"
    ).encode()


def playwright(results: Sequence[Result]) -> bytes:
    failed = sum(result.failed for result in results)
    specs = [
        {
            "title": result.name,
            "ok": not result.failed,
            "file": "cart.spec.ts",
            "tests": [
                {
                    "projectName": "chromium",
                    "expectedStatus": "passed",
                    "status": "unexpected" if result.failed else "expected",
                    "results": [{"status": "failed" if result.failed else "passed", "duration": 5, "retry": 0}],
                }
            ],
        }
        for result in results
    ]
    stats = {"expected": len(results) - failed, "unexpected": failed, "flaky": 0, "skipped": 0}
    suite = {"title": "cart.spec.ts", "file": "cart.spec.ts", "specs": specs}
    return json.dumps({"config": {}, "suites": [suite], "errors": [], "stats": stats}).encode()


WRITERS: dict[str, Callable[[Sequence[Result]], bytes]] = {
    writer.__name__: writer for writer in (junit, trx, nunit, xunit, testng, tap, go, ctrf, robot, playwright)
}
