"""For every retry style of the producers: attempts, their order, provenance and the final verdict."""

import pytest

from ingest.junit.attempts import Details, Element, Occurrence, attempts_of, join
from ingest.junit.dialects import Repetition
from ingest.junit.limits import Limits
from ingest.junit.report import Attempt, Case, Failure, Provenance
from ingest.verdict import Verdict
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


def test_nextest_says_failure_though_the_last_attempt_passed_and_is_believed_in_both() -> None:
    report = read(
        '<testsuites name="nextest-run" tests="1"><testsuite name="crate"><testcase name="t" classname="crate">'
        '<failure type="flaky failure"/><flakyFailure message="1" type="test failure">one</flakyFailure></testcase>'
        "</testsuite></testsuites>"
    )
    assert seen(case(report, "t")) == ("FAIL", ["FAIL", "PASS"], E)


def test_flank_says_flaky_with_a_failure_inside_and_that_excuses_nothing() -> None:
    report = read(
        '<testsuite><testcase name="t" classname="c" flaky="true"><failure>x</failure></testcase></testsuite>'
    )
    assert seen(case(report, "t")) == ("FAIL", ["FAIL", "PASS"], E)


GRADLE = (
    '<testsuite name="c" tests="2" skipped="0" failures="1" errors="0" timestamp="2026-01-01T00:00:00" hostname="h" '
    'time="1">{}</testsuite>'
)
FAIL, PASS = '<testcase name="t" classname="c"><failure/></testcase>', '<testcase name="t" classname="c"/>'


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        (FAIL + PASS, ("FAIL", ["FAIL", "PASS"], D)),
        (FAIL + FAIL, ("FAIL", ["FAIL", "FAIL"], D)),
        (PASS + FAIL, ("FAIL", ["PASS", "FAIL"], A)),
        (PASS + PASS, ("PASS", ["PASS", "PASS"], A)),
    ],
)
@pytest.mark.parametrize("file", [GRADLE, SUREFIRE], ids=["gradle", "surefire"])
def test_a_name_again_is_evidence_of_a_retry_and_the_worst_counts(
    file: str, cases: str, expected: tuple[str, list[str], Provenance]
) -> None:
    assert seen(case(read(file.format(cases)), "t")) == expected


PYTEST = '<testsuites name="pytest tests"><testsuite name="pytest" tests="1">{}</testsuite></testsuites>'


def test_pytest_rerunfailures_writes_failed_attempts_as_passes() -> None:
    assert seen(case(read(PYTEST.format(PASS + PASS + FAIL)), "t")) == ("FAIL", ["FAIL", "FAIL", "FAIL"], D)
    assert seen(case(read(PYTEST.format(FAIL + PASS)), "t")) == ("FAIL", ["FAIL", "PASS"], D)
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


def test_gotestsum_sorts_reruns_by_outcome_and_does_not_say_which_they_are() -> None:
    report = read(GO.format(' name="x"', "", FAIL + FAIL + PASS))
    assert report.producer == "gotestsum"
    assert seen(case(report, "t")) == ("FAIL", ["FAIL", "FAIL", "PASS"], D)


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


TESTNG = {
    "hostname": "h", "failures": "0", "tests": "2", "name": "c", "time": "0", "errors": "0",
    "timestamp": "2025-06-03T10:11:12 CEST",
}  # fmt: skip


@pytest.mark.parametrize("turn", range(0, 9, 2))
@pytest.mark.parametrize("more", [{}, {"skipped": "1"}, {"skipped": "1", "ignored": "0"}])
@pytest.mark.parametrize(
    "timestamp", ["3 Jun 2025 08:11:12 GMT", "2025-06-03T10:11:12 IST", "3 Jun 2025 08:11:12 GMT+05:30"]
)
@pytest.mark.parametrize(("last", "verdict"), [(PASS, "PASS"), (FAIL, "FAIL")])
def test_testng_is_known_whatever_the_order_of_its_attributes(
    turn: int, more: dict[str, str], timestamp: str, last: str, verdict: str
) -> None:
    pairs = list((TESTNG | more | {"timestamp": timestamp}).items())
    head = " ".join(f'{name}="{value}"' for name, value in pairs[turn:] + pairs[:turn])
    report = read(f'<testsuite {head}><testcase name="t" classname="c"><skipped/></testcase>{last}</testsuite>')
    assert report.producer == "testng"
    assert seen(case(report, "t")) == (verdict, ["FAIL", verdict], D)


