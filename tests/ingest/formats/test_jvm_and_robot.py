"""testng-results.xml and Robot's output.xml."""

import pytest

from ingest.junit.report import Provenance
from tests.ingest.formats.tables import outcome
from tests.ingest.junit.reading import case, read

# -- TestNG --------------------------------------------------------------------------------------------------------


def results(inside: str, head: str = "") -> str:
    return f"<testng-results{head}><reporter-output/><suite name='s'><groups/><test name='t'><class name='shop.Cart'>{inside}</class></test></suite></testng-results>"


def method(name: str, status: str = "PASS", inside: str = "", more: str = "") -> str:
    return f"<test-method status='{status}' signature='{name}()[pri:0]' name='{name}' duration-ms='1500'{more}>{inside}</test-method>"


def parameters(*values: str) -> str:
    inside = "".join(f"<param index='0'><value><![CDATA[{value}]]></value></param>" for value in values)
    return f"<params>{inside}</params>"


EXCEPTION = "<exception class='java.lang.E'><message>no</message><full-stacktrace>at a</full-stacktrace></exception>"
RETRIED = " retried='true'"
TESTNG: dict[str, tuple[str, tuple[dict[str, str], list[str], list[str]]]] = {
    "passed": (results(method("a")), ({"a": "PASS"}, [], [])),
    "failed": (results(method("a", "FAIL", EXCEPTION)), ({"a": "FAIL"}, [], [])),
    "skipped": (results(method("a", "SKIP")), ({"a": "SKIP"}, [], [])),
    "within its percentage": (results(method("a", "SUCCESS_PERCENTAGE_FAILURE")), ({"a": "SKIP"}, [], [])),
    "an unknown status": (results(method("a", "NOPE")), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "no status": (results("<test-method name='a'/>"), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "configuration passed": (results(method("setUp", "PASS", "", " is-config='true'") + method("a")), ({"a": "PASS"}, [], [])),
    "configuration failed": (
        results(method("setUp", "FAIL", EXCEPTION, " is-config='true'") + method("a", "SKIP")),
        ({"a": "SKIP"}, ["shop.Cart: setUp"], []),
    ),
    "parameters": (
        results(method("a", "PASS", parameters("1", "x")) + method("a", "FAIL", parameters("2", "y"))),
        ({"a[1, x]": "PASS", "a[2, y]": "FAIL"}, [], []),
    ),
    "a retry that passed": (results(method("a", "SKIP", EXCEPTION, RETRIED) + method("a")), ({"a": "PASS"}, [], [])),
    "a retry that failed": (
        results(method("a", "SKIP", EXCEPTION, RETRIED) + method("a", "FAIL", EXCEPTION)), ({"a": "FAIL"}, [], []),
    ),
    "a retry after which nothing ran": (results(method("a", "SKIP", "", RETRIED)), ({"a": "FAIL"}, [], ["retry_unclear"])),
    "skipped, then passed": (results(method("a", "SKIP") + method("a")), ({"a": "PASS"}, [], [])),
    "skipped, then failed": (results(method("a", "SKIP") + method("a", "FAIL")), ({"a": "FAIL"}, [], [])),
    "failed, then passed": (results(method("a", "FAIL") + method("a")), ({"a": "FAIL"}, [], [])),
    "more failures counted": (results(method("a"), " failed='1'"), ({"a": "PASS"}, [], ["header_surplus"])),
    "an unknown element": (results(method("a") + "<test-methud/>"), ({"a": "PASS"}, [], ["unknown_element"])),
    "a method elsewhere": (
        results(method("a", "PASS", f"<reporter-output>{method('b', 'FAIL')}</reporter-output>")), ({"a": "PASS"}, [], ["misplaced"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), TESTNG.values(), ids=TESTNG)
def test_testng_results(document: str, expected: tuple[object, object, object]) -> None:
    assert outcome(document) == expected


@pytest.mark.parametrize("last", ["PASS", "FAIL"])
def test_a_retry_of_testng_is_an_attempt_with_its_text(last: str) -> None:
    document = results(method("a", last, EXCEPTION if last == "FAIL" else "") + method("a", "SKIP", EXCEPTION, RETRIED))
    attempts = case(read(document), "a").attempts
    assert [attempt.verdict.name for attempt in attempts] == ["FAIL", last]
    assert {attempt.provenance for attempt in attempts} == {Provenance.EXPLICIT}
    assert attempts[0].failures[0].type == "java.lang.E"


def test_retries_of_one_second_come_in_any_order() -> None:
    """Before version 7 they are known by their exception alone."""
    skips = method("a", "SKIP", EXCEPTION, " started-at='2026-01-01T10:00:00Z'")
    ran = method("a", "PASS", "", " started-at='2026-01-01T10:00:00Z'")
    for document in (skips + ran + skips, ran + skips + skips):
        attempts = case(read(results(document)), "a").attempts
        assert [attempt.verdict.name for attempt in attempts] == ["FAIL", "FAIL", "PASS"]
    later = skips.replace("10:00:00", "10:00:09")
    assert len(case(read(results(ran + later)), "a").attempts) == 2
    assert {attempt.provenance for attempt in case(read(results(ran + later)), "a").attempts} == {Provenance.AMBIGUOUS}


def test_a_retry_with_another_object_is_one_of_the_same_test() -> None:
    retried = method("a", "SKIP", parameters("shop.Row@1a2b3c4d") + EXCEPTION, RETRIED)
    document = results(retried + method("a", "PASS", parameters("shop.Row@5e6f7a8b")))
    assert [len(one.attempts) for one in read(document).cases()] == [2]


def test_one_class_in_two_tests_is_two_tests() -> None:
    inside = f"<class name='c'>{method('a')}</class>"
    document = f"<testng-results><suite name='s'><test name='t'>{inside}</test><test name='u'>{inside}</test></suite></testng-results>"
    assert read(document).keys == [("s/t", "c", "a", "", ""), ("s/u", "c", "a", "", "")]


# -- Robot ---------------------------------------------------------------------------------------------------------


def robot(
    inside: str, status: str = "PASS", said: str = "", *, stat: str = "pass='1' fail='0'", errors: str = ""
) -> str:
    return (
        f"<robot generator='Robot 7.0'><suite name='Shop'><suite name='Cart'>{inside}<status status='{status}' elapsed='1'>{said}"
        f"</status></suite><status status='{status}' elapsed='1'/></suite><statistics><total><stat {stat}>All Tests</stat></total>"
        f"<suite><stat pass='0' fail='9' name='Shop'>Shop</stat></suite></statistics><errors>{errors}</errors></robot>"
    )


def robot_test(name: str, status: str = "PASS", said: str = "", times: str = "elapsed='1.5'") -> str:
    return f"<test id='s1-t1' name='{name}' line='3'><kw name='K'><status status='FAIL'/></kw><status status='{status}' {times}>{said}</status></test>"


SETUP = "<kw name='Open' type='SETUP'><kw name='inner'><status status='PASS'/></kw><status status='FAIL'/></kw>"
FAILS = "pass='0' fail='1'"
MESSAGE = "<msg level='{}'>{}</msg>"
ROBOT: dict[str, tuple[str, tuple[dict[str, str], list[str], list[str]]]] = {
    "passed": (robot(robot_test("a")), ({"a": "PASS"}, [], [])),
    "failed": (robot(robot_test("a", "FAIL", "no"), "FAIL", stat=FAILS), ({"a": "FAIL"}, [], [])),
    "skipped": (robot(robot_test("a", "SKIP")), ({"a": "SKIP"}, [], [])),
    "not run": (robot(robot_test("a", "NOT RUN")), ({"a": "SKIP"}, [], [])),
    "an unknown status": (robot(robot_test("a", "NOPE")), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "no status": (robot("<test name='a'/>"), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "a suite's setup failed": (
        robot(SETUP + robot_test("a", "FAIL", "Parent suite setup failed"), "FAIL", "Suite setup failed", stat=FAILS),
        ({"a": "FAIL"}, ["Shop.Cart"], []),
    ),
    "a suite's tear-down failed": (
        robot(robot_test("a") + SETUP.replace("SETUP", "TEARDOWN"), "FAIL", "Suite teardown failed", stat=FAILS),
        ({"a": "PASS"}, ["Shop.Cart"], []),
    ),
    "a suite failed alone": (robot(robot_test("a"), "FAIL"), ({"a": "PASS"}, ["Shop.Cart"], [])),
    "a suite of no known status": (robot(robot_test("a"), "NOPE"), ({"a": "PASS"}, [], ["unknown_verdict"])),
    "more failures counted": (robot(robot_test("a"), stat=FAILS), ({"a": "PASS"}, [], ["header_surplus"])),
    "more tests counted": (robot(robot_test("a"), stat="pass='2' fail='0'"), ({"a": "PASS"}, [], ["header_tests"])),
    "a count that is none": (
        robot(robot_test("a"), stat="pass='x' fail='0'"), ({"a": "PASS"}, [], ["header_unreadable", "no_summary"]),
    ),
    "a file that could not be read": (
        robot(robot_test("a"), errors=MESSAGE.format("ERROR", "Error in file 'a.robot' on line 2: no such library")),
        ({"a": "PASS"}, ["Error in file 'a.robot' on line 2: no such library"], []),
    ),
    "a warning": (robot(robot_test("a"), errors=MESSAGE.format("WARN", "deprecated")), ({"a": "PASS"}, [], [])),
    "an unknown element": (robot(robot_test("a") + "<tfst name='b'/>"), ({"a": "PASS"}, [], ["unknown_element"])),
    "a test elsewhere": (robot(robot_test("a") + f"<for>{robot_test('b', 'FAIL')}</for>"), ({"a": "PASS"}, [], ["misplaced"])),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), ROBOT.values(), ids=ROBOT)
def test_robot_output(document: str, expected: tuple[object, object, object]) -> None:
    assert outcome(document) == expected


@pytest.mark.parametrize(
    "times", ["elapsed='1.5'", "starttime='20260101 10:00:00.000' endtime='20260101 10:00:01.500'"]
)
def test_a_robot_test_has_its_suite_message_time_and_line(times: str) -> None:
    report = read(robot(robot_test("a", "FAIL", "no\nmore", times), "FAIL", stat=FAILS))
    found = case(report, "a")
    assert (found.key, found.duration, found.line) == (("", "Shop.Cart", "a", "", ""), 1.5, 3)
    assert (found.attempts[0].failures[0].message, found.attempts[0].failures[0].text) == ("no", "no\nmore")


def test_a_logged_error_of_robot_is_a_warning_only() -> None:
    report = read(robot(robot_test("a"), errors=MESSAGE.format("ERROR", "said by a keyword")))
    assert "logged_error" in report.warnings and not report.run_errors
