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
PACKED = re.compile(
    # gzip with a header that makes sense, xz, bzip2, zstd, zip, 7z, rar: in bytes
    rb"\x1f\x8b\x08[\x00-\x1f][\x00-\xff]{4}[\x00\x02\x04][\x00-\x0d\xff]|\xfd7zXZ\x00|BZh[1-9]1AY&SY"
    rb"|\x28\xb5\x2f\xfd[\x00-\x07\x20-\x27\x40-\x47\x60-\x67\x80-\x87\xa0-\xa7\xc0-\xc7\xe0-\xe7]"
    rb"|PK\x03\x04[\x00-\x3f]\x00|7z\xbc\xaf\x27\x1c|Rar!\x1a\x07"
    # in base64 from its beginning, and in hexadecimal digits
    rb"|(?<![A-Za-z0-9+/])(?:H4sI|/Td6WFo|QlpoO[A-Za-f]|KLUv/|UEsDB[A-D]|N3q8ryc|UmFyIR)[A-Za-z0-9+/]{20}"
    rb"|(?<![0-9A-Fa-f])(?:1[fF]8[bB]08[01][0-9a-fA-F]|[fF][dD]377[aA]585[aA]00|425[aA]683[1-9]314159265359"
    rb"|28[bB]52[fF][fF][dD]|504[bB]0304[0-3][0-9a-fA-F]00)[0-9a-fA-F]{20}"
)
"""Beginnings of compressed data within other data: nobody has opened it, so it may hold results."""


def has_marks(data: bytes) -> bool:
    """Whether the bytes hold a mark of results, of either kind."""
    return any(pattern.search(data) is not None for pattern in (MARKUP, PACKED, LINES))


class Scan:
    """A search for marks in a stream, chunk by chunk."""

    def __init__(self, *, lines: bool) -> None:
        self._patterns = (MARKUP, PACKED, LINES) if lines else (MARKUP, PACKED)
        self._before = b""
        self.found = False

    def add(self, chunk: bytes) -> None:
        together = self._before + chunk
        if not self.found:
            self.found = any(pattern.search(together) is not None for pattern in self._patterns)
        self._before = together[-_OVERLAP:]


def any_marks(chunks: Iterable[bytes], *, lines: bool) -> bool:
    """Whether a stream holds a mark. It is read to its end, so that later damage is noticed too."""
    scan = Scan(lines=lines)
    for chunk in chunks:
        scan.add(chunk)
    return scan.found