@pytest.mark.parametrize("timestamp", ["", ' timestamp="2025-06-03T10:11:12"'])
def test_testng_is_known_by_its_comment(timestamp: str) -> None:
    cases = '<testcase name="t" classname="c"><skipped/></testcase>' + PASS
    document = f'<?xml version="1.0"?>\n<!-- {{}} --><testsuite name="c" tests="2"{timestamp}>{cases}</testsuite>'
    report = read(document.format("Generated by org.testng.reporters.JUnitReportReporter"))
    assert seen(case(report, "t")) == ("PASS", ["FAIL", "PASS"], D)
    assert read(document.format("Generated by somebody.else")).producer == "unknown"


def test_the_same_attributes_without_a_zone_are_not_testng() -> None:
    head = " ".join(
        f'{name}="{value}"' for name, value in sorted((TESTNG | {"timestamp": "2025-06-03T10:11:12"}).items())
    )
    report = read(f'<testsuite {head}><testcase name="t" classname="c"><skipped/></testcase>{PASS}</testsuite>')
    assert (report.producer, seen(case(report, "t"))[2]) == ("unknown", A)


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
    elsewhere = upload(("b/t/test.xml", bazel("pass")), ("a/t/test_attempts/attempt_1.xml", bazel("fail")))
    assert seen(next(elsewhere.report.cases())) == ("ERROR", ["ERROR", "PASS"], A)
    unfinished = upload(
        ("a/t/test_attempts/attempt_2.xml", bazel("pass")), ("a/t/test_attempts/attempt_1.xml", bazel("fail"))
    )
    assert seen(next(unfinished.report.cases())) == ("ERROR", ["ERROR", "PASS"], A)
    flat = upload(
        ("test.xml", bazel("fail")), ("test.xml", bazel("pass")), ("x/test_attempts/attempt_1.xml", b"<testsuite/>")
    )
    assert seen(next(flat.report.cases())) == ("ERROR", ["ERROR", "PASS"], A)


@pytest.mark.parametrize("last", ["<failure/>", "<rerunFailure/>", '<error message="x"/>'])
@pytest.mark.parametrize("count", [99, 100, 101, 250])
def test_no_number_of_attempts_hides_how_a_test_ended(count: int, last: str) -> None:
    flaky = "<flakyFailure/>" * count
    for children in (flaky + last, last + flaky, flaky + last + flaky):
        one = case(read(SUREFIRE.format(f'<testcase classname="s.T" name="t">{children}</testcase>')), "t")
        assert one.verdict.failing
        assert len(one.attempts) <= 100


def test_no_number_of_cases_of_one_name_hides_a_failure() -> None:
    for file in (GRADLE, PYTEST, "<testsuite>{}</testsuite>"):
        for cases in (PASS * 150 + FAIL, FAIL + PASS * 150, PASS * 99 + FAIL + PASS * 99):
            assert case(read(file.format(cases)), "t").verdict.failing
    files = [f"<testsuite id='{index}'>{PASS}</testsuite>".encode() for index in range(120)]
    assert next(upload(*files, f"<testsuite>{FAIL}</testsuite>".encode()).report.cases()).verdict.failing


@pytest.mark.parametrize(
    "children",
    [
        "<flakyFailure/><rerunFailure/>",
        "<rerunError/><flakyError/>",
        "<flakyFailure/><failure/>",
        "<skipped/><failure/>",
    ],
)
def test_a_pass_at_last_is_believed_only_where_nothing_contradicts_it(children: str) -> None:
    report = read(SUREFIRE.format(f'<testcase classname="s.T" name="t">{children}</testcase>'))
    assert case(report, "t").verdict.failing


def test_a_case_that_says_failed_is_not_saved_by_what_is_inside() -> None:
    for inside in ("<flakyFailure/>", "<skipped/>", ""):
        for status in ('status="failed"', 'result="Failure"', 'status="run" result="FAILED"', 'outcome="error"'):
            report = read(f'<testsuite><testcase name="t" {status}>{inside}</testcase></testsuite>')
            assert case(report, "t").verdict.failing, (status, inside)


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


