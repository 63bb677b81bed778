"""A runner that crashes inside a test: the test has failed, and a run error says that the run cannot be trusted."""

from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.junit import crashes
from tests.extent import repeats
from tests.ingest.junit.reading import case, read

PYTEST = '<testsuites name="pytest tests"><testsuite name="pytest">{}</testsuite></testsuites>'
SUREFIRE = '<testsuite name="s.T"><properties><property name="surefire.x" value=""/></properties>{}</testsuite>'
GO = (
    '<testsuites><testsuite name="p"><properties><property name="go.version" value="1"/></properties>{}</testsuite>'
    "</testsuites>"
)
JEST = '<testsuites name="jest tests"><testsuite name="s">{}</testsuite></testsuites>'
CTEST = '<testsuite name="s"><testcase name="t" classname="t" time="0" status="fail">{}</testcase></testsuite>'


def failing(tag: str = "failure", type_: str = "", message: str = "", text: str = "") -> str:
    inside = f"<{tag} type={quoteattr(type_)} message={quoteattr(message)}>{escape(text)}</{tag}>"
    return f'<testcase classname="c" name="t">{inside}</testcase>'


@pytest.mark.parametrize(
    ("document", "ending", "words"),
    [
        (PYTEST, failing("error", message="worker 'gw1' crashed while running 'a.py::t'"), "worker 'gw1' crashed"),
        (PYTEST, failing(message="MemoryError"), "MemoryError"),
        (PYTEST, failing("error", message='failed on setup with "MemoryError: no"'), "MemoryError"),
        (PYTEST, failing(type_="builtins.MemoryError", message="x"), "MemoryError"),
        (PYTEST, failing(text="Fatal Python error: Segmentation fault\n\nThread 0x1"), "Fatal Python error"),
        (GO, failing(text="=== RUN t\npanic: nil map\n\ngoroutine 1"), "panic: nil map"),
        (GO, failing(text="panic: test timed out after 10m0s"), "test timed out after 10m0s"),
        (GO, failing(text="fatal error: all goroutines are asleep - deadlock!"), "fatal error"),
        (GO, failing(text="x\nsignal: killed\nFAIL"), "signal: killed"),
        (SUREFIRE, failing(text="The forked VM terminated without saying properly goodbye."), "The forked VM"),
        (SUREFIRE, failing(message="There was an error in the forked process"), "error in the forked process"),
        (SUREFIRE, failing(type_="java.lang.OutOfMemoryError", message="Java heap space"), "OutOfMemoryError"),
        (JEST, failing(text="A jest worker process (pid=7) was terminated by another process"), "jest worker process"),
        (JEST, failing(text="SIGSEGV"), "SIGSEGV"),
        (PYTEST, failing(message="numpy._core._exceptions._ArrayMemoryError: 7 TiB"), "_ArrayMemoryError"),
        (
            PYTEST,
            failing(message="OrderError: no", text="    f()\nE   MemoryError\n\nThe above exception"),
            "MemoryError",
        ),
        (PYTEST, failing(text="  + Exception Group Traceback\n    | MemoryError"), "MemoryError"),
        (SUREFIRE, failing(type_="java.lang.StackOverflowError"), "StackOverflowError"),
        (
            SUREFIRE,
            failing(text="x.OrderError: no\nCaused by: java.lang.OutOfMemoryError: Java heap"),
            "OutOfMemoryError",
        ),
        (SUREFIRE, failing(type_="java.lang.InternalError", message="no"), "InternalError"),
        (PYTEST, failing(message="System.OutOfMemoryException : no"), "OutOfMemoryException"),
        (PYTEST, failing(type_="SystemStackError", message="stack level too deep"), "SystemStackError"),
        (PYTEST, failing(message='C++ exception with description "std::bad_alloc" thrown'), "bad_alloc"),
    ],
)
def test_a_crash_is_a_run_error_besides_the_failure(document: str, ending: str, words: str) -> None:
    report = read(document.format(ending))
    assert case(report, "t").verdict.failing
    (error,) = report.run_errors
    assert error.where.endswith("c: t")
    assert error.failure.message.startswith("The runner crashed in this test: ")
    assert words in error.failure.message


@pytest.mark.parametrize(
    ("document", "ending", "words"),
    [
        (PYTEST, failing(message="OSError: [Errno 28] No space left on device: '/tmp/a'"), "No space left on device: '/tmp/a'"),
        (PYTEST, failing(message="OSError: [Errno 12] Cannot allocate memory"), "Cannot allocate memory"),
        (PYTEST, failing("error", message='failed on setup with "OSError: [Errno 122] Disk quota exceeded"'), "Disk quota"),
        (SUREFIRE, failing(type_="java.io.IOException", message="No space left on device"), "No space left"),
        (GO, failing(text="    a_test.go:3: write /tmp/a: no space left on device"), "no space left"),
        (JEST, failing(text="Error: ENOSPC: no space left on device, write"), "ENOSPC: no space left"),
        (JEST, failing(text="Error: spawn: ENOMEM: not enough memory"), "ENOMEM: not enough memory"),
        (PYTEST, failing(message="System.IO.IOException : There is not enough space on the disk."), "not enough space"),
        (CTEST, '<failure message="Failed">write: No space left on device</failure>', "No space left"),
        (PYTEST, failing(text="a" * 30_000 + "\nOSError: [Errno 28] No space left on device\nmore"), "No space left on device"),
    ],
)  # fmt: skip
def test_a_full_machine_is_a_run_error_besides_the_failure(document: str, ending: str, words: str) -> None:
    report = read(document.format(ending))
    assert case(report, "t").verdict.failing
    (error,) = report.run_errors
    assert error.failure.message.startswith("The machine had no disk space or memory left in this test: ")
    assert words in error.failure.message


@pytest.mark.parametrize(
    ("document", "ending"),
    [
        (PYTEST, failing(message="AssertionError: MemoryError was not raised")),
        (PYTEST, failing(text="the child said: panic: nil map")),
        (PYTEST, failing(text="panic: nil map")),
        (GO, failing(text='    a_test.go:3: got "panic: x", want "y"')),
        (PYTEST, failing(text="expected exit code -11 (SIGSEGV), got 0")),
        (JEST, failing(text="Error: worker is busy")),
        (PYTEST, failing(message="RecursionError: maximum recursion depth exceeded")),
        (PYTEST, failing(text='    raise OSError(28, "No space left on device")\nE   Failed: DID NOT RAISE')),
        (SUREFIRE, failing(text="org.opentest4j.AssertionFailedError: java.lang.OutOfMemoryError was expected")),
        (CTEST, '<failure message="SEGFAULT"/><system-out>Segmentation fault</system-out>'),
    ],
)
def test_an_ordinary_failure_that_speaks_of_crashes_is_none(document: str, ending: str) -> None:
    report = read(document.format(ending))
    assert case(report, "t").verdict.failing
    assert report.run_errors == []


def test_a_passing_test_that_prints_a_crash_is_none() -> None:
    passing = '<testcase classname="c" name="t"><system-out>panic: x</system-out></testcase>'
    assert read(GO.format(passing)).run_errors == []


@settings(max_examples=repeats(100, 300), deadline=None, derandomize=True)
@given(st.from_regex(crashes._CRASH), st.from_regex(crashes._EXHAUSTED))
def test_whatever_the_patterns_find_holds_a_word_that_is_looked_for_first(crash: str, exhausted: str) -> None:
    assert crashes._holds_any(crash, crashes._CRASH_WORDS)
    assert crashes._holds_any(exhausted.casefold(), crashes._EXHAUSTED_WORDS) or not exhausted.isascii()
