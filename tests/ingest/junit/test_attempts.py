"""For every retry style of the producers: attempts, their order, provenance and the final verdict."""

import pytest

from ingest.junit.report import Case, Provenance
from tests.ingest.junit.reading import case, read, upload

E, D, A = Provenance.EXPLICIT, Provenance.DUPLICATE, Provenance.AMBIGUOUS


def seen(one: Case) -> tuple[str, list[str], Provenance]:
    """Final verdict, attempts, provenance."""
    provenances = {attempt.provenance for attempt in one.attempts}
    assert len(provenances) == 1
    return one.verdict.name, [attempt.verdict.name for attempt in one.attempts], provenances.pop()


SUREFIRE = (
    '<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="surefire.xsd" '
    'name="s.T" tests="1">{}</testsuite>'
)


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        (
            '<flakyFailure message="1" type="A"><stackTrace>one</stackTrace></flakyFailure>'
            '<flakyError message="2" type="B"><stackTrace>two</stackTrace></flakyError>',
            ("PASS", ["FAIL", "ERROR", "PASS"], E),
        ),
        (
            '<failure message="1">one</failure><rerunFailure message="2"><stackTrace>two</stackTrace></rerunFailure>'
            '<rerunError message="3"><stackTrace>three</stackTrace></rerunError>',
            ("ERROR", ["FAIL", "FAIL", "ERROR"], E),
        ),
        ('<rerunFailure message="2"/><failure message="1"/>', ("FAIL", ["FAIL", "FAIL"], E)),
        ('<failure message="1">one</failure>', ("FAIL", ["FAIL"], E)),
    ],
)
def test_surefire_writes_attempts_as_elements(children: str, expected: tuple[str, list[str], Provenance]) -> None:
    report = read(SUREFIRE.format(f'<testcase classname="s.T" name="t" time="0.1">{children}</testcase>'))
    assert seen(case(report, "t")) == expected


def test_surefire_keeps_the_text_and_output_of_each_attempt() -> None:
    report = read(
        SUREFIRE.format(
            '<testcase classname="s.T" name="t"><flakyFailure message="m" type="T"><stackTrace>trace</stackTrace>'
            "<system-out>said</system-out></flakyFailure></testcase>"
        )
    )
    first = case(report, "t").attempts[0]
    assert (first.failures[0].text, first.failures[0].type, first.system_out) == ("trace", "T", "said")


def test_playwright_writes_later_attempts_before_the_first() -> None:
    report = read(
        '<testsuites id="" name="" tests="1" failures="1" skipped="0" errors="0" time="1"><testsuite name="a.spec.ts" '
        'timestamp="2026-01-01T00:00:00Z" hostname="chromium" tests="1" time="1"><testcase name="t" classname="a.spec.ts" '
        'time="1"><rerunError message="2"/><rerunError message="3"/><error message="1"/></testcase></testsuite></testsuites>'
    )
    one = case(report, "t")
    assert seen(one) == ("ERROR", ["ERROR", "ERROR", "ERROR"], E)
    assert [attempt.failures[0].message for attempt in one.attempts] == ["1", "2", "3"]


def test_nextest_says_failure_though_the_last_attempt_passed() -> None:
    report = read(
        '<testsuites name="nextest-run" tests="1"><testsuite name="crate"><testcase name="t" classname="crate">'
        '<failure type="flaky failure"/><flakyFailure message="1" type="test failure">one</flakyFailure></testcase>'
        "</testsuite></testsuites>"
    )
    assert seen(case(report, "t")) == ("PASS", ["FAIL", "PASS"], E)


def test_flank_says_flaky_with_a_failure_inside() -> None:
    report = read(
        '<testsuite><testcase name="t" classname="c" flaky="true"><failure>x</failure></testcase></testsuite>'
    )
    assert seen(case(report, "t")) == ("PASS", ["FAIL", "PASS"], E)


GRADLE = (
    '<testsuite name="c" tests="2" skipped="0" failures="1" errors="0" timestamp="2026-01-01T00:00:00" hostname="h" '
    'time="1">{}</testsuite>'
)
FAIL, PASS = '<testcase name="t" classname="c"><failure/></testcase>', '<testcase name="t" classname="c"/>'


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        (FAIL + PASS, ("PASS", ["FAIL", "PASS"], D)),
        (FAIL + FAIL, ("FAIL", ["FAIL", "FAIL"], D)),
        (PASS + FAIL, ("FAIL", ["PASS", "FAIL"], A)),
        (PASS + PASS, ("PASS", ["PASS", "PASS"], A)),
    ],
)
def test_gradle_writes_each_retry_as_a_case(cases: str, expected: tuple[str, list[str], Provenance]) -> None:
    assert seen(case(read(GRADLE.format(cases)), "t")) == expected


PYTEST = '<testsuites name="pytest tests"><testsuite name="pytest" tests="1">{}</testsuite></testsuites>'


def test_pytest_rerunfailures_writes_failed_attempts_as_passes() -> None:
    assert seen(case(read(PYTEST.format(PASS + PASS + FAIL)), "t")) == ("FAIL", ["FAIL", "FAIL", "FAIL"], D)
    recovered = case(read(PYTEST.format(PASS + PASS)), "t")
    assert seen(recovered) == ("PASS", ["FAIL", "PASS"], D)
    assert recovered.attempts[0].failures[0].text == ""


