"""TAP 12 to 14."""

import pytest

from tests.ingest.formats.tables import outcome
from tests.ingest.junit.reading import case, read, refusal

HEAD = "TAP version 14\n"
DIAGNOSED = "not ok 1 - a\n  ---\n  duration_ms: 12.5\n  failureType: 'testCodeFailure'\n  error: 'no'\n  stack: |-\n    at b\n  ...\n1..1\n"
SUBTEST = "# Subtest: cart\n    ok 1 - a\n    not ok 2 - b\n    1..2\nnot ok 1 - cart\n1..1\n"

Expected = tuple[dict[str, str], list[str], list[str]]
TAP: dict[str, tuple[str, Expected]] = {
    "passed": ("1..1\nok 1 - a\n", ({"a": "PASS"}, [], [])),
    "failed": ("1..1\nnot ok 1 - a\n", ({"a": "FAIL"}, [], [])),
    "a plan at the end": ("ok 1 - a\n1..1\n", ({"a": "PASS"}, [], [])),
    "without numbers": ("ok - a\nok - b\n1..2\n", ({"a": "PASS", "b": "PASS"}, [], [])),
    "without names": ("1..2\nok 1\nnot ok 2\n", ({"test 1": "PASS", "test 2": "FAIL"}, [], [])),
    "skipped": ("1..1\nok 1 - a # SKIP not here\n", ({"a": "SKIP"}, [], [])),
    "skipped and not ok": ("1..1\nnot ok 1 - a # skip\n", ({"a": "FAIL"}, [], [])),
    "to do": ("1..1\nnot ok 1 - a # TODO later\n", ({"a": "SKIP"}, [], [])),
    "to do and done": ("1..1\nok 1 - a # todo\n", ({"a": "PASS"}, [], [])),
    "an escaped hash": ("1..1\nnot ok 1 - a \\# TODO\n", ({"a # TODO": "FAIL"}, [], [])),
    "a word that begins like a directive": ("1..1\nnot ok 1 - a # todos\n", ({"a # todos": "FAIL"}, [], [])),
    "all skipped": ("1..0 # SKIP no network\n", ({}, [], [])),
    "a diagnosis": (DIAGNOSED, ({"a": "FAIL"}, [], [])),
    "a subtest": (SUBTEST, ({"a": "PASS", "b": "FAIL"}, [], [])),
    "a subtest named from inside": (
        "    # Subtest: cart\n    ok 1 - a\n    1..1\nok 1 - cart\n1..1\n", ({"a": "PASS"}, [], []),
    ),
    "names from outside at every depth": (
        "# Subtest: x\n    # Subtest: a\n    ok 1 - a\n    1..1\nok 1 - x\n# Subtest: b\nok 2 - b\n1..2\n",
        ({"a": "PASS", "b": "PASS"}, [], []),
    ),
    "one subtest after the other": (
        "# Subtest: x\n    ok 1 - a\n    1..1\nok 1 - x\n# Subtest: y\n    ok 1 - b\n    1..1\nok 2 - y\n1..2\n",
        ({"a": "PASS", "b": "PASS"}, [], []),
    ),
    "a hook of bats": ("1..1\nnot ok 1 setup_file failed\n", ({}, ["setup_file failed"], [])),
    "a file that does not load": ("1..1\nnot ok 1 - a/b.test.js\n", ({}, ["a/b.test.js"], [])),
    "a subtest that failed by itself": (
        "# Subtest: cart\n    ok 1 - a\n    1..1\nnot ok 1 - cart\n1..1\n", ({"a": "PASS", "cart": "FAIL"}, [], []),
    ),
    "a subtest whose sum hides a failure": (
        "# Subtest: cart\n    not ok 1 - a\n    1..1\nok 1 - cart\n1..1\n", ({"a": "FAIL"}, [], []),
    ),
    "subtests in subtests": (
        "# Subtest: x\n    # Subtest: y\n        not ok 1 - a\n        1..1\n    not ok 1 - y\n    1..1\nnot ok 1 - x\n1..1\n",
        ({"a": "FAIL"}, [], []),
    ),
    "a subtest that is not summed up": ("ok 1 - z\n    not ok 1 - a\n    1..1\n1..1\n", ({"z": "PASS", "a": "FAIL"}, [], ["subtest_unsummed"])),
    "bail out": ("1..3\nok 1 - a\nBail out! no database\n", ({"a": "PASS"}, ["Bail out!"], [])),
    "fewer than planned": ("1..2\nok 1 - a\n", ({"a": "PASS"}, ["plan"], [])),
    "more than planned": ("1..1\nok 1 - a\nok 2 - b\n", ({"a": "PASS", "b": "PASS"}, ["plan"], [])),
    "fewer than planned in a subtest": (
        "# Subtest: x\n    ok 1 - a\n    1..2\nok 1 - x\n1..1\n", ({"a": "PASS"}, ["plan of 'x'"], []),
    ),
    "out of sequence": ("1..2\nok 1 - a\nok 3 - b\n", ({"a": "PASS", "b": "PASS"}, [], ["out_of_sequence"])),
    "a number twice": ("1..2\nok 1 - a\nok 1 - b\n", ({"a": "PASS", "b": "PASS"}, [], ["out_of_sequence"])),
    "a name twice": ("1..2\nnot ok 1 - a\nok 2 - a\n", ({"a": "FAIL"}, [], [])),
    "two plans": ("1..1\nok 1 - a\n1..1\n", ({"a": "PASS"}, [], ["two_plans"])),
    "two documents": (f"1..1\nok 1 - a\n{HEAD}", ({"a": "PASS"}, [], ["two_documents"])),
    "a damaged line": ("1..1\nok 1 - a\nxnot ok 2 - b\n", ({"a": "PASS"}, [], ["stray_line"])),
    "a line out of step": ("1..1\nok 1 - a\n  not ok 2 - b\n", ({"a": "PASS"}, [], ["stray_line"])),
    "a result after bail out": ("1..1\nok 1 - a\nBail out!\nnot ok 2 - b\n", ({"a": "PASS"}, ["Bail out!"], ["stray_line"])),
    "output between lines": ("1..1\nlistening on 80\nok 1 - a\n", ({"a": "PASS"}, [], [])),
    "sums that count more": ("ok 1 - a\n1..1\n# tests 2\n# pass 1\n# fail 1\n", ({"a": "PASS"}, [], ["header_surplus"])),
    "sums that count what is to do": ("not ok 1 - a # TODO\n1..1\n# fail 1\n", ({"a": "SKIP"}, [], [])),
    "true sums": ("not ok 1 - a\n1..1\n# tests 1\n# fail 1\n", ({"a": "FAIL"}, [], [])),
    "lines that end as on Windows": ("1..1\r\nnot ok 1 - a\r\n", ({"a": "FAIL"}, [], [])),
}  # fmt: skip


