"""Parses one document with lxml, with plain error messages and a limit on markup that does not end."""

import re
from collections.abc import Callable, Iterator

from lxml import etree

from ingest.formats.lane import RunLane
from ingest.formats.registry import xml_format
from ingest.formats.xml import XmlFormat
from ingest.junit.archives.unpacking import DAMAGE
from ingest.junit.lane import CaseLane, Lane
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused, over_limit
from ingest.junit.refusals import refuse_root
from ingest.junit.target import OtherRoot, Target

Document = Target | XmlFormat
"""The target that lxml calls for the elements of a document."""

ILLEGAL_CHARACTER = {
    etree.ErrorTypes.ERR_INVALID_CHAR,
    etree.ErrorTypes.ERR_INVALID_ENCODING,
    etree.ErrorTypes.ERR_INVALID_HEX_CHARREF,
    etree.ErrorTypes.ERR_INVALID_DEC_CHARREF,
    etree.ErrorTypes.ERR_INVALID_CHARREF,
    etree.ErrorTypes.I18N_CONV_FAILED,
}
SECOND_ROOT = etree.ErrorTypes.ERR_DOCUMENT_END
HUGE = etree.ErrorTypes.ERR_RESOURCE_LIMIT if hasattr(etree.ErrorTypes, "ERR_RESOURCE_LIMIT") else 114
_ENDS_EARLY = "it ends before its root element does"
_NO_WORDS = "Unregistered error message"
"""libxml2's text for an error without a message."""
_CDATA_FACTOR = 16
"""A CDATA section is text, not markup, and captured output may be long."""
_ROOT_TAG = re.compile(rb"<[A-Za-z_]")
_MARKER_OF = {
    "doctype": re.compile(rb"<!DOCTYPE"),
    "html_page": _ROOT_TAG,
    "other_format": _ROOT_TAG,
    "other_xml": _ROOT_TAG,
}
"""The place to point at when a file is refused for its kind."""


class XmlDamage(Exception):
    """The file cannot be read past this point."""

    def __init__(self, code: int, sentence: str, line: int | None, column: int | None) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.line = line
        self.column = column


def compressed_damage(error: Exception) -> str:
    return f"The compressed data ends early or is damaged ({error})"


def feed(chunks: Iterator[bytes], target: Document, limits: Limits, *, lane: bool) -> None:
    """Feed a document to lxml, which calls the target."""
    parser = etree.XMLParser(
        target=target,  # type: ignore[arg-type]
        encoding="utf-8",
        # False would leave &amp; in attributes as &#38;. A DOCTYPE is refused before it can declare other entities.
        resolve_entities="internal",  # type: ignore[arg-type]
        no_network=True,
        load_dtd=False,
        huge_tree=True,  # libxml2's own limits refuse legitimate output in CDATA; ours are on depth, markup and bytes
        remove_comments=False,  # the target looks for results in them
        remove_pis=False,
    )
    fast = _lane(target, parser.feed) if lane else None
    silence = _Silence(limits.markup)
    first, ended = b"", False
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
        ended = True
        parser.close()
    except etree.XMLSyntaxError as error:
        line, column = error.position
        code: int = getattr(error, "code", 0) or 0
        raise XmlDamage(code, _ENDS_EARLY if ended else _plain_sentence(error), line, column) from None
    except OtherRoot as root:
        if xml_format(root.tag):
            raise
        raise _placed(refuse_root(root.tag.rpartition("}")[2]), first) from None
    except Refused as refusal:
        raise _placed(refusal, first) from None
    except DAMAGE as error:
        target.close()
        raise XmlDamage(0, compressed_damage(error), None, None) from None


def _lane(target: Document, feed: Callable[[bytes], None]) -> Lane:
    return CaseLane(target, feed) if isinstance(target, Target) else RunLane(target, feed)


def _placed(refusal: Refused, first: bytes) -> Refused:
    """The refusal with its position."""
    if refusal.line is None and (marker := _MARKER_OF.get(refusal.code)) and (found := marker.search(first)):
        refusal.line = first.count(b"\n", 0, found.start()) + 1
        refusal.column = found.start() - first.rfind(b"\n", 0, found.start())
    return refusal


class _Silence:
    """Counts bytes for which the parser made no call: a tag, attribute or comment that does not end."""

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
        """Whether the open markup is a CDATA section, which the parser buffers until its end."""
        opened = self._began.rfind(b"<![CDATA[")
        return opened >= 0 and opened > max(self._began.rfind(b"]]>"), self._began.rfind(b"<!--"))


def _plain_sentence(error: etree.XMLSyntaxError) -> str:
    """libxml2's message without the position that it appends and without content of the file."""
    message = (error.msg or "").split(", line ")[0].strip().partition("\n")[0]
    return message[:300] if message not in ("", _NO_WORDS) else "the XML is not well-formed"
