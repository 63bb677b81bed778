"""Reports that real tools wrote on suites of ours, of which the truth is known."""

import json

import pytest

from ingest.junit.report import Case, ParsedReport, Provenance
from tests.ingest.junit.reading import read, upload
from tests.paths import PRODUCERS

COUNTS = ("tests", "passed", "failed", "errored", "skipped")
EXPECTED = json.loads((PRODUCERS / "expected.json").read_text())
DIFFERENCES = json.loads((PRODUCERS.parent / "differences.json").read_text())["producers"]


@pytest.mark.parametrize("name", EXPECTED)
def test_counts_are_what_the_suite_did(name: str) -> None:
    truth, file = EXPECTED[name], upload((name, (PRODUCERS / name).read_bytes())).files[0]
    readable = truth.get("readable") or truth
    counts, run_errors = [readable[column] for column in COUNTS], len(truth["run_errors"])
    if known := DIFFERENCES.get(name):
        assert known["reason"]
        assert (known["counts"], known["run_errors"]) != (counts, run_errors), (
            "no longer different: take it off the list"
        )
        counts, run_errors = known["counts"], known["run_errors"]
    assert [file[column] for column in COUNTS] == counts
    assert file["run_errors"] == run_errors


@pytest.mark.parametrize("name", EXPECTED)
def test_no_order_is_claimed_that_is_not_true(name: str) -> None:
    claimed = upload((name, (PRODUCERS / name).read_bytes())).files[0]["order_reliable"]
    assert EXPECTED[name]["order_is_execution_order"] or not claimed


WORDS = {"passed": "PASS", "failed": "FAIL", "errored": "ERROR", "skipped": "SKIP"}
HOW = {"explicit": Provenance.EXPLICIT, "duplicate": Provenance.DUPLICATE, "reordered": Provenance.DUPLICATE}


WRITTEN = [
    name
    for name, truth in EXPECTED.items()
    if truth["attempts"] and truth.get("attempts_in_file") in HOW and name != "testng-junitreports.xml"  # in no order
]


def find(report: ParsedReport, written: str) -> Case:
    """A case by its name; by `class::name`, or `project::name` where two Playwright projects ran it."""
    where, _, name = written.rpartition("::")
    return next(
        case
        for case in report.cases()
        if case.key[2] == name and (case.key[0].startswith(where) or case.key[1] == where)
    )


@pytest.mark.parametrize("name", WRITTEN)
def test_attempts_are_found_in_their_order_with_their_provenance(name: str) -> None:
    truth = EXPECTED[name]
    report = read((PRODUCERS / name).read_bytes())
    for written, outcomes in truth["attempts"].items():
        found = find(report, written)
        if len(set(outcomes)) == 1 and outcomes[0] == "passed":
            continue  # a retried group: the file does not say that its passing members ran again
        verdicts = [attempt.verdict.name for attempt in found.attempts]
        true = [WORDS[outcome] for outcome in outcomes]
        # Where texts are lost (pytest), whether a lost attempt failed or errored is lost with them.
        assert [verdict in ("FAIL", "ERROR") for verdict in verdicts] == [one in ("FAIL", "ERROR") for one in true]
        assert verdicts[-1] == true[-1]
        assert {attempt.provenance for attempt in found.attempts} == {HOW[truth["attempts_in_file"]]}


def test_the_serial_pytest_report_has_a_true_order() -> None:
    assert read((PRODUCERS / "pytest-xunit2.xml").read_bytes()).order_reliable
    assert not read((PRODUCERS / "pytest-xdist.xml").read_bytes()).order_reliable


STATED = (
    '<testsuite name="s"><properties><property name="flakeboard.order" value="executed"/></properties>{}</testsuite>'
)
CASES = '<testcase classname="c" name="a"/><testcase classname="c" name="b"/>'


def test_a_stated_order_is_believed_of_any_producer_but_not_of_half_a_file_or_scattered_attempts() -> None:
    assert read(STATED.format(CASES).encode()).order_reliable
    assert not read(f'<testsuite name="s">{CASES}</testsuite>'.encode()).order_reliable
    assert not read(STATED.format(CASES).encode()[:-12]).order_reliable, "the rest is missing"
    again = CASES + '<testcase classname="c" name="a"><failure>x</failure></testcase>'
    assert not read(STATED.format(again).encode()).order_reliable, "where a ran is told twice"
