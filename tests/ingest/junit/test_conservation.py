"""Everything in a file is read, or told to be not understood: nothing that may be a failure is dropped in silence."""

import pytest

from ingest.junit.limits import Limits
from tests.ingest.junit.reading import case, read, upload

PASS, FAIL = '<testcase name="good"/>', '<testcase name="bad"><failure message="m">text</failure></testcase>'


def codes(content: str) -> list[str]:
    return sorted({one.code for one in read(content).not_understood})


# -- errors in no case -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["error", "failure", "Error", "FAILURE", "rerunFailure", "flakyError"])
@pytest.mark.parametrize(
    "document",
    [
        '<testsuite name="s">{}' + PASS + "</testsuite>",
        '<testsuite name="s">' + PASS + "{}</testsuite>",
        '<testsuites name="s">{}<testsuite name="i">' + PASS + "</testsuite></testsuites>",
        '<testsuites><testsuite name="s"><testsuite name="i">' + PASS + "</testsuite>{}</testsuite></testsuites>",
        '<n:testsuite xmlns:n="urn:x" name="s"><n:testcase name="good"/>{}</n:testsuite>',
    ],
)
def test_an_error_in_no_case_is_a_run_error_with_its_text(document: str, tag: str) -> None:
    told = f'<{tag} type="T" message="class not found"><![CDATA[the trace]]></{tag}>'
    report = read(document.format(told))
    (error,) = report.run_errors
    assert (error.where, error.failure.type, error.failure.message) == ("s", "T", "class not found")
    assert error.failure.text == "the trace"
    assert report.counts()["tests"] == 1


@pytest.mark.parametrize("word", ['status="failed"', 'result="Error"', 'outcome="FAILURE"'])
def test_a_suite_that_says_that_it_failed_though_no_case_did_is_a_run_error(word: str) -> None:
    assert len(read(f'<testsuite name="s" {word}>{PASS}</testsuite>').run_errors) == 1
    assert not read(f'<testsuite name="s" {word}>{FAIL}</testsuite>').run_errors
    assert not read('<testsuite name="s" status="passed"><testcase name="t"/></testsuite>').run_errors


# -- headers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (f'<testsuite failures="1">{FAIL}</testsuite>', []),
        (f'<testsuite failures="2">{FAIL}</testsuite>', ["header_surplus"]),
        (f'<testsuite failures="1" errors="1">{FAIL}</testsuite>', ["header_surplus"]),
        (f'<testsuite errors="1">{PASS}</testsuite>', ["header_surplus"]),
        (f'<testsuite failures="0">{FAIL}</testsuite>', []),
        (f'<testsuites failures="3"><testsuite failures="1">{FAIL}</testsuite></testsuites>', ["header_surplus"]),
        (f'<testsuites><testsuite failures="2">{FAIL}</testsuite>{FAIL}</testsuites>', ["header_surplus"]),
        (f'<testsuites failures="2"><testsuite>{FAIL}</testsuite><testsuite>{FAIL}</testsuite></testsuites>', []),
        ('<testsuite failures="2"><testcase name="t"><failure/><failure/></testcase></testsuite>', []),
        (
            '<testsuite failures="3"><testcase name="t"><failure/><rerunFailure/><rerunFailure/></testcase></testsuite>',
            [],
        ),
        ('<testsuite failures="1"><testcase name="t" status="failed"/></testsuite>', []),
        ('<testsuite errors="3"><error/></testsuite>', []),
        (f'<testsuite failures="x">{PASS}</testsuite>', ["header_unreadable"]),
        (f'<testsuite failures="-1">{PASS}</testsuite>', ["header_unreadable"]),
        (f'<testsuite failures="" errors=" 0 ">{PASS}</testsuite>', []),
        (f'<testsuite tests="9" failures="0">{PASS}</testsuite>', []),
        (f'<testsuite tests="9">{PASS}</testsuite>', ["header_tests"]),
    ],
)
def test_a_header_that_counts_more_failures_than_were_read_is_told(document: str, expected: list[str]) -> None:
    assert codes(document) == expected


