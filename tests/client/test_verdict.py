"""What is printed: readable, on one line each, and never an order to the CI."""

from __future__ import annotations

from typing import Any

import pytest
from flakeboard.console import plain
from flakeboard.gate import github_summary, verdict
from flakeboard.gate.decision import Decision, decision_from

from tests.client.misbehaving import PASSED, TOKEN, failing, refused

NASTY = (
    "a\n::set-output name=x::y\r\n##vso[task.setvariable]z ##teamcity[x] \x1b[31m %0A 100% a,b:c | `x` <img> " + TOKEN
)


def nasty() -> Decision:
    one = {**failing(NASTY, classname="c:d,e", file="a,b:c%.py"), "sentence": NASTY}
    return decision_from({**refused(one), "sentence": NASTY, "page": "javascript:alert(1)"})


def test_what_came_from_outside_stays_on_one_line_and_gives_no_orders() -> None:
    line = plain(NASTY)
    assert "\n" not in line and "\r" not in line and "\x1b" not in line
    assert "##" not in line
    assert TOKEN not in line
    assert len(plain("x" * 10_000)) == 500


def test_every_line_of_a_verdict_begins_with_our_own_words() -> None:
    for line in verdict.lines(nasty(), 1, 1):
        assert line.startswith(("flakeboard: ", "  BLOCKS", "  passes", "  why: ", "  see: ", "  and "))
        assert "\n" not in line


def test_annotations_are_escaped() -> None:
    (line,) = github_summary.error_lines(nasty())
    assert line.startswith("::error file=a%2Cb%3Ac%25.py,title=c%3Ad%2Ce %3A%3A a %3A%3Aset-output")
    assert "%250A 100%25" in line
    assert line.count("::") == 2 + plain(NASTY).count("::")
    assert "\n" not in line


def test_escaping_is_as_github_undoes_it() -> None:
    assert github_summary.escape_data("50% a\r\nb:c,d") == "50%25 a%0D%0Ab:c,d"
    assert github_summary.escape_property("50% a\r\nb:c,d") == "50%25 a%0D%0Ab%3Ac%2Cd"


def test_no_more_annotations_than_github_shows() -> None:
    many = decision_from(refused(*(failing(f"test_{number}") for number in range(30))))
    assert len(github_summary.error_lines(many)) == 10


def test_a_summary_says_what_helps_against_a_flaky_test() -> None:
    row = {"name": "test_total", "class": "flaky", "sentence": "It is flaky.", "remedy": "Compare with a tolerance."}
    known = decision_from({"decided": True, "failing": [row, {**row, "remedy": ["no text"]}]})
    first, second = (line for line in github_summary.summary(known, 1, 1).splitlines() if "test\\_total" in line)
    assert first.endswith("It is flaky\\. What helps\\: Compare with a tolerance\\. |")
    assert second.endswith("It is flaky\\. |"), "from an older server, or nonsense"


def test_a_summary_links_to_fixes_of_tests_like_it_and_to_nothing_else() -> None:
    address = "https://github.com/corp/shop/compare/" + "a" * 40 + "..." + "b" * 40
    nonsense = ["javascript:alert(1)", "https://x/)[a](http://y", "https://x/ y", 7, "https://x/|"]
    row = {"name": "test_total", "class": "flaky", "sentence": "It is flaky.", "fixes": [*nonsense, address]}
    known = decision_from({"decided": True, "failing": [row, {**row, "fixes": "https://x"}]})
    first, second = (line for line in github_summary.summary(known, 1, 1).splitlines() if "test\\_total" in line)
    assert first.endswith(f"It is flaky\\. Fixes of tests like it: [1]({address}) |")
    assert second.endswith("It is flaky\\. |")
    four = decision_from({"decided": True, "failing": [{**row, "fixes": [address] * 4}]})
    assert len(four.failing[0].fixes) == 3


def test_a_summary_has_no_markup_from_outside() -> None:
    text = github_summary.summary(nasty(), 1, 1)
    assert "<img>" not in text and "javascript" not in text
    rows = [line for line in text.splitlines() if line.startswith("| blocks")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 4


def test_many_failing_tests_are_counted_not_listed() -> None:
    many = decision_from(refused(*(failing(f"test_{number}") for number in range(80))))
    assert "  and 30 more" in verdict.lines(many, 1, 1)


def test_a_pass_and_a_decision_that_is_out_are_told_apart() -> None:
    assert "PASS" in verdict.lines(decision_from(PASSED), 0, 1)[0]
    assert "NOT DECIDED" in verdict.lines(decision_from({**PASSED, "decided": False}), 1, 1)[0]


def test_more_failing_tests_than_the_answer_names_are_not_cleared_by_reruns() -> None:
    many = decision_from(refused(*(failing(f"test_{number}", reruns=1) for number in range(500))))
    assert not many.may_be_rerun


@pytest.mark.parametrize(
    "answer",
    [
        {**PASSED, "decided": False},
        {**PASSED, "passed": "true"},
        {**PASSED, "passed": 1},
        {"passed": True},
        {},
        {**PASSED, "failing": "none", "reasons": 3, "passed": None},
    ],
)
def test_only_a_decided_pass_is_a_pass(answer: dict[str, Any]) -> None:
    assert not decision_from(answer).passed


@pytest.mark.parametrize("code", ["cut_short", "run_errors", "too_few_tests", "report_partial", "exit_code_not_tests"])
def test_what_is_wrong_with_the_run_is_not_answered_by_reruns(code: str) -> None:
    assert decision_from(refused(failing("test_a", reruns=1))).may_be_rerun
    assert not decision_from(refused(failing("test_a", reruns=1), code=code)).may_be_rerun