def newman(*suites: tuple[str, str, str]) -> str:
    """Suites by their request's name, the end of its id and what is in its only case."""
    written = "".join(
        f'<testsuite name="{name}" id="343ef95b-8f51-404d-bb04-9c7e03c422f{number}" tests="1" failures="0" errors="0" time="0.1">'
        f'<testcase name="is ok" time="0.1" classname="Shop">{inside}</testcase></testsuite>'
        for name, number, inside in suites
    )
    return f'<testsuites name="Shop" tests="{len(suites)}" time="1">{written}</testsuites>'


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (("", ""), ("PASS", ["PASS", "PASS"], D)),
        (("<failure/>", "", ""), ("FAIL", ["FAIL", "PASS", "PASS"], D)),
        (("", "<failure/>"), ("FAIL", ["PASS", "FAIL"], D)),
    ],
)
def test_newmans_iterations_are_executions_in_order(
    outcomes: tuple[str, ...], expected: tuple[str, list[str], Provenance]
) -> None:
    suites = [request for inside in outcomes for request in (("Cart", "1", inside), ("Login", "2", ""))]
    report = read(newman(*suites))
    assert report.producer == "newman"
    assert [key[0] for key in report.keys] == ["Cart", "Login"]
    assert seen(next(report.cases())) == expected
    assert "merged_names" not in report.warnings


@pytest.mark.parametrize("order", ["12", "121", "112"])
def test_two_requests_of_one_name_are_no_iterations(order: str) -> None:
    report = read(newman(*(("Cart", number, "<failure/>" if number == "1" else "") for number in order)))
    assert (seen(next(report.cases()))[0], seen(next(report.cases()))[2]) == ("FAIL", A)


# -- of more attempts than are kept ------------------------------------------------------------------------------

WEIGHTS = (("flakyFailure", "flakyError"), ("rerunFailure",), ("rerunError",), ("failure",), ("error",))
"""From what says least of how a test ended to what says most."""


def kept(*tags: str, limit: int) -> list[int]:
    """Which of these elements stay."""
    details = Details()
    added = [details.add(Element(tag, message=str(place)), limit) for place, tag in enumerate(tags)]
    assert added == [place < limit for place in range(len(tags))]
    return [int(element.message) for element in details.elements]


def test_of_two_elements_the_one_that_decides_is_kept() -> None:
    for place, heavier in enumerate(WEIGHTS):
        for lighter in (tag for tags in WEIGHTS[:place] for tag in tags):
            for tag in heavier:
                assert (kept(lighter, tag, limit=1), kept(tag, lighter, limit=1)) == ([1], [0]), (lighter, tag)
        assert kept(*heavier, heavier[0], limit=1) == [0]


def test_what_goes_is_the_last_of_those_that_decide_least() -> None:
    assert kept("flakyFailure", "flakyFailure", "flakyFailure", "failure", limit=3) == [0, 1, 3]
    assert kept("failure", "flakyFailure", "flakyFailure", "error", limit=3) == [0, 1, 3]
    assert kept("flakyFailure", "rerunError", "failure", "error", "error", limit=3) == [2, 3, 4]
    assert kept("flakyFailure", "flakyError", "flakyFailure", "flakyError", limit=3) == [0, 1, 2]
    assert kept("flakyFailure", "rerunFailure", "rerunFailure", "rerunFailure", "rerunFailure", limit=2) == [1, 2]


def test_attempts_that_are_not_kept_are_told() -> None:
    for count, told in ((2, []), (3, ["too_many_attempts"])):
        text = SUREFIRE.format(f'<testcase classname="s.T" name="t">{"<flakyFailure/>" * count}</testcase>')
        assert [warning.code for warning in read(text, Limits(attempts=2)).warnings] == told


# -- what an attempt keeps ---------------------------------------------------------------------------------------

