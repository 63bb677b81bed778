"""Small files that say what an earlier one said, but for times and values of properties: read without the parser.

Java's runners write a file for each class, thousands in an upload, and most are the same in every run. What was made of
such a file once is kept with the place of everything that may vary. Only files whose tests all passed and that gave no
reason for a remark are kept, so that nothing else can depend on what varies."""

import re
from array import array
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from hashlib import blake2b

from ingest.junit.dialects import Dialect
from ingest.junit.elements import property_word
from ingest.junit.execution_order import looks_parallel, says_order
from ingest.junit.limits import Limits
from ingest.junit.report import PROPERTIES_KEPT, ParsedReport
from ingest.junit.rows import plain_durations
from ingest.junit.times import read_duration, read_timestamp

SMALL = 64 * 1024
"""Bytes of a file that is compared as a whole."""
_ROWS_KEPT = 300_000
"""Rows of all files that are remembered; beyond this the memory starts over."""
_VARIES = re.compile(rb""" (time|timestamp|value)="([ !#-%'-;=-~]*)\"""")
"""Values of plain ASCII: whatever else an attribute holds is compared."""
_TAG = re.compile(rb"<([a-z]+) [^<]*\Z")
_PROPERTY = re.compile(rb"""<property name="([ !#-%'-;=-~]*)"\Z""")


@dataclass(frozen=True, slots=True)
class _RememberedFile:
    """A file that was read, and where it varies."""

    report: ParsedReport
    limits: Limits
    is_ordered: bool
    """Before times were looked at."""
    zoneless_is_utc: bool
    properties: Sequence[str]
    """Their names, in order."""


class Skeleton:
    """A small file, taken apart into what is compared and what may vary."""

    __slots__ = ("_fixed", "_names", "_values", "digest")

    def __init__(self, data: bytes) -> None:
        parts = _VARIES.split(data)
        self._fixed, self._names, self._values = parts[::3], parts[1::3], parts[2::3]
        self.digest = blake2b(b'"'.join((b",".join(self._names), *self._fixed)), digest_size=16).digest()

    def read(self, known: _RememberedFile) -> ParsedReport | None:
        """Its report; None if what varies needs the parser."""
        rows = len(known.report.keys)
        durations = plain_durations(b"\n".join(self._values[-rows:]).decode("ascii").split("\n"))
        walls, stamps, values = self._before(rows)
        if durations is None or any(map(property_word, known.properties, values)):
            return None
        timestamp = stamps[0][:64] if stamps else ""
        suite = known.report.suites[0]
        report = ParsedReport(
            producer=known.report.producer,
            keys=known.report.keys.copy(),
            verdicts=bytearray(rows),
            durations=array("d", durations),
            files=known.report.files.copy(),
            lines=known.report.lines[:],
            former=known.report.former.copy(),
            suites=[suite if suite.timestamp == timestamp else replace(suite, timestamp=timestamp)],
            timestamp=timestamp,
            started_at=read_timestamp(timestamp, zoneless_is_utc=known.zoneless_is_utc) if timestamp else None,
            hostname=known.report.hostname,
            order_reliable=known.is_ordered,
        )
        for name, value in zip(known.properties, values, strict=True):
            if len(report.properties) < PROPERTIES_KEPT:
                report.properties.setdefault(name[:200], value[:1_000])
        report.order_reliable = in_order(report, read_duration(walls[0]) if walls and walls[0] else None)
        return report

    def _before(self, rows: int) -> tuple[list[str], list[str], list[str]]:
        """Values before the first case: times, timestamps and those of properties."""
        values: dict[bytes, list[str]] = {b"time": [], b"timestamp": [], b"value": []}
        for name, value in zip(self._names[:-rows], self._values[:-rows], strict=True):
            values[name].append(value.decode("ascii"))
        return values[b"time"], values[b"timestamp"], values[b"value"]

    def remembered(
        self, report: ParsedReport, limits: Limits, dialect: Dialect, *, is_ordered: bool
    ) -> _RememberedFile | None:
        """What to remember of it; None if anything in it could mean more next time."""
        names = self._property_names(len(report.keys)) if self._is_plain(report) else None
        if names is None:
            return None
        kept = replace(report, keys=report.keys.copy(), files=report.files.copy(), former=report.former.copy())
        known = _RememberedFile(kept, limits, is_ordered, dialect.zoneless_is_utc, names)
        return known if self.read(known) == report else None

    def _property_names(self, rows: int) -> list[str] | None:
        """The names of its properties; None if something else varies than these, the suite's and all cases' times."""
        tags = self._tags()
        if tags is None or _CASE not in tags:
            return None
        before, cases = tags[: tags.index(_CASE)], tags[tags.index(_CASE) :]
        names = [found[1].decode("ascii") for piece in self._fixed if (found := _PROPERTY.search(piece))]
        others = [tag for tag in before if tag[0] != b"property"]
        if cases != [_CASE] * rows or len(set(others)) < len(others) or not set(others) <= _OF_SUITE:
            return None
        return names if len(names) == len(before) - len(others) and not any(map(_is_ours, names)) else None

    def _is_plain(self, report: ParsedReport) -> bool:
        text = b"".join(self._fixed).replace(b"<![CDATA[]]>", b"")  # Gradle's outputs, where nothing was printed
        if any(getattr(report, name) for name in _EMPTY) or any(report.verdicts):
            return False
        is_whole = not report.partial and len(report.suites) == 1 and text.count(b"<testcase") == len(report.keys)
        return is_whole and b"<!" not in text and text.count(b"<?") == text.startswith(b"<?")

    def _tags(self) -> list[tuple[bytes, bytes]] | None:
        """The element and the attribute of everything that varies; None if one is in no tag."""
        text, tags = b"", []
        for piece, name in zip(self._fixed, self._names, strict=False):
            text = text[text.rfind(b"<") :] + piece if b"<" in text else text + piece
            found = _TAG.search(text)
            if found is None:
                return None
            tags.append((found[1], name))
        return tags


_FILLED = ("keys", "verdicts", "durations", "files", "lines", "former", "suites", "properties")
_EMPTY = tuple(
    column.name
    for column in fields(ParsedReport)
    if column.default_factory is not MISSING and column.name not in _FILLED
)
"""Columns of which a remembered report has nothing."""
_CASE = (b"testcase", b"time")
_OF_SUITE = {(b"testsuite", b"time"), (b"testsuite", b"timestamp")}


def _is_ours(name: str) -> bool:
    """Whether a property tells the reader something: its value is no mere remark."""
    return name.startswith("flakeboard")


def in_order(report: ParsedReport, wall: float | None) -> bool:
    """Whether its rows are in order of execution, given that the producer writes them so."""
    return report.order_reliable and (says_order(report) or not looks_parallel(report, wall))


class Memory:
    """What small files made; bounded in rows."""

    def __init__(self) -> None:
        self._files: dict[bytes, _RememberedFile] = {}
        self._rows = 0

    def read(self, skeleton: Skeleton, limits: Limits) -> ParsedReport | None:
        known = self._files.get(skeleton.digest)
        return skeleton.read(known) if known is not None and known.limits == limits else None

    def keep(self, skeleton: Skeleton, known: _RememberedFile | None) -> None:
        if known is None or skeleton.digest in self._files:
            return
        self._rows += len(known.report.keys) + 1
        if self._rows > _ROWS_KEPT:
            self._files, self._rows = {}, 0
        self._files[skeleton.digest] = known


MEMORY = Memory()
