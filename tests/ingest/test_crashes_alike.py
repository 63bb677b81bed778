"""Crashes and full machines, as the client and the server recognise them in the text of a failure: alike."""

from __future__ import annotations

import pytest
from flakeboard.reports.crashes import crash_in

from ingest.junit.crashes import crash_in as crash_in_attempts
from ingest.junit.report import Attempt, Failure
from ingest.verdict import Verdict

CRASHES = {
    "worker 'gw0' crashed while running 'shop/cart.py::test_a'": "a worker of pytest crashed",
    "Fatal Python error: Segmentation fault": "Python crashed",
    "MemoryError": "there was no memory left",
    'failed on setup with "MemoryError: no"': "there was no memory left",
    "    f()\nE   MemoryError\n\nDuring handling": "there was no memory left",
    "numpy._core._exceptions._ArrayMemoryError: 7 TiB": "there was no memory left",
    "NoMemoryError: failed to allocate memory": "there was no memory left",
    "System.OutOfMemoryException : no": "there was no memory left",
    "OSError: [Errno 12] Cannot allocate memory": "there was no memory left",
    "Error: ENOMEM: not enough memory, read": "there was no memory left",
    "OSError: [Errno 28] No space left on device: 'a'": "the disk was full",
    "OSError: [Errno 122] Disk quota exceeded": "the disk was full",
    "Error: ENOSPC: no space, write": "the disk was full",
    "System.IO.IOException : There is not enough space on the disk.": "the disk was full",
    "java.lang.OutOfMemoryError: Java heap space": "there was no memory left",
    "x.OrderError\nCaused by: java.lang.StackOverflowError": "the JVM gave up",
    "SystemStackError: stack level too deep": "Ruby gave up",
    "The forked VM terminated without saying properly goodbye.": "the JVM ended",
    "A jest worker process (pid=7) was terminated by another process": "a worker of Jest crashed",
}
ORDINARY = (
    "AssertionError: assert 2 == 3",
    "AssertionError: MemoryError was not raised",
    "RecursionError: maximum recursion depth exceeded",
    '    raise OSError(28, "No space left on device")\nE   Failed: DID NOT RAISE',
    "the child exited with 139",
)


def in_report(text: str) -> str:
    return crash_in_attempts([Attempt(Verdict.FAIL, failures=(Failure(Verdict.FAIL, message=text),))], "pytest")


@pytest.mark.parametrize("text", CRASHES)
def test_both_sides_see_it(text: str) -> None:
    assert crash_in(text) == CRASHES[text]
    assert in_report(text)


@pytest.mark.parametrize("text", ORDINARY)
def test_neither_side_takes_an_ordinary_failure_for_one(text: str) -> None:
    assert crash_in(text) == ""
    assert in_report(text) == ""
