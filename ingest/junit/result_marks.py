"""Marks of test results: bytes that make an unread file "not understood" even if it looks like something else.

Only a file without any of them, from its first byte to its last, certainly holds no results."""

import re
from collections.abc import Iterable

_OVERLAP = 256
"""Longer than any mark, so that none is lost between two chunks."""
MARKUP = re.compile(
    # elements that hold results: JUnit, NUnit, TRX, TestNG
    rb"(?:<|&lt;|&#0{0,6}60;|&#x0{0,6}3c;|\\u003c|\\x3c|%3c|=3c|\+ADw-)/?(?:[\w.-]{1,40}:)?(?:failure|test-?(?:cases?|suites?|runs?|results?|methods?)|unittestresults?|testng-results)\b"
    # attributes and keys that say that something failed
    rb"|\b(?:outcome|result|status)\s{0,9}=\s{0,9}[\"'](?:fail|error|broken|timeout|abort)"
    rb"|\"(?:action|outcome|status|result|state)\"\s{0,9}:\s{0,9}\"(?:fail|error|broken|timed ?out|abort)"
    rb"|\"(?:numfailedtests|numfailingtests|failures|failed|unexpected)\"\s{0,9}:\s{0,9}[1-9]",
    re.IGNORECASE,
)
"""Marks of results in XML and JSON."""
LINES = re.compile(
    rb"\bnot ok\b|--- FAIL|\bFAIL(?:ED|URES?|S)?\b|\bBail out!|\bpanic:|Traceback \(most recent"
    rb"|\b(?:Failures?|Errors?|Failed|failures|errors):\s{0,9}[1-9]"
    rb"|\bfailed \(|\btestFailed\b|^(?:failure|error): "
    rb"|\b(?:status|outcome|result|state|verdict)\b[\"']?[ \t]{0,9}[:=][ \t]{0,9}[\"']?(?:fail|error)"
    rb"|^[ \t-]{0,40}(?:passed|success|ok)[ \t]{0,9}:[ \t]{0,9}(?:false|no)\b|:[ \t]{1,9}(?:failed|failure)[\r]?$"
    rb"|(?:^|[,;|\t])[ \t]{0,9}[\"']?(?:fail|failed|failure|errored)[\"']?[ \t]{0,9}[\r]?(?:$|[,;|\t])"
    rb"|\(fail\)|\b[Tt]ests? failed\b|\xe2\x9c[\x95-\x98]|\xe2\x9d\x8c"  # crosses, as of Mocha, Bats and summaries
    rb"|Segmentation fault|\(core dumped\)|^exit status [1-9]|\*\*\* \[[^\n]{1,200}\] Error [1-9]"
    # what only results have, however they ended: a byte that is damaged must not make a log of them
    rb"|^TAP version [0-9]|^[ \t]{0,40}1\.\.[0-9]{1,9}[ \t\r]{0,9}$|^[ \t]{0,40}(?:not )?ok [0-9]"
    rb"|</(?:assembly|assemblies|collection|test|suite|robot|statistics)>"  # the end of xUnit or Robot
    rb"|^=== RUN|^[ \t]{0,40}--- (?:PASS|SKIP)"
    rb"|3[cC]74657374(?:63617365|7375697465)"  # `<testcase`, `<testsuite` in hexadecimal digits, and in base64
    rb"|PHRlc3R(?:jYXNl|zdWl0Z)|x0ZXN0(?:Y2FzZ|c3VpdG)|8dGVzd(?:GNhc2|HN1aXRl)"
    rb"|\b[1-9][0-9]{0,8} (?:fail|failed|failing|failures?|errors?|tests? failed)\b",
    re.MULTILINE,
)
"""Lines that runners print for failures, and lines that occur only in lists of results."""


def has_marks(data: bytes) -> bool:
    """Whether the bytes hold a mark of results, of either kind."""
    return MARKUP.search(data) is not None or LINES.search(data) is not None


class Scan:
    """A search for marks in a stream, chunk by chunk."""

    def __init__(self, *, lines: bool) -> None:
        self._lines = lines
        self._before = b""
        self.found = False

    def add(self, chunk: bytes) -> None:
        together = self._before + chunk
        if not self.found:
            self.found = MARKUP.search(together) is not None or (self._lines and LINES.search(together) is not None)
        self._before = together[-_OVERLAP:]


def any_marks(chunks: Iterable[bytes], *, lines: bool) -> bool:
    """Whether a stream holds a mark. It is read to its end, so that later damage is noticed too."""
    scan = Scan(lines=lines)
    for chunk in chunks:
        scan.add(chunk)
    return scan.found