def test_where_a_producer_counts_tests_exactly_a_missing_case_is_told() -> None:
    gradle = (
        '<testsuite name="c" tests="{}" skipped="0" failures="0" errors="0" timestamp="2026-01-01T00:00:00" '
        'hostname="h" time="1"><testcase name="t" classname="c"/></testsuite>'
    )
    assert codes(gradle.format(1)) == []
    assert codes(gradle.format(2)) == ["header_tests"]


def test_an_error_among_the_failures_is_no_surplus_unless_the_producer_counts_apart() -> None:
    children = f'{FAIL}<testcase name="t"><error/></testcase>'
    assert codes(f'<testsuite failures="2" errors="1">{children}</testsuite>') == []
    pytest_file = f'<testsuites><testsuite name="pytest" failures="2" errors="1">{children}</testsuite></testsuites>'
    assert codes(pytest_file) == ["header_surplus"]


def test_node_counts_failures_in_comments_at_the_end() -> None:
    failing = '<testcase name="t" time="0" classname="test"><failure/></testcase>'
    document = f"<testsuites>{failing}<!-- tests 3 --><!-- fail {{}} --><!-- cancelled 0 --></testsuites>"
    assert codes(document.format(1)) == []
    assert codes(document.format(2)) == ["header_surplus"]


# -- elements, words, text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["Failure", "FAILURE", "Error", "x:failure"])
def test_endings_are_known_in_any_case_and_namespace(tag: str) -> None:
    report = read(f'<testsuite xmlns:x="urn:x"><testcase name="t"><{tag} message="m"/></testcase></testsuite>')
    assert case(report, "t").verdict.failing
    assert report.not_understood == []


def test_cases_and_suites_are_known_in_any_case() -> None:
    report = read("<testsuites><TestSuite name='s'><TestCase name='t'><Failure/></TestCase></TestSuite></testsuites>")
    assert case(report, "t").verdict.failing
    assert report.not_understood == []


@pytest.mark.parametrize("tag", ["failed", "fail", "exception", "unexpected", "warning", "fbilure", "rerun"])
def test_an_element_of_a_case_that_nobody_knows_is_told(tag: str) -> None:
    report = read(f'<testsuite><testcase name="t"><{tag} message="m"/></testcase></testsuite>')
    (unclear,) = report.not_understood
    assert unclear.code == "unknown_element"
    assert f"<{tag}>" in unclear.sentence


@pytest.mark.parametrize("tag", ["test-case", "unit-test-result", "test", "case", "suite", "results"])
def test_an_element_of_a_suite_that_nobody_knows_is_told(tag: str) -> None:
    for document in (f"<testsuite><{tag} result='failed'/>{PASS}</testsuite>", f"<testsuites><{tag}/></testsuites>"):
        assert codes(document) == ["unknown_element"]


def test_elements_that_tell_nothing_of_an_outcome_are_no_matter() -> None:
    inside = "<properties><property name='a' value='b'/></properties><system-out>x</system-out><attachments/><tags/>"
    assert codes(f"<testsuite>{inside}<testcase name='t'>{inside}</testcase></testsuite>") == []


@pytest.mark.parametrize(
    ("attribute", "verdict", "expected"),
    [
        ('status="run"', "PASS", []),
        ('result="completed" status="run"', "PASS", []),
        ('status="Success"', "PASS", []),
        ('status="weird"', "PASS", ["unknown_verdict"]),
        ('status="run" result="nok"', "PASS", ["unknown_verdict"]),
        ('status="disabled"', "SKIP", []),
        ('result="suppressed" status="notrun"', "SKIP", []),
        ('status="KO"', "FAIL", []),
        ('state="aborted"', "ERROR", []),
    ],
)
def test_words_for_outcomes_are_known_or_told(attribute: str, verdict: str, expected: list[str]) -> None:
    document = f'<testsuite><testcase name="t" {attribute}/></testsuite>'
    assert case(read(document), "t").verdict.name == verdict
    assert codes(document) == expected


def test_a_word_that_nobody_knows_is_no_matter_where_an_element_says_that_the_case_failed() -> None:
    document = '<testsuite><testcase name="t" status="weird">{}</testcase></testsuite>'
    assert codes(document.format("<failure/>")) == []
    assert codes(document.format("<skipped/>")) == ["unknown_verdict"]