SAID = "<system-out>out</system-out><system-err>err</system-err>"


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        (f"<failure/>{SAID}", [("FAIL", 2.0, "out", "err")]),
        (f"<flakyFailure/>{SAID}", [("FAIL", None, "", ""), ("PASS", 2.0, "out", "err")]),
        (
            f'<flakyError time="0.5">{SAID.replace("out<", "before<")}</flakyError>{SAID}',
            [("ERROR", 0.5, "before", "err"), ("PASS", 2.0, "out", "err")],
        ),
        (f'<failure/><rerunFailure time="0.5"/>{SAID}', [("FAIL", 2.0, "out", "err"), ("FAIL", 0.5, "", "")]),
        (
            f'<failure type="flaky failure"/><flakyFailure/>{SAID}',
            [("FAIL", None, "", ""), ("PASS", 2.0, "out", "err")],
        ),
        (
            '<failure type="flaky failure"/><failure/><flakyFailure/>',
            [("FAIL", None, "", ""), ("FAIL", 2.0, "", "")],
        ),
    ],
    ids=["failed", "recovered", "recovered with output", "failed again", "recovered and failed", "failed twice"],
)
def test_time_and_output_of_a_case_are_of_its_own_attempt(children: str, expected: list[tuple]) -> None:
    report = read(SUREFIRE.format(f'<testcase classname="s.T" name="t" time="2">{children}</testcase>'))
    found = case(report, "t").attempts
    assert [(one.verdict.name, one.duration, one.system_out, one.system_err) for one in found] == expected


def test_a_case_that_says_that_it_flaked_keeps_its_time_for_the_pass() -> None:
    flank = f'<testsuite><testcase name="t" flaky="true" time="2"><error>x</error>{SAID}</testcase></testsuite>'
    first, last = case(read(flank), "t").attempts
    assert (first.verdict, first.duration, first.failures[0].text) == (Verdict.ERROR, None, "x")
    assert (last.verdict, last.duration, last.system_out) == (Verdict.PASS, 2.0, "out")


@pytest.mark.parametrize(
    ("details", "status", "expected"),
    [
        (Details(), None, "PASS"),
        (Details(), Verdict.SKIP, "SKIP"),
        (Details(), Verdict.PASS, "PASS"),
        (Details(skipped=True), None, "SKIP"),
        (Details(skipped=True), Verdict.PASS, "SKIP"),
    ],
)
def test_a_case_that_did_not_fail_has_no_attempts(details: Details, status: Verdict | None, expected: str) -> None:
    verdict, attempts = attempts_of(details, status, 1.0)
    assert (verdict.name, attempts) == (expected, ())


@pytest.mark.parametrize("status", [Verdict.FAIL, Verdict.ERROR])
def test_a_case_that_fails_by_a_word_alone_has_an_attempt_without_text(status: Verdict) -> None:
    failed = (status, (Attempt(status, 1.0, failures=(Failure(status),)),))
    assert attempts_of(Details(), status, 1.0) == failed
    assert attempts_of(Details(skipped=True), status, 1.0) == failed


def test_what_may_fail_is_skipped_only_where_the_case_says_skipped() -> None:
    elements = [Element("failure")]
    assert attempts_of(Details(elements, skipped=True), None, 1.0, may_fail=True) == (Verdict.SKIP, ())
    assert attempts_of(Details(elements), None, 1.0, may_fail=True)[0] is Verdict.FAIL
    assert attempts_of(Details(elements, skipped=True), None, 1.0)[0] is Verdict.FAIL


def test_a_pass_follows_a_failure_only_where_the_case_says_that_it_flaked() -> None:
    details = Details([Element("failure")])
    for options, expected in (({}, [Verdict.FAIL]), ({"flaky": True}, [Verdict.FAIL, Verdict.PASS])):
        assert [attempt.verdict for attempt in attempts_of(details, None, 1.0, **options)[1]] == expected


# -- the same test named again -----------------------------------------------------------------------------------

P, F, X, S = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.SKIP


