"""Words of a runner before or behind a report, and further reports behind it."""

import gzip

import pytest

from ingest.junit.limits import Limits
from ingest.junit.report import ParsedReport
from tests.extent import slice_of
from tests.ingest.junit.reading import read, refusal, upload

DECLARED = '<?xml version="1.0" encoding="UTF-8"?>\n'
GOOD = (
    '<testsuites>\n  <testsuite name="s">\n    <testcase classname="c" name="good"/>\n  </testsuite>\n</testsuites>\n'
)
BAD = '<testsuite name="t"><testcase classname="c" name="bad"><failure message="m"/></testcase></testsuite>\n'


def outcome(report: ParsedReport) -> tuple[list[str], list[str], list[str]]:
    """Verdicts by name, codes of warnings, codes of what is not understood."""
    tests = [f"{case.key[2]} {case.verdict.name}" for case in report.cases()]
    return tests, [warning.code for warning in report.warnings], [one.code for one in report.not_understood]


WORDS = {
    "behind": (DECLARED + GOOD + "Program code.\n", ["good PASS"]),
    "on the same line": (GOOD.strip() + "trailing", ["good PASS"]),
    "before": ("Program code.\n" + DECLARED + GOOD, ["good PASS"]),
    "before, as Maven logs": ("[INFO] running\n" + DECLARED + GOOD, ["good PASS"]),
    "before, without a declaration": ("some words\n  " + GOOD, ["good PASS"]),
    "before and behind": ("* 3-format ****\n" + GOOD + "\x1b[32mdone\x1b[0m é\n", ["good PASS"]),
    "between": (GOOD + "and now:\n" + DECLARED + BAD, ["good PASS", "bad FAIL"]),
    "behind an empty root": ("<testsuites/>\nno tests\n", []),
    "an assertion outside of tests": (GOOD + "a.cpp(17): ERROR: CHECK_EQ( true, false ) is NOT correct!\n", ["good PASS"]),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), WORDS.values(), ids=WORDS)
def test_words_are_set_aside_with_a_warning(document: str, expected: list[str]) -> None:
    report = read(document)
    assert outcome(report) == (expected, ["words"], [])
    assert not report.partial


@pytest.mark.parametrize(
    "words",
    ["3 failed, 2 passed", "not ok 1 - t", "--- FAIL: TestReal", "<testcase name='x'><failure/></testcase>",
     "<test-case result='Failed'/>", "&lt;testcase", "<result status='failed'/>", "Traceback (most recent call last):"],
)  # fmt: skip
def test_words_that_look_like_results_are_not_understood(words: str) -> None:
    for document in (f"{GOOD}{words}\n", f"x\n{words}\n{GOOD}"):
        report = read(document)
        assert outcome(report) == (["good PASS"], [], ["words"])
        assert report.not_understood[0].line == (5 if document.startswith("<") else 1)


@pytest.mark.parametrize(
    "document",
    [GOOD + BAD, GOOD.strip() + BAD, DECLARED + GOOD + DECLARED + BAD, GOOD + "<!-- x -->\n" + BAD, GOOD + BAD + "<testsuite/>"],
)  # fmt: skip
def test_further_roots_are_read(document: str) -> None:
    report = read(document)
    assert outcome(report)[0] == ["good PASS", "bad FAIL"]
    assert outcome(report)[2] == []
    assert not report.order_reliable


def test_a_name_in_two_roots_is_no_retry_and_the_worst_counts() -> None:
    again = BAD.replace("bad", "good").replace('"t"', '"s"')
    assert outcome(read(GOOD + again))[:2] == (["good FAIL"], ["merged_names"])


def test_a_further_root_that_breaks_off_leaves_the_report_partial() -> None:
    report = read(GOOD + BAD + '<testsuite><testcase name="cut">')
    assert outcome(report)[0] == ["good PASS", "bad FAIL"]
    assert outcome(report)[2] == ["malformed"]
    cut = read(GOOD + BAD.replace("</testsuite>", '<testcase name="cut">'))
    assert (cut.partial, outcome(cut)[0]) == (True, ["good PASS", "bad FAIL"])
    (warning,) = (one for one in cut.warnings if one.code == "partial")
    assert warning.line == 7


@pytest.mark.parametrize("root", ["coverage", "TestRun", "html"])
def test_another_document_behind_the_report_is_not_understood(root: str) -> None:
    report = read(f"{GOOD}{DECLARED}<{root}>x</{root}>")
    assert (outcome(report)[0], len(report.not_understood)) == (["good PASS"], 1)


@pytest.mark.parametrize(
    "behind",
    [bytes(50), gzip.compress(BAD.encode(), mtime=0), BAD.encode("utf-16"), b"\xff\xfe\xff", BAD.encode("cp037")],
)
def test_what_is_no_text_is_refused(behind: bytes) -> None:
    assert refusal(GOOD.encode() + behind).code == "two_roots"
    assert refusal(b"\x89PNG\n" + behind + b"\n" + GOOD.encode()).code == "not_xml"


@pytest.mark.parametrize(
    "document", ["words alone\n", "a <testsuite> in a line\n", '{"a": "\n<testsuite>"}', '["\n<testsuite/>"]']
)
def test_words_without_a_document_are_no_report(document: str) -> None:
    assert refusal(document).code in ("not_xml", "other_format")


def test_roots_and_words_are_found_wherever_a_chunk_ends() -> None:
    long = "".join(f'<testcase classname="c" name="{index}"/>' for index in range(3_500))
    whole = f"<testsuite>{long}</testsuite>"
    for size in slice_of(range(0, 300, 17), 6):
        report = read("w" * size + "\n" + whole + "x" * size + whole.replace('"c"', '"d"') + "y" * size)
        assert len(report.keys) == 7_000
        assert report.not_understood == []


def test_documents_and_cases_of_one_file_are_bounded() -> None:
    assert refusal("<testsuite/>" * 11, Limits(files=10)).code == "limit_files"
    assert refusal(GOOD * 11, Limits(cases=10)).code == "limit_cases"
    assert len(read("<testsuite/>" * 10, Limits(files=10)).suites) == 10


def test_the_ledger_counts_a_file_with_words_as_read() -> None:
    (file,) = upload(("doctest.xml", (DECLARED + GOOD + "Program code.\n").encode())).files
    assert (file["account"], [warning["code"] for warning in file["warnings"]]) == ("read", ["words"])


@pytest.mark.parametrize("behind", ["words\n", "\n"])
def test_words_in_utf_16_that_end_in_half_a_character_are_read_as_far_as_they_go(behind: str) -> None:
    report = read((GOOD + behind + "x").encode("utf-16")[:-1])
    assert outcome(report)[0] == ["good PASS"]
    assert "repaired" in [warning.code for warning in report.warnings]


def test_a_start_in_utf_16_that_cannot_be_decoded_is_repaired() -> None:
    report = read(b"\xff\xfe" + ("words " + "?\n" + GOOD).encode("utf-16-le").replace(b"?\0", b"\0\xd8"))
    assert outcome(report)[0] == ["good PASS"]
