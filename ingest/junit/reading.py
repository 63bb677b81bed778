"""Reads one file: from a stream of bytes to a ParsedReport, or to a refusal with reason and position."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import chain
from typing import Any, BinaryIO

from ingest.formats.registry import text_format, xml_format
from ingest.formats.text import Damage, TextFormat
from ingest.formats.xml import XmlFormat
from ingest.junit.archives.unpacking import DAMAGE
from ingest.junit.encoding import NeedsRepair, Utf8Source
from ingest.junit.kept_text import Share
from ingest.junit.limits import Limits
from ingest.junit.merging import Merger
from ingest.junit.parsing import HUGE, ILLEGAL_CHARACTER, SECOND_ROOT, Document, XmlDamage, compressed_damage, feed
from ingest.junit.problems import Refused, over_limit
from ingest.junit.refusals import refuse_root, refuse_start
from ingest.junit.repeats import MEMORY, SMALL, Skeleton, in_order
from ingest.junit.report import ParsedReport, UnclearContent
from ingest.junit.rows import DuplicateName
from ingest.junit.surrounding_text import FIRST_ROOT, NEXT_ROOT, Tape, Words, may_be_words
from ingest.junit.target import OtherRoot, Target

_HEAD = 1024


def read_report(
    opened: Callable[[], BinaryIO], limits: Limits | None = None, share: Share | None = None
) -> ParsedReport:
    """Read one file, of JUnit or another format recognised by content. `opened` returns its bytes from the start, and
    again if they must be read another way.

    Raises Refused if nothing can be read. A truncated document keeps its readable part, marked partial."""
    limits = limits or Limits()
    share = share or Share(limits.text_total)
    start = _Start(opened())
    if start.is_whole:
        return _read_small(start.data, limits, share)
    streams: Iterator[Any] = chain([] if start.is_damaged else [start], iter(opened, None))
    return _read_as_needed(lambda: next(streams), limits, share)


class _Start:
    """The first bytes of a file, read to see whether they are all of it; as a stream, the whole file."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.data, self.is_whole, self.is_damaged = b"", False, False
        try:
            while len(self.data) <= SMALL and not self.is_whole:
                piece = stream.read(SMALL + 1 - len(self.data))
                self.data, self.is_whole = self.data + piece, not piece
        except DAMAGE:  # who reads it from the start meets it again, and keeps what came before
            self.is_damaged = True

    def read(self, size: int) -> bytes:
        start, self.data = self.data[:size], self.data[size:]
        return start + self._stream.read(size - len(start)) if len(start) < size else start


def _read_small(data: bytes, limits: Limits, share: Share) -> ParsedReport:
    skeleton = Skeleton(data)
    report = MEMORY.read(skeleton, limits)
    return report or _read_as_needed(lambda: BytesIO(data), limits, share, skeleton)


def _read_as_needed(
    opened: Callable[[], BinaryIO], limits: Limits, share: Share, skeleton: Skeleton | None = None
) -> ParsedReport:
    left, way = share.left, _ReadingMode(skeleton=skeleton)
    while True:
        try:
            return _read(opened(), limits, share, way)
        except _ReadAgain as again:
            share.left, way = left, replace(again.way, skeleton=None)
        except NeedsRepair:  # outside of a document: at the start, or in words behind it
            if way.repair:
                raise
            share.left, way = left, replace(way, lane=False, repair=True, skeleton=None)


@dataclass(frozen=True, slots=True)
class _ReadingMode:
    """How a file is read."""

    lane: bool = True
    """With the fast lane."""
    repair: bool = False
    apart: bool = False
    """As a sequence of text and documents."""
    other: type[XmlFormat] | None = None
    """As another XML format."""
    skeleton: Skeleton | None = None
    """To remember what is made of it."""


class _ReadAgain(Exception):
    """Raised to read the file from its start again in another mode."""

    def __init__(self, way: _ReadingMode) -> None:
        super().__init__(way)
        self.way = way


def _read(stream: BinaryIO, limits: Limits, share: Share, way: _ReadingMode) -> ParsedReport:
    source = Utf8Source(stream, repair=way.repair)
    chunks = iter(source)
    start = next(chunks)
    if way.other is None and (text := text_format(start)):
        return _read_text(chain([start], chunks), text(limits, share), source)
    if way.apart or may_be_words(start):
        return _Documents(chain([start], chunks), source, limits, share, way).read(start)
    _check_start(start)
    target = way.other(limits, share) if way.other else _target(limits, share, way)
    return _collect(chain([start], chunks), target, limits, way, source.skipped_lines)


def _target(limits: Limits, share: Share, way: _ReadingMode) -> Target:
    return Target(limits, share, careful=not way.lane, repaired=way.repair)


def _collect(chunks: Iterator[bytes], target: Document, limits: Limits, way: _ReadingMode, lines: int) -> ParsedReport:
    """Read a document that begins after `lines` lines."""
    try:
        feed(chunks, target, limits, lane=way.lane)
    except (NeedsRepair, DuplicateName, UnicodeDecodeError):
        if way.repair:  # the last mode: reading again would loop
            raise
        raise _ReadAgain(replace(way, lane=False, repair=not way.lane)) from None
    except OtherRoot as root:
        if way.apart:
            raise refuse_root(root.tag.rpartition("}")[2]) from None
        raise _ReadAgain(replace(way, other=xml_format(root.tag))) from None
    except XmlDamage as damage:
        if way.lane:
            raise _ReadAgain(replace(way, lane=False)) from None
        if damage.code in ILLEGAL_CHARACTER and not way.repair:
            raise _ReadAgain(replace(way, repair=True)) from None
        _salvage(target, damage, lines, way)
    report, is_ordered = target.report, target.report.order_reliable
    if way.repair:
        report.warnings.add("repaired", "Characters that XML forbids were removed; undecodable bytes became U+FFFD.")
    report.order_reliable = in_order(report, target.wall_time())
    if way.skeleton is not None and isinstance(target, Target):
        MEMORY.keep(way.skeleton, way.skeleton.remembered(report, limits, target.dialect, is_ordered=is_ordered))
    return report


