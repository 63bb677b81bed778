"""What is in a report file, as far as it can be told without the server: form, counts, names that repeat, damage.

The server's reader knows more: producers, attempts, repairs. A problem here is damage, even if the server mends it."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import BinaryIO, Iterable
from xml.parsers import expat

from flakeboard.server.packages import BYTES

CASES, DEPTH, ATTRIBUTES = 1_000_000, 64, 256
"""The server's defaults (LIMIT_CASES, LIMIT_DEPTH, LIMIT_ATTRIBUTES)."""
_CHUNK = 256 * 1024
_GZIP, _ARCHIVES = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
_JUNIT = frozenset({"testsuites", "testsuite"})
_OTHER_ROOTS = {
    "TestRun": "TRX",
    "test-run": "NUnit 3",
    "assemblies": "xUnit.net",
    "assembly": "xUnit.net",
    "testng-results": "TestNG",
    "robot": "Robot Framework",
}
_START = re.compile(rb"^[ \t]*(?:<\?xml|<testsuite|\{)", re.M)
"""Where a report begins after what its runner printed."""
_TAP = re.compile(rb"(?:TAP version 1[0-9]|1\.\.[0-9]+|(?:not )?ok\b)")
_FAILED = frozenset({"failure", "rerunFailure"})
_ERRORED = frozenset({"error", "rerunError"})


@dataclass
class Inspection:
    """What was seen in a file."""

    path: str
    size: int = 0
    form: str = ""
    """JUnit XML, or another format of the server's, which is not looked into."""
    encoding: str = ""
    suites: int = 0
    cases: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float = 0.0
    repeated: list[str] = field(default_factory=list)
    """Names that occur more than once, the most frequent first."""
    problem: str = ""
    """Why the server refuses it, or has to mend it or to stop at the damage."""
    remarks: list[str] = field(default_factory=list)
    """What is odd, and does not keep the server from reading it."""

    @property
    def passed(self) -> int:
        return self.cases - self.failures - self.errors - self.skipped


def inspect(path: str) -> Inspection:
    seen = Inspection(path)
    try:
        with open(path, "rb") as file:
            _inspect(file, seen)
    except (OSError, EOFError, zlib.error) as error:
        seen.problem = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return seen


def _inspect(file: BinaryIO, seen: Inspection) -> None:
    seen.size = file.seek(0, io.SEEK_END)
    file.seek(0)
    head = file.read(1024)
    file.seek(0)
    if seen.size > BYTES:
        seen.problem = f"it is larger than an upload may be ({BYTES // 1024**2} MiB)"
    elif head.startswith(_GZIP):
        with gzip.open(file) as unpacked:
            _inspect_text(unpacked, seen)  # type: ignore[arg-type]
    elif head.startswith(_ARCHIVES):
        seen.form = "zip archive"
    else:
        _inspect_text(file, seen)


def _inspect_text(file: BinaryIO, seen: Inspection) -> None:
    head = file.read(_CHUNK)
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        seen.problem = "it is empty"
    elif head[257:262] == b"ustar":
        seen.form = "tar archive"
    elif start[:1] in b"{[":
        seen.form = "JSON"
    elif _TAP.match(start):
        seen.form = "TAP"
    elif head.startswith((b"\xff\xfe", b"\xfe\xff")):
        _Reading(seen).read(head, file)
    elif start.startswith(b"<"):
        _Reading(seen, head[: -len(start)].count(b"\n")).read(start, file)
    else:
        _inspect_after_text(head, file, seen)


def _inspect_after_text(head: bytes, file: BinaryIO, seen: Inspection) -> None:
    found = _START.search(head)
    if found is None:
        seen.problem = "it does not begin as a report"
        return
    seen.remarks.append("text before the report is set aside")
    rest = head[found.start() :].lstrip()
    if rest.startswith(b"{"):
        seen.form = "JSON"
    else:
        _Reading(seen, head[: -len(rest)].count(b"\n")).read(rest, file)


class _Refused(Exception):
    """The file's content is of a kind that the server refuses."""