@pytest.mark.parametrize("head", ["TAP version 13\n", "TAP version 14\n", ""])
@pytest.mark.parametrize(("document", "expected"), TAP.values(), ids=TAP)
def test_tap(document: str, expected: Expected, head: str) -> None:
    if not head and document.startswith((" ", "Bail")):
        pytest.skip("without its version it does not begin like TAP")
    assert outcome(head + document) == expected


def test_a_diagnosis_becomes_message_text_type_and_time() -> None:
    found = case(read(HEAD + DIAGNOSED), "a")
    (failure,) = found.attempts[0].failures
    assert (failure.message, failure.type, found.duration) == ("no", "testCodeFailure", 0.0125)
    assert "at b" in failure.text


def test_comments_after_a_failure_are_its_text() -> None:
    found = case(read("1..1\nnot ok 1 - a\n#   Failed test 'a'\n#   at t/a.t line 3.\n"), "a")
    assert found.attempts[0].failures[0].text == "Failed test 'a'\nat t/a.t line 3."


def test_a_subtest_is_the_class_of_its_tests() -> None:
    assert read(HEAD + SUBTEST).keys == [("", "cart", "a", "", ""), ("", "cart", "b", "", "")]


@pytest.mark.parametrize("cut", ["ok 1 - a\nnot ok 2 - b\n", "ok 1 - a\nnot ok 2 - b\n  ---\n  error: x\n"])
def test_what_is_cut_off_keeps_what_came_before(cut: str) -> None:
    report = read(HEAD + cut)
    assert report.partial
    (warning,) = report.warnings
    assert (warning.code, warning.column) == ("partial", 1) and warning.line is not None and warning.line >= 3
    assert [one.verdict.name for one in report.cases()] == ["PASS", "FAIL"]


def test_a_version_alone_is_damaged() -> None:
    assert refusal(HEAD).code == "malformed"