class _Documents:
    """A file with text before or after its document, or with several documents."""

    def __init__(
        self, chunks: Iterator[bytes], source: Utf8Source, limits: Limits, share: Share, way: _ReadingMode
    ) -> None:
        self._tape = Tape(chunks)
        self._source = source
        self._limits = limits
        self._share = share
        self._way = replace(way, lane=False, apart=True)
        self._merger = Merger(limits.attempts)
        self._notes = ParsedReport()
        """Remarks on the text."""
        self._documents = self._cases = 0

    def read(self, start: bytes) -> ParsedReport:
        more, damage = start.startswith(b"<") or self._pass_first_words(start), ""
        try:
            while more and self._add_document():
                more = self._pass_words()
        except DAMAGE as error:
            damage = compressed_damage(error)
        report = self._merger.merged()
        if damage:
            _keep_part(report, damage, None, None)
        report.warnings.extend(self._notes.warnings)
        for unclear in self._notes.not_understood:
            report.add_unclear(unclear)
        return report

    def _pass_first_words(self, start: bytes) -> bool:
        words, found = self._tape.words(FIRST_ROOT)
        if not found or not words.is_text:
            raise refuse_start(start[:_HEAD]) or _not_xml()
        self._note(words, 1)
        return True

    def _pass_words(self) -> bool:
        line = self._line()
        words, found = self._tape.words(NEXT_ROOT)
        if not words.is_text:
            raise _goes_on(line, None)
        self._note(words, line)
        return found

    def _line(self) -> int:
        return self._tape.lines + self._source.skipped_lines + 1

    def _note(self, words: Words, line: int) -> None:
        if words.marked:
            sentence = "What stands before or behind the report looks like results, and was not read as such."
            self._notes.add_unclear(UnclearContent("words", sentence, line=line))
        elif not words.blank:
            sentence = "Words of the runner before or behind the report were set aside: they hold no results."
            self._notes.warnings.add("words", sentence, line, 1)

    def _add_document(self) -> bool:
        """Read the next document. Returns False if nothing after it can be read."""
        self._documents += 1
        if self._documents > self._limits.files:
            raise over_limit("files", self._limits.files, "The file holds too many documents")
        target, lines = _target(self._limits, self._share, self._way), self._line() - 1
        try:
            report = _collect(self._tape.document(target), target, self._limits, self._way, lines)
        except Refused as refusal:
            if self._documents == 1 or refusal.code.startswith("limit_"):
                raise
            sentence = f"What stands behind the report cannot be read: {refusal.sentence}"
            self._notes.add_unclear(UnclearContent(refusal.code, sentence, line=refusal.line or lines + 1))
            return False
        self._cases += len(report.keys)
        if self._cases > self._limits.cases:
            raise over_limit("cases", self._limits.cases, "The file has too many test cases")
        self._merger.add("", report)
        return not report.partial


def _not_xml() -> Refused:
    return Refused("not_xml", "This is not XML: it does not start with '<'.", 1, 1)


def _goes_on(line: int | None, column: int | None) -> Refused:
    sentence = "The file goes on after its root element: two documents in one file? Send each as a file of its own."
    return Refused("two_roots", sentence, line, column)


def _check_start(start: bytes) -> None:
    if refusal := refuse_start(start[:_HEAD]):
        raise refusal


def _read_text(chunks: Iterator[bytes], document: TextFormat, source: Utf8Source) -> ParsedReport:
    """Read a document that is not XML; if truncated, it keeps its readable part."""
    try:
        document.read(chunks)
    except Damage as damage:
        document.target.close()
        line = damage.line + source.skipped_lines if damage.line is not None else None
        _keep_part(document.report, damage.sentence, line, damage.column)
    except DAMAGE as error:
        document.target.close()
        _keep_part(document.report, compressed_damage(error), None, None)
    else:
        document.target.close()
    return document.report


def _salvage(target: Document, damage: XmlDamage, lines: int, way: _ReadingMode) -> None:
    """Keep the part before the damage, marked partial; refuse if there is none."""
    line = damage.line + lines if damage.line is not None else None
    if damage.code == SECOND_ROOT or target.root_ended:
        if isinstance(target, Target) and not way.apart:
            raise _ReadAgain(replace(way, apart=True))
        raise _goes_on(line, damage.column)
    if damage.code == HUGE:
        raise Refused("limit_markup", "One tag, attribute or text is too long.", line, damage.column)
    _keep_part(target.report, damage.sentence, line, damage.column)


def _keep_part(report: ParsedReport, sentence: str, line: int | None, column: int | None) -> None:
    if not report.keys and not report.run_errors:
        raise Refused("malformed", f"The file is damaged: {sentence}.", line, column)
    report.partial = True
    report.order_reliable = False
    report.warnings.add("partial", f"The file is damaged: {sentence}. What came before is kept.", line, column)
