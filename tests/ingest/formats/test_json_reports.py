"""CTRF and Playwright's JSON report."""

import json

import pytest

from ingest.junit.report import Provenance
from tests.ingest.formats.tables import outcome
from tests.ingest.junit.reading import case, read, refusal

Expected = tuple[dict[str, str], list[str], list[str]]

# -- CTRF ----------------------------------------------------------------------------------------------------------


def ctrf(*tests: dict[str, object], summary: dict[str, object] | None = None, **more: object) -> str:
    failed = sum(test.get("status") == "failed" for test in tests)
    counts = {"tests": len(tests), "passed": 0, "failed": failed, "start": 1767261600000, "stop": 2}
    whole = {"tool": {"name": "jest"}, "summary": counts | (summary or {}), "tests": list(tests), **more}
    return json.dumps({"reportFormat": "CTRF", "results": whole})


def test_of(status: str | None = "passed", **more: object) -> dict[str, object]:
    return {"name": "a", "duration": 1500, **({"status": status} if status is not None else {}), **more}


test_of.__test__ = False  # type: ignore[attr-defined]
ATTEMPT = {"attempt": 1, "status": "failed", "duration": 3, "message": "first", "trace": "at b"}
CTRF: dict[str, tuple[str, Expected]] = {
    "passed": (ctrf(test_of()), ({"a": "PASS"}, [], [])),
    "failed": (ctrf(test_of("failed", message="no", trace="at b")), ({"a": "FAIL"}, [], [])),
    "skipped": (ctrf(test_of("skipped")), ({"a": "SKIP"}, [], [])),
    "pending": (ctrf(test_of("pending")), ({"a": "SKIP"}, [], [])),
    "other, timed out": (ctrf(test_of("other", rawStatus="timedOut")), ({"a": "ERROR"}, [], [])),
    "other, to do": (ctrf(test_of("other", rawStatus="todo")), ({"a": "SKIP"}, [], [])),
    "other": (ctrf(test_of("other")), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "an unknown status": (ctrf(test_of("nope")), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "no status": (ctrf(test_of(None)), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "a status that is no text": (ctrf(test_of() | {"status": 1}), ({"a": "ERROR"}, [], ["unknown_verdict"])),
    "flaky": (ctrf(test_of(flaky=True, retries=1, retryAttempts=[ATTEMPT])), ({"a": "PASS"}, [], [])),
    "an attempt of no known status": (
        ctrf(test_of(flaky=True, retries=1, retryAttempts=[{"status": "nope"}])), ({"a": "PASS"}, [], ["unknown_verdict"]),
    ),
    "a name twice": (ctrf(test_of("failed"), test_of()), ({"a": "FAIL"}, [], [])),
    "more failures counted": (ctrf(test_of(), summary={"failed": 1}), ({"a": "PASS"}, [], ["header_surplus"])),
    "more tests counted": (ctrf(test_of(), summary={"tests": 2}), ({"a": "PASS"}, [], ["header_tests"])),
    "counts that are none": (ctrf(test_of(), summary={"failed": "x"}), ({"a": "PASS"}, [], ["header_unreadable"])),
    "no summary": ('{"results": {"tests": []}}', ({}, [], ["missing_key"])),
    "no tests": ('{"results": {"summary": {"tests": 0, "failed": 0}}}', ({}, [], ["missing_key"])),
    "tests that are none": ('{"results": {"summary": {"tests": 0, "failed": 0}, "tests": [1]}}', ({}, [], ["unknown_value"])),
    "an unknown key": (ctrf(test_of(), extra={"any": [1]}), ({"a": "PASS"}, [], [])),
    "an unknown key that tells of a failure": (ctrf(test_of(), tfsts=[test_of("failed")]), ({"a": "PASS"}, [], ["unknown_key"])),
    "a key twice": (
        ctrf(test_of("failed")).replace('"status": "failed"', '"status": "failed", "status": "passed"'),
        ({"a": "PASS"}, [], ["header_surplus", "key_twice"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), CTRF.values(), ids=CTRF)
def test_ctrf(document: str, expected: Expected) -> None:
    assert outcome(document) == expected


def test_a_ctrf_test_has_its_suite_file_line_time_and_texts() -> None:
    test = test_of("failed", suite=["cart", "total"], filePath="a.test.js", line=7, message="E: no", trace="at b")
    report = read(ctrf(test))
    found = case(report, "a")
    assert (found.key, found.file, found.line, found.duration) == (
        ("", "cart > total", "a", "", ""),
        "a.test.js",
        7,
        1.5,
    )
    assert (found.attempts[0].failures[0].message, found.attempts[0].failures[0].text) == ("E: no", "at b")
    assert report.started_at is not None and report.started_at.year == 2026


@pytest.mark.parametrize(
    ("test", "verdicts"),
    [
        (test_of(flaky=True, retries=1, retryAttempts=[ATTEMPT]), ["FAIL", "PASS"]),
        (test_of(flaky=True, retries=2), ["FAIL", "FAIL", "PASS"]),
        (test_of(flaky=True), ["FAIL", "PASS"]),
        (test_of("failed", retries=1, retryAttempts=[ATTEMPT]), ["FAIL", "FAIL"]),
        (test_of("failed", retries=1, retryAttempts=[ATTEMPT, ATTEMPT]), ["FAIL", "FAIL"]),
        (test_of(retries=0), ["PASS"]),
    ],
)
def test_attempts_of_ctrf(test: dict[str, object], verdicts: list[str]) -> None:
    attempts = case(read(ctrf(test)), "a").attempts
    assert [attempt.verdict.name for attempt in attempts] == verdicts
    assert {attempt.provenance for attempt in attempts} == {Provenance.EXPLICIT}


def test_json_that_only_begins_like_ctrf_is_refused() -> None:
    for document in ('{"reportFormat": "CTRF"}', '{"results": []}', '{"results": {"tool": {}}}'):
        assert refusal(document).code == "other_format"
    assert refusal('{"numFailedTests": 1, "results": {"tests": []}}').code == "other_format"


# -- Playwright ----------------------------------------------------------------------------------------------------


def result(status: str = "passed", retry: int = 0, **more: object) -> dict[str, object]:
    return {"status": status, "retry": retry, "duration": 1500, **more}


def pw_test(status: str, *results: dict[str, object], project: str = "", expected: str = "passed") -> dict[str, object]:
    return {"projectName": project, "expectedStatus": expected, "status": status, "results": list(results)}


def spec(*tests: dict[str, object], ok: bool = True) -> dict[str, object]:
    return {"title": "a", "ok": ok, "file": "a.spec.ts", "line": 3, "tests": list(tests)}


def playwright(*specs: dict[str, object], errors: list[object] | None = None, **stats: int) -> str:
    counts = dict.fromkeys(("expected", "unexpected", "flaky", "skipped"), 0) | stats
    inner = {"title": "cart", "file": "a.spec.ts", "specs": list(specs)}
    suite = {"title": "a.spec.ts", "file": "a.spec.ts", "specs": [], "suites": [inner]}
    return json.dumps({"config": {}, "suites": [suite], "errors": errors or [], "stats": counts})


EXPECT = {"errors": [{"message": "Error: expect(1).toBe(2)", "stack": "Error: expect(1).toBe(2)\n at b"}]}
THROWN = {"errors": [{"message": "TypeError: no"}]}
NAME = "cart › a"
PLAYWRIGHT: dict[str, tuple[str, Expected]] = {
    "passed": (playwright(spec(pw_test("expected", result()))), ({NAME: "PASS"}, [], [])),
    "failed": (playwright(spec(pw_test("unexpected", result("failed", **EXPECT)), ok=False), unexpected=1), ({NAME: "FAIL"}, [], [])),
    "threw": (playwright(spec(pw_test("unexpected", result("failed", **THROWN)), ok=False)), ({NAME: "ERROR"}, [], [])),
    "timed out": (playwright(spec(pw_test("unexpected", result("timedOut", **THROWN)), ok=False)), ({NAME: "ERROR"}, [], [])),
    "skipped": (playwright(spec(pw_test("skipped", result("skipped")))), ({NAME: "SKIP"}, [], [])),
    "interrupted": (playwright(spec(pw_test("skipped", result("interrupted")))), ({NAME: "FAIL"}, [], [])),
    "expected to fail": (playwright(spec(pw_test("expected", result("failed"), expected="failed"))), ({NAME: "PASS"}, [], [])),
    "expected to fail and passed": (
        playwright(spec(pw_test("unexpected", result("passed"), expected="failed"), ok=False)), ({NAME: "FAIL"}, [], []),
    ),
    "flaky": (playwright(spec(pw_test("flaky", result("failed"), result("passed", 1)))), ({NAME: "PASS"}, [], [])),
    "flaky, and the last failed": (playwright(spec(pw_test("flaky", result("passed"), result("failed", 1)))), ({NAME: "FAIL"}, [], [])),
    "flaky, in no order": (playwright(spec(pw_test("flaky", result("failed"), result("passed")))), ({NAME: "FAIL"}, [], [])),
    "expected, and one result failed": (playwright(spec(pw_test("expected", result("failed"), result("passed", 1)))), ({NAME: "FAIL"}, [], [])),
    "an unknown status": (playwright(spec(pw_test("nope", result()))), ({NAME: "ERROR"}, [], ["unknown_verdict"])),
    "an unknown result": (playwright(spec(pw_test("expected", result("nope")))), ({NAME: "FAIL"}, [], ["unknown_verdict"])),
    "no results": (playwright(spec(pw_test("expected"))), ({NAME: "ERROR"}, [], ["unknown_verdict"])),
    "not ok": (playwright(spec(pw_test("expected", result()), ok=False)), ({NAME: "PASS"}, [], ["unknown_verdict"])),
    "no tests": (playwright(spec()), ({}, [], ["missing_key"])),
    "an error of the run": (
        playwright(errors=[{"message": "does not load", "location": {"file": "b.spec.ts"}}]), ({}, ["b.spec.ts"], []),
    ),
    "more failures counted": (playwright(spec(pw_test("expected", result())), unexpected=1), ({NAME: "PASS"}, [], ["header_surplus"])),
    "more tests counted": (playwright(spec(pw_test("expected", result())), expected=2), ({NAME: "PASS"}, [], ["header_tests"])),
    "no errors and no stats": ('{"config": {}, "suites": []}', ({}, [], ["header_unreadable", "missing_key"])),
    "an unknown key that tells of a failure": (
        playwright(spec(pw_test("expected", result()))).replace('"specs": []', '"spfcs": [{"status": "failed"}]'),
        ({NAME: "PASS"}, [], ["missing_key", "unknown_key"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), PLAYWRIGHT.values(), ids=PLAYWRIGHT)
def test_playwright(document: str, expected: Expected) -> None:
    assert outcome(document) == expected


def test_a_playwright_test_is_named_as_in_its_junit_report() -> None:
    tests = [pw_test("expected", result(), project=project) for project in ("chromium", "webkit")]
    keys = read(playwright(spec(*tests))).keys
    assert keys == [(f"{project}:a.spec.ts", "a.spec.ts", NAME, "", "") for project in ("chromium", "webkit")]


def test_retries_of_playwright_are_attempts_with_their_texts() -> None:
    flaky = pw_test("flaky", result("failed", **EXPECT), result("timedOut", 1, **THROWN), result("passed", 2))
    attempts = case(read(playwright(spec(flaky), flaky=1)), NAME).attempts
    assert [attempt.verdict.name for attempt in attempts] == ["FAIL", "ERROR", "PASS"]
    assert {attempt.provenance for attempt in attempts} == {Provenance.EXPLICIT}
    assert attempts[0].failures[0].text == "Error: expect(1).toBe(2)\n at b"


# -- where it breaks off ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        json.dumps(json.loads(ctrf(test_of("failed"), test_of(name="b"))), indent=1),
        json.dumps(json.loads(playwright(spec(pw_test("unexpected", result("failed")), ok=False), spec())), indent=1),
    ],
)
def test_what_came_before_the_damage_is_kept_with_line_and_column(document: str) -> None:
    end = document.rindex('"title"' if "specs" in document else '"name"')
    report = read(document[:end] + '"')
    warning = report.warnings.by_code["partial"]
    assert report.partial
    assert warning.line == document[:end].count("\n") + 1
    assert warning.column == end - document.rindex("\n", 0, end) + 1
    assert [one.verdict.failing for one in report.cases()] == [True]


def test_two_documents_in_one_file_are_refused() -> None:
    assert refusal(ctrf(test_of()) + ctrf(test_of("failed"))).code == "two_roots"