def test_pytest_call_failure_and_teardown_error_are_one_attempt() -> None:
    teardown = '<testcase name="t" classname="c"><error message="failed on teardown with x">down</error></testcase>'
    one = case(read(PYTEST.format(FAIL.replace("<failure/>", "<failure>call</failure>") + teardown)), "t")
    assert seen(one) == ("ERROR", ["ERROR"], E)
    assert [failure.text for failure in one.attempts[0].failures] == ["call", "down"]


GO = (
    '<testsuites tests="1"{}><testsuite name="p"{}><properties><property name="go.version" value="go1.22"/></properties>'
    "{}</testsuite></testsuites>"
)


def test_gotestsum_sorts_reruns_by_outcome() -> None:
    report = read(GO.format(' name="x"', "", FAIL + FAIL + PASS))
    assert report.producer == "gotestsum"
    assert seen(case(report, "t")) == ("PASS", ["FAIL", "FAIL", "PASS"], D)


def test_go_repetitions_are_not_retries() -> None:
    other = '<testcase name="o" classname="c"/>'
    report = read(GO.format(' name="x"', "", FAIL + PASS + other + other))
    assert seen(case(report, "t")) == ("FAIL", ["FAIL", "PASS"], A)
    counted = read(GO.format("", ' id="0"', FAIL + PASS))
    assert counted.producer == "go-junit-report"
    assert seen(case(counted, "t")) == ("FAIL", ["FAIL", "PASS"], A)


def test_testng_writes_failed_attempts_as_skips() -> None:
    skip = '<testcase name="t" classname="c"><skipped/></testcase>'
    report = read(
        '<testsuite hostname="h" failures="0" tests="3" name="c" time="0" errors="0" timestamp="x">'
        f"{skip}{skip}{PASS}</testsuite>"
    )
    assert seen(case(report, "t")) == ("PASS", ["FAIL", "FAIL", "PASS"], D)


def test_bazel_keeps_attempts_in_files_of_their_own() -> None:
    def bazel(outcome: str) -> bytes:
        inside = "" if outcome == "pass" else "<error message='exited with error code 1'/>"
        case_ = f"<testcase name='t_shard_1/2' status='run' duration='0' time='0'>{inside}</testcase>"
        return f"<testsuites><testsuite name='//a:t' tests='1'>{case_}</testsuite></testsuites>".encode()

    reading = upload(
        ("a/t/test.xml", bazel("pass")),
        ("a/t/test_attempts/attempt_1.xml", bazel("fail")),
    )
    one = next(reading.report.cases())
    assert one.key[2] == "t"
    assert seen(one) == ("PASS", ["ERROR", "PASS"], D)


def test_an_unknown_producer_naming_a_test_twice_is_ambiguous_and_the_worst_decides() -> None:
    unknown = "<testsuite name='s'>{}</testsuite>"
    for cases in (FAIL + PASS, PASS + FAIL):
        verdict, _, provenance = seen(case(read(unknown.format(cases)), "t"))
        assert (verdict, provenance) == ("FAIL", A)


def test_the_same_test_in_two_files_is_ambiguous() -> None:
    reading = upload(f"<testsuite>{FAIL}</testsuite>".encode(), f"<testsuite>{PASS}</testsuite>".encode())
    assert seen(next(reading.report.cases())) == ("FAIL", ["FAIL", "PASS"], A)


def test_the_same_file_twice_in_one_upload_counts_once() -> None:
    one = f"<testsuite>{FAIL}</testsuite>".encode()
    assert next(upload(one, one).report.cases()).attempts[0].provenance is E


def test_duplicates_of_one_attempt_keep_every_text() -> None:
    report = read(
        "<testsuite><testcase name='t'><failure>a</failure><failure>b</failure><error>c</error></testcase></testsuite>"
    )
    assert [failure.text for failure in case(report, "t").attempts[0].failures] == ["a", "b", "c"]
    assert case(report, "t").verdict.name == "ERROR"


def test_names_that_only_look_volatile_stay_tests_of_their_own() -> None:
    def dated(date: str, inside: str = "") -> str:
        return f'<testcase classname="c" name="t[{date}T00:00:00Z]">{inside}</testcase>'

    report = read(PYTEST.format(dated("2024-01-01", "<failure/>") + dated("2024-06-01")))
    assert [(one.key[2], one.verdict.name, len(one.attempts)) for one in report.cases()] == [
        ("t[<time>]", "FAIL", 1),
        ("t[<time>] #2", "PASS", 1),
    ]


def test_the_same_test_in_two_suites_of_one_file_is_no_retry() -> None:
    suite = '<testsuite name="pytest">{}</testsuite>'
    report = read(f'<testsuites name="pytest tests">{suite.format(FAIL)}{suite.format(PASS)}</testsuites>')
    assert seen(case(report, "t")) == ("FAIL", ["FAIL", "PASS"], A)


def test_a_test_named_like_a_script_or_like_its_class_is_a_test() -> None:
    failing = '<testcase classname="{}" name="{}"><failure message="m"/></testcase>'
    vitest = f'<testsuites name="vitest tests"><testsuite name="s">{failing.format("a.test.js", "bundles index.js")}</testsuite></testsuites>'
    assert read(vitest).counts()["failed"] == 1
    assert read(SUREFIRE.format(failing.format("Login", "Login"))).counts()["failed"] == 1
    broken = read(
        SUREFIRE.format(failing.format("shop.LoginTest", "shop.LoginTest") + failing.format("shop.Other", ""))
    )
    assert (broken.counts()["tests"], len(broken.run_errors)) == (0, 2)
