"""One file: from a stream of bytes to a ParsedReport, or to a refusal that says what is wrong and where."""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from lxml import etree

from ingest.junit.encoding import NeedsRepair, Utf8Source
from ingest.junit.keeping import Share
from ingest.junit.lane import Lane
from ingest.junit.limits import Limits
from ingest.junit.ordering import looks_parallel, says_order
from ingest.junit.problems import Refused, over_limit
from ingest.junit.report import ParsedReport
from ingest.junit.rows import NamedTwice
from ingest.junit.target import Target
from ingest.junit.unpacking import DAMAGE

_ILLEGAL_CHARACTER = {
    etree.ErrorTypes.ERR_INVALID_CHAR,
    etree.ErrorTypes.ERR_INVALID_ENCODING,
    etree.ErrorTypes.ERR_INVALID_HEX_CHARREF,
    etree.ErrorTypes.ERR_INVALID_DEC_CHARREF,
    etree.ErrorTypes.ERR_INVALID_CHARREF,
    etree.ErrorTypes.I18N_CONV_FAILED,
}
_SECOND_ROOT = etree.ErrorTypes.ERR_DOCUMENT_END
_HUGE = etree.ErrorTypes.ERR_RESOURCE_LIMIT if hasattr(etree.ErrorTypes, "ERR_RESOURCE_LIMIT") else 114


_CDATA_FACTOR = 16
"""A CDATA section is text, not markup: captured output may be long."""
_ROOT_TAG = re.compile(rb"<[A-Za-z_]")
_MARKER_OF = {
    "doctype": re.compile(rb"<!DOCTYPE"),
    "html_page": _ROOT_TAG,
    "other_format": _ROOT_TAG,
    "other_xml": _ROOT_TAG,
}
"""Where to point when a file is refused for what it is."""


class _Damage(Exception):
    """The file cannot be read past this point."""

    def __init__(self, code: int, sentence: str, line: int | None, column: int | None) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.line = line
        self.column = column


def read_report(
    opened: Callable[[], BinaryIO], limits: Limits | None = None, share: Share | None = None
) -> ParsedReport:
    """Read one JUnit XML document. `opened` gives its bytes from the start, again if they need repair.

    Raises Refused where nothing can be taken. A document that breaks off keeps what came before, marked partial."""
    limits = limits or Limits()
    share = share or Share(limits.text_total)
    left, lane, repair = share.left, True, False
    while True:
        try:
            return _read(opened(), limits, share, lane=lane, repair=repair)
        except _Again as again:
            share.left, lane, repair = left, False, again.repair


class _Again(Exception):
    """Read the file from its start once more, without the fast lane, and repaired if need be."""

    def __init__(self, *, repair: bool) -> None:
        super().__init__(repair)
        self.repair = repair


def _read(stream: BinaryIO, limits: Limits, share: Share, *, lane: bool, repair: bool) -> ParsedReport:
    target = Target(limits, share, careful=not lane)
    source = Utf8Source(stream, repair=repair)
    try:
        _feed(iter(source), target, limits, lane=lane)
    except (NeedsRepair, NamedTwice, UnicodeDecodeError):
        if repair:  # the last way to read it: going round again would not end
            raise
        raise _Again(repair=not lane) from None
    except _Damage as damage:
        if lane:
            raise _Again(repair=False) from None
        if damage.code in _ILLEGAL_CHARACTER and not repair:
            raise _Again(repair=True) from None
        _salvage(target, damage, source.skipped_lines)
    report = target.report
    if repair:
        report.warnings.add("repaired", "Characters that XML forbids were removed; undecodable bytes became U+FFFD.")
    if report.order_reliable and not says_order(report) and looks_parallel(report, target.wall_time()):
        report.order_reliable = False
    return report


def _feed(chunks: Iterator[bytes], target: Target, limits: Limits, *, lane: bool) -> None:
    parser = etree.XMLParser(
        target=target,  # type: ignore[arg-type]
        encoding="utf-8",
        # False would leave &amp; in attributes as &#38;. A DOCTYPE is refused before it can declare any other entity.
        resolve_entities="internal",  # type: ignore[arg-type]
        no_network=True,
        load_dtd=False,
        huge_tree=True,  # libxml2's own limits refuse honest output in CDATA; ours are on depth, markup and bytes
        remove_comments=True,
        remove_pis=True,
    )
    fast = Lane(target, parser.feed) if lane else None
    silence = _Silence(limits.markup)
    first = b""
    try:
        for chunk in chunks:
            if chunk:
                first = first or chunk
                before = target.progress()
                if fast is not None:
                    fast.add(chunk)
                else:
                    parser.feed(chunk)
                silence.note(chunk, broken=target.progress() != before)
                target.flush_batch()
        if fast is not None:
            fast.finish()
        parser.close()
    except etree.XMLSyntaxError as error:
        line, column = error.position
        code: int = getattr(error, "code", 0) or 0
        raise _Damage(code, _plain_sentence(error), line, column) from None
    except Refused as refusal:
        if refusal.line is None and (marker := _MARKER_OF.get(refusal.code)) and (found := marker.search(first)):
            refusal.line = first.count(b"\n", 0, found.start()) + 1
            refusal.column = found.start() - first.rfind(b"\n", 0, found.start())
        raise
    except DAMAGE as error:
        target.close()
        raise _Damage(0, f"The compressed data ends early or is damaged ({error})", None, None) from None


class _Silence:
    """Bytes that the parser took without a word: a tag, attribute or comment that does not end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._began = b""

    def note(self, chunk: bytes, *, broken: bool) -> None:
        if broken:
            self._size, self._began = 0, chunk
            return
        if not self._size:
            self._began += chunk
        self._size += len(chunk)
        if self._size > self._limit and self._size > self._limit * (_CDATA_FACTOR if self._in_cdata() else 1):
            raise over_limit("markup", self._limit, "One tag, attribute or comment is too long")

    def _in_cdata(self) -> bool:
        """Whether what began and has not ended is a CDATA section: the parser holds one until its end."""
        opened = self._began.rfind(b"<![CDATA[")
        return opened >= 0 and opened > max(self._began.rfind(b"]]>"), self._began.rfind(b"<!--"))


def _plain_sentence(error: etree.XMLSyntaxError) -> str:
    """libxml2's words without the position that it appends."""
    message = (error.msg or "The XML is not well-formed").split(", line ")[0].strip()
    return message[:300]


def _salvage(target: Target, damage: _Damage, skipped_lines: int) -> None:
    """Keep what came before the damage, marked partial; refuse where that is nothing, or not one document."""
    line = damage.line + skipped_lines if damage.line is not None else None
    if damage.code == _SECOND_ROOT or target.root_ended:
        sentence = "The file goes on after its root element: two documents in one file? Send each as a file of its own."
        raise Refused("two_roots", sentence, line, damage.column)
    if damage.code == _HUGE:
        raise Refused("limit_markup", "One tag, attribute or text is too long.", line, damage.column)
    if not target.report.keys and not target.report.run_errors:
        raise Refused("malformed", f"The XML is damaged: {damage.sentence}.", line, damage.column)
    target.report.partial = True
    target.report.order_reliable = False
    target.report.warnings.add(
        "partial", f"The file is damaged: {damage.sentence}. What came before is kept.", line, damage.column
    )
