"""`go test -json`."""

import json

import pytest

from ingest.junit.report import Provenance
from tests.ingest.formats.tables import outcome
from tests.ingest.junit.reading import case, read

Expected = tuple[dict[str, str], list[str], list[str]]


def event(action: str, test: str = "", **more: object) -> str:
    named = {"Test": test} if test else {}
    return json.dumps({"Action": action, "Package": "shop", **named, **more}) + "\n"


def go(*words: str, end: str = "pass") -> str:
    """Tests that ended so: `TestA fail` runs and fails."""
    return event("start") + "".join(map(ran, words)) + (event(end) if end else "")


def ran(words: str) -> str:
    test, action = words.split()
    return event("run", test, Time="2026-01-01T10:00:00.123456789Z") + event(action, test, Elapsed=0.5)


OUTPUT = event("output", "TestA", Output="=== RUN   TestA\n") + event("output", "TestA", Output="    a_test.go:3: no\n")
GO: dict[str, tuple[str, Expected]] = {
    "passed": (go("TestA pass"), ({"TestA": "PASS"}, [], [])),
    "failed": (go("TestA fail", end="fail"), ({"TestA": "FAIL"}, [], [])),
    "skipped": (go("TestA skip"), ({"TestA": "SKIP"}, [], [])),
    "a benchmark": (go("BenchmarkA bench"), ({"BenchmarkA": "PASS"}, [], [])),
    "a subtest": (go("TestA/b fail", "TestA fail", end="fail"), ({"TestA/b": "FAIL", "TestA": "FAIL"}, [], [])),
    "a package without tests": (event("start") + event("skip"), ({}, [], [])),
    "a failure in a package that passed": (go("TestA fail"), ({"TestA": "FAIL"}, [], [])),
    "a package that failed alone": (go("TestA pass", end="fail"), ({"TestA": "PASS"}, ["shop"], [])),
    "twice, fails and passes": (go("TestA fail", "TestA pass", end="fail"), ({"TestA": "FAIL"}, [], [])),
    "twice, passes and fails": (go("TestA pass", "TestA fail", end="fail"), ({"TestA": "FAIL"}, [], [])),
    "a test that did not end": (
        event("run", "TestA") + event("fail"), ({"TestA": "ERROR"}, ["shop: TestA"], []),
    ),
    "a panic": (
        event("run", "TestA") + event("output", "TestA", Output="panic: no map\n") + event("fail", "TestA") + event("fail"),
        ({"TestA": "FAIL"}, ["shop: TestA"], []),
    ),
    "an end that was swallowed": (
        event("run", "TestA") + event("output", "TestA", Output="x--- PASS: TestA (0.00s)\n") + event("pass"),
        ({"TestA": "PASS"}, [], []),
    ),
    "a build that failed, in words": (
        "# shop\n./a.go:3:2: undefined: x\nFAIL\tshop [build failed]\n" + event("start", Package="other") + event("pass", Package="other"),
        ({}, ["shop"], []),
    ),
    "a build that failed, in events": (
        json.dumps({"ImportPath": "shop [shop.test]", "Action": "build-output", "Output": "undefined: x\n"}) + "\n"
        + json.dumps({"ImportPath": "shop [shop.test]", "Action": "build-fail"}) + "\n"
        + event("start") + event("fail", FailedBuild="shop [shop.test]"),
        ({}, ["shop [shop.test]", "shop"], []),
    ),
    "an unknown action": (go("TestA nope"), ({"TestA": "ERROR"}, ["shop: TestA"], ["unknown_verdict"])),
    "a line of something else": (go("TestA pass") + "who knows\n", ({"TestA": "PASS"}, [], ["stray_line"])),
    "a download": ("go: downloading x v1\n" + go("TestA pass"), ({"TestA": "PASS"}, [], [])),
    "a key twice": (
        go("TestA pass") + '{"Action":"fail","Action":"pass","Package":"shop","Test":"TestB"}\n' + event("pass"),
        ({"TestA": "PASS", "TestB": "PASS"}, [], ["key_twice"]),
    ),
    "no package": ('{"Action":"pass","Test":"TestA"}\n' + event("start") + event("pass"), ({"TestA": "PASS"}, ["suite"], ["unknown_value"])),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), GO.values(), ids=GO)
def test_go(document: str, expected: Expected) -> None:
    assert outcome(document) == expected


def test_a_failure_has_its_output_time_and_start() -> None:
    report = read(
        event("run", "TestA", Time="2026-01-01T10:00:00.5Z")
        + OUTPUT
        + event("fail", "TestA", Elapsed=0.5)
        + event("fail")
    )
    found = case(report, "TestA")
    (failure,) = found.attempts[0].failures
    assert (failure.message, failure.text) == ("a_test.go:3: no", "    a_test.go:3: no\n")
    assert (found.key, found.duration) == (("", "shop", "TestA", "", ""), 0.5)
    assert report.started_at is not None and report.started_at.hour == 10


def test_repetitions_are_ambiguous() -> None:
    found = case(read(go("TestA fail", "TestA pass", end="fail")), "TestA")
    assert {attempt.provenance for attempt in found.attempts} == {Provenance.AMBIGUOUS}


@pytest.mark.parametrize(
    "document",
    [
        go("TestA pass", end=""),
        go("TestA pass") + event("start", Package="other"),
        go("TestA pass") + '{"Action":"fail","Pack',
        go("TestA pass") + event("run", "TestB"),
    ],
)
def test_what_is_cut_off_is_partial_with_its_line(document: str) -> None:
    report = read(document)
    warning = report.warnings.by_code["partial"]
    assert report.partial and warning.line is not None and warning.line >= 3
    assert case(report, "TestA").verdict.name == "PASS"


def test_lines_that_are_events_only_together_are_damaged() -> None:
    """Lines are decoded together; a list that goes on in the next line would make events of two halves."""
    halves = (
        '{"Action": "pass", "Package": "shop", "Test": "TestX", "more": [1',
        "{}]}, " + event("pass", "TestY").strip(),
    )
    report = read(event("start") + "\n".join(halves) + "\n" + ran("TestA pass") + event("pass"))
    assert [key[2] for key in report.keys] == ["TestA"]
    assert [unclear.code for unclear in report.not_understood] == ["damaged_line", "damaged_line"]


def test_a_key_that_stands_twice_is_told_wherever_its_colon_stands() -> None:
    line = event("fail", "TestB").replace('"Action":', '"Action": "pass", "Action" :')
    report = read(event("start") + line + event("pass"))
    assert [unclear.code for unclear in report.not_understood] == ["key_twice"]


def test_an_event_with_a_list_is_read() -> None:
    report = read(event("start") + event("run", "TestA", more=["x"]) + event("pass", "TestA") + event("pass"))
    assert [key[2] for key in report.keys] == ["TestA"]
    assert not report.not_understood


def test_passes_keep_their_place_among_other_outcomes() -> None:
    report = read(go("TestA pass", "TestB fail", "TestC pass", "TestD skip", "TestE pass", end="fail"))
    assert [key[2] for key in report.keys] == ["TestA", "TestB", "TestC", "TestD", "TestE"]


def test_names_of_passes_lose_what_cannot_be_stored() -> None:
    names = [f"Test{number}" for number in range(20)]
    report = read(go("Test\x00A pass", *(f"{name} pass" for name in names)))
    assert [key[2] for key in report.keys] == ["TestA", *names]