@pytest.mark.parametrize(
    ("again", "named", "verdict", "attempts", "provenance"),
    [
        (Repetition.UNKNOWN, [F, P], F, [F, P], A),
        (Repetition.UNKNOWN, [S, P], P, [S, P], A),
        (Repetition.RETRIED, [F, X, P], X, [F, X, P], D),
        (Repetition.RETRIED, [F, P, P], F, [F, P, P], A),
        (Repetition.RETRIED, [F, S], F, [F, S], D),
        (Repetition.LOST, [P, P], P, [F, P], D),
        (Repetition.LOST, [P, S], S, [F, S], D),
        (Repetition.LOST, [P, X, P], X, [F, X, P], D),
        (Repetition.LOST, [S, P], P, [S, P], A),
        (Repetition.LOST, [P, S, P], P, [P, S, P], A),
        (Repetition.SKIPPED, [S, S, P], P, [F, F, P], D),
        (Repetition.SKIPPED, [S, F], F, [F, F], D),
        (Repetition.SKIPPED, [S, S], S, [F, S], D),
        (Repetition.SKIPPED, [S, P, P], P, [S, P, P], A),
        (Repetition.SKIPPED, [F, P], F, [F, P], A),
        (Repetition.SORTED, [P, F], F, [F, P], D),
        (Repetition.SORTED, [X, F], X, [X, F], D),
        (Repetition.SORTED, [P, S], P, [P, S], A),
    ],
)
def test_what_a_name_again_means(
    again: Repetition, named: list[Verdict], verdict: Verdict, attempts: list[Verdict], provenance: Provenance
) -> None:
    found, joined = join([Occurrence(one, 1.0, ()) for one in named], again)
    assert (found, [one.verdict for one in joined]) == (verdict, attempts)
    assert {(one.provenance, one.duration) for one in joined} == {(provenance, 1.0)}
    lost = [one for one, written in zip(joined, named, strict=True) if one.verdict.failing and not written.failing]
    assert again is Repetition.SORTED or all(one.failures == (Failure(F),) for one in lost)


def test_retries_that_are_believed_end_as_the_last_of_them() -> None:
    named = [Occurrence(verdict, None, ()) for verdict in (F, F, P)]
    for again, expected in ((Repetition.RETRIED, P), (Repetition.SORTED, P), (Repetition.UNKNOWN, F)):
        assert join(named, again, believed=True)[0] is expected
        assert join(named, again)[0] is F


def failed(verdict: Verdict, message: str) -> Attempt:
    return Attempt(verdict, 1.0, failures=(Failure(verdict, "", message),))


TEARDOWN = Occurrence(X, 0.5, (failed(X, "failed on teardown with x"),))


def test_a_teardown_belongs_to_the_last_attempt_before_it() -> None:
    call = Occurrence(F, 2.0, (failed(F, "first"), failed(F, "second")))
    verdict, attempts = join([call, TEARDOWN], Repetition.LOST)
    assert verdict is X
    assert [(attempt.verdict, [failure.message for failure in attempt.failures]) for attempt in attempts] == [
        (F, ["first"]),
        (X, ["second", "failed on teardown with x"]),
    ]
    verdict, attempts = join([Occurrence(P, 2.0, ()), TEARDOWN], Repetition.LOST)
    assert (verdict, [(attempt.verdict, attempt.duration, len(attempt.failures)) for attempt in attempts]) == (
        X,
        [(X, 2.0, 1)],
    )


@pytest.mark.parametrize(
    ("again", "second"),
    [
        (Repetition.RETRIED, TEARDOWN),
        (Repetition.UNKNOWN, TEARDOWN),
        (Repetition.LOST, Occurrence(X, 0.5, (failed(X, "failed on setup"),))),
        (Repetition.LOST, Occurrence(F, 0.5, (failed(F, "failed on teardown with x"),))),
        (Repetition.LOST, Occurrence(X, 0.5, ())),
    ],
    ids=["of a retry", "of nobody", "a setup", "a failure", "no text"],
)
def test_an_error_that_is_no_teardown_of_pytest_is_an_attempt_of_its_own(again: Repetition, second: Occurrence) -> None:
    assert len(join([Occurrence(F, 2.0, (failed(F, "call"),)), second], again)[1]) == 2


def test_a_teardown_alone_is_an_attempt_and_so_is_one_after_it() -> None:
    assert [one.verdict for one in join([TEARDOWN, Occurrence(P, 1.0, ())], Repetition.LOST)[1]] == [X, P]