class _Reading:
    """One pass over an XML file, in bounded memory but for the names."""

    def __init__(self, seen: Inspection, lines_before: int = 0) -> None:
        self._seen = seen
        self._lines_before = lines_before
        self._open: list[str] = []
        self._children: set[str] = set()
        self._names: Counter[tuple[str, str, str]] = Counter()
        self._claimed = 0
        self._unnamed = 0
        self._suite_errors = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.XmlDeclHandler = self._declared

    def read(self, head: bytes, file: BinaryIO) -> None:
        size = 0
        try:
            for chunk in _chunks(head, file):
                size += len(chunk)
                if size > BYTES:
                    raise _Refused(f"unpacked it is larger than an upload may be ({BYTES // 1024**2} MiB)")
                self._parser.Parse(chunk, False)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            self._damaged(error)
        except _Refused as refused:
            self._seen.problem = str(refused)
        except (LookupError, ValueError) as error:
            self._seen.problem = f"its encoding cannot be read: {error}"
        self._conclude()

    def _damaged(self, error: expat.ExpatError) -> None:
        what = expat.errors.messages.get(error.code, "not well-formed")
        where = f"line {error.lineno + self._lines_before}, column {error.offset + 1}"
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]:
            self._seen.remarks.append(f"more follows the report ({where}); the server reads further reports in it")
        else:
            self._seen.problem = f"{where}: {what}"

    def _doctype(self, *rest: object) -> None:
        raise _Refused("it has a DOCTYPE, which the server refuses")

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        self._seen.encoding = encoding or ""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if len(self._open) >= DEPTH:
            raise _Refused(f"elements are nested deeper than {DEPTH}")
        if len(attributes) > ATTRIBUTES:
            raise _Refused(f"an element has more than {ATTRIBUTES} attributes")
        if not self._open:
            self._root(tag)
        elif self._open[-1] == "testcase":
            self._children.add(tag)
        elif tag == "error" and self._open[-1] == "testsuite":
            self._suite_errors += 1
        self._open.append(tag)
        if tag == "testsuite":
            self._seen.suites += 1
        elif tag == "testcase":
            self._case(attributes)
        if tag in _JUNIT and len(self._open) == 1:
            self._claimed = sum(_number(attributes.get(count)) for count in ("failures", "errors"))

    def _root(self, tag: str) -> None:
        if tag in _JUNIT:
            self._seen.form = "JUnit XML"
        elif tag in _OTHER_ROOTS:
            self._seen.form = _OTHER_ROOTS[tag]
        else:
            raise _Refused(f"its root <{tag}> is of no format that the server reads")

    def _case(self, attributes: dict[str, str]) -> None:
        self._children = set()
        if self._seen.cases >= CASES:
            raise _Refused(f"it has more than {CASES:,} test cases")
        name = attributes.get("name", "")
        self._unnamed += not name
        self._names[attributes.get("classname") or attributes.get("class") or "", name, attributes.get("file", "")] += 1
        self._seen.seconds += _seconds(attributes.get("time", ""))

    def _end(self, name: str) -> None:
        if self._open.pop() != "testcase":
            return
        self._seen.cases += 1
        self._seen.errors += bool(self._children & _ERRORED)
        self._seen.failures += bool(self._children & _FAILED and not self._children & _ERRORED)
        self._seen.skipped += "skipped" in self._children and not self._children & (_FAILED | _ERRORED)

    def _conclude(self) -> None:
        seen = self._seen
        if seen.form != "JUnit XML":
            return
        seen.repeated = [_label(*key) for key, times in self._names.most_common() if times > 1]
        if not seen.problem and not seen.cases and not self._suite_errors:
            seen.problem = "it has no test case"
        if self._claimed > seen.failures + seen.errors + self._suite_errors:
            found = seen.failures + seen.errors
            seen.remarks.append(
                f"its header counts {self._claimed:,} failing tests, but it holds {found:,}: a gate holds"
            )
        if self._suite_errors:
            seen.remarks.append(f"errors outside tests: {self._suite_errors:,}; a gate holds")
        if self._unnamed:
            seen.remarks.append(f"test cases without a name: {self._unnamed:,}")


def _chunks(head: bytes, file: BinaryIO) -> Iterable[bytes]:
    yield head
    yield from iter(lambda: file.read(_CHUNK), b"")


def _number(written: str | None) -> int:
    return int(written) if written and written.isdigit() and len(written) < 10 else 0


def _seconds(written: str) -> float:
    """The time of a case; only what is plainly a number counts."""
    return float(written) if re.match(r"[0-9]{1,9}(?:\.[0-9]{1,12})?\Z", written) else 0.0


def _label(classname: str, name: str, file: str) -> str:
    return " :: ".join(part for part in (classname or file, name) if part)