@pytest.mark.parametrize(
    "document",
    [
        '<testsuite><testcase name="t">xfailure message="m"/></testcase></testsuite>',
        '<testsuite>xtestcase name="t" status="failed"/><testcase name="u"/></testsuite>',
        "<testsuites>not ok 1</testsuites>",
    ],
)
def test_text_where_elements_belong_is_told(document: str) -> None:
    assert codes(document) == ["stray_text"]


def test_text_inside_elements_that_hold_text_is_no_matter() -> None:
    output = "<system-out>FAILED</system-out>"
    inside = f"{output}<properties><property name='a'>b</property></properties>"
    assert (
        codes(f"<testsuite>{inside}<testcase name='t'>\n {output}<skipped>why</skipped></testcase></testsuite>") == []
    )


@pytest.mark.parametrize("mark", ["<!-- <failure/> -->", '<!--<testcase name="t">-->', "<?failure x?>"])
def test_results_in_comments_are_told(mark: str) -> None:
    assert codes(f'<testsuite><testcase name="t">{mark}</testcase></testsuite>') == ["commented_out"]
    assert codes('<testsuite><!-- a note --><testcase name="t"/></testsuite>') == []


def test_a_case_that_was_allowed_to_fail_is_known_by_its_producers_words_only() -> None:
    node = '<testsuites><testcase name="t" time="0" classname="test">{}<failure/></testcase></testsuites>'
    assert case(read(node.format('<skipped type="todo" message="x"/>')), "t").verdict.name == "SKIP"
    assert case(read(node.format("<skipped/>")), "t").verdict.name == "FAIL"


def test_lines_are_bounded_and_what_is_beyond_is_counted() -> None:
    tags = "".join(f"<odd{index}/>" * 2 for index in range(70))
    report = read(f"<testsuite>{tags}</testsuite>")
    assert len(report.not_understood) == 51
    assert report.not_understood[0].count == 2
    assert (report.not_understood[-1].code, sum(one.count for one in report.not_understood)) == ("more", 140)


def test_lines_of_all_files_are_joined() -> None:
    odd = b"<testsuite><testcase name='t'><odd/></testcase></testsuite>"
    reading = upload(odd, odd + b" ", b"<testsuite><testcase name='u' status='weird'/></testsuite>")
    assert [(one.code, one.count) for one in reading.report.not_understood] == [
        ("unknown_element", 2),
        ("unknown_verdict", 1),
    ]


def test_a_million_odd_elements_end_at_the_limit() -> None:
    document = f"<testsuite><testcase name='t'>{'<flakyFailure/>' * 5_000}</testcase></testsuite>"
    assert len(case(read(document, Limits(attempts=10)), "t").attempts) == 11


def test_names_alike_but_for_what_changes_every_run_are_not_told_apart_for_certain() -> None:
    def dated(date: str, inside: str = "") -> str:
        return f'<testcase classname="c" name="t[{date}T00:00:00Z]">{inside}</testcase>'

    assert codes(f"<testsuite>{dated('2024-01-01')}{dated('2024-06-01')}</testsuite>") == []
    assert codes(f"<testsuite>{dated('2024-01-01', '<failure/>')}</testsuite>") == []
    for cases in (
        dated("2024-01-01", "<failure/>") + dated("2024-06-01"),
        dated("2024-01-01") + dated("2024-06-01", "<failure/>"),
    ):
        assert codes(f"<testsuite>{cases}</testsuite>") == ["alike_names"]


# -- the ledger --------------------------------------------------------------------------------------------------


def test_every_file_has_its_account() -> None:
    files = upload(
        ("a.xml", f"<testsuite failures='2'>{FAIL}</testsuite>".encode()),
        ("b.txt", b"nobody knows\0"),
        ("c.xml", b"<unheard-of/>"),
        ("d.xml", f"<testsuite>{PASS}".encode()),
    ).files
    assert [file["account"] for file in files] == ["read", "not_understood", "not_understood", "read"]
    (unclear,) = files[0]["not_understood"]
    assert (unclear["code"], unclear["count"], unclear["line"]) == ("header_surplus", 1, None)
    assert files[3]["partial"]
