"""Files that certainly hold no test results: a short list, by content and never by name.

Such a file must look the part from the first byte to the last and hold no mark of results. Any other unreadable file
is "not understood": it may be the report of the failure."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from ingest.junit import images
from ingest.junit.archives.compressed_streams import Readable
from ingest.junit.encoding import CHUNK
from ingest.junit.result_marks import any_marks
from ingest.junit.surrounding_text import CONTROLS

_HEAD = 4_096
_TAP = b"TAP version "
"""Text that is the beginning of this was cut off there."""
_TAIL = 256
_WHOLE = 32 * 1024 * 1024
"""JSON and images are examined as a whole; larger ones are not understood."""
_ROOTS = {
    **dict.fromkeys(("coverage", "scoverage", "CoverageSession", "CoverageDSPriv"), "a coverage report"),
    **dict.fromkeys(("checkstyle", "pmd", "pmd-cpd", "BugCollection", "issues", "CodeInspectionReport"), "lint output"),
}
_JACOCO = re.compile(rb"<report\s+name=[^>]{0,500}>\s*<(?:sessioninfo|package|group|counter)\b")
_BUILD_FILE = re.compile(rb"<project\b[^>]{0,2000}(?:maven\.apache\.org|\bdefault=|\bbasedir=)")
_ROOT = re.compile(
    rb"\A(?>\s++|<\?[^>]{0,1000}\?>|<!--(?:[^-]|-(?!->)){0,4000}-->|<!DOCTYPE[^>\[]{0,500}>){0,20}<(?:[\w.-]{1,40}:)?([\w.-]{1,80})"
)
_CLOSED = re.compile(rb"</(?:[\w.-]{1,40}:)?([\w.-]{1,80})\s{0,99}>\s{0,99}\Z")
_EMPTY = re.compile(rb"[^<>]{0,2000}/>\s{0,99}\Z")


def not_results(stream: Readable, *, named: bool) -> str | None:
    """What the file is, such as `a coverage report`; None if unknown. A file that begins like a known format, such as
    TAP or PDF, is `named`: it is not a log, whatever it contains."""
    head = stream.read(_HEAD)
    if head.startswith(images.STARTS):
        return _image(head, stream)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if not start:
        return None
    if start.startswith((b"{", b"[")):
        return _json(head, stream)
    if start.startswith(b"<"):
        return _xml(start, head, stream)
    return None if named else _log(head, stream)


def _chunks(head: bytes, stream: Readable) -> Iterator[bytes]:
    yield head
    while chunk := stream.read(CHUNK):
        yield chunk


# -- text --------------------------------------------------------------------------------------------------------


class _Text:
    """The chunks of a stream, and whether they are UTF-8 text so far."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._chunks = _chunks(head, stream)
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.is_text = True
        self.tail = b""

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._check(chunk)
            self.tail = (self.tail + chunk)[-_TAIL:]
            yield chunk
        self._check(b"", final=True)

    def _check(self, chunk: bytes, *, final: bool = False) -> None:
        try:
            self._decoder.decode(chunk, final)
        except UnicodeDecodeError:
            self.is_text = False
        self.is_text = self.is_text and CONTROLS.search(chunk) is None


def _log(head: bytes, stream: Readable) -> str | None:
    """Text is a log only if nothing in it looks like a result."""
    text = _Text(head, stream)
    marked = any_marks(text, lines=True)
    return None if marked or not text.is_text or _TAP.startswith(head.strip()) else "a log or other text"


def _xml(start: bytes, head: bytes, stream: Readable) -> str | None:
    found = _ROOT.match(start)
    root = found[1].decode() if found else ""
    known = _ROOTS.get(root)
    if root == "report" and _JACOCO.search(start):
        known = "a coverage report"
    elif root == "project" and _BUILD_FILE.search(start):
        known = "a build file"
    if known is None:
        return None
    text = _Text(head, stream)
    if any_marks(text, lines=False) or not text.is_text:
        return None
    end = _CLOSED.search(text.tail)
    if end is None:  # a root without content is closed where it begins
        return known if found is not None and _EMPTY.match(start, found.end()) else None
    return known if end[1].decode() == root else None


def _json(head: bytes, stream: Readable) -> str | None:
    pieces, size = [], 0
    for chunk in _chunks(head, stream):
        pieces.append(chunk)
        size += len(chunk)
        if size > _WHOLE:
            return None
    content = b"".join(pieces)
    try:
        known = _shape(json.loads(content))
    except (ValueError, RecursionError):
        return None
    return None if known is None or any_marks([content], lines=True) else known


def _shape(value: Any) -> str | None:
    """Coverage of coverage.py and Istanbul; lint of ESLint and SARIF."""
    if isinstance(value, list):
        alike = value and all(isinstance(item, dict) and {"filePath", "messages"} <= item.keys() for item in value)
        return "lint output" if alike else None
    if {"meta", "files", "totals"} <= value.keys():
        return "a coverage report"
    if value and all(isinstance(item, dict) and {"statementMap", "fnMap"} <= item.keys() for item in value.values()):
        return "a coverage report"
    return "lint output" if "sarif" in str(value.get("$schema", "")).lower() and "runs" in value else None


# -- images ------------------------------------------------------------------------------------------------------


def _image(head: bytes, stream: Readable) -> str | None:
    content = _KeptChunks(_chunks(head, stream))
    if any_marks(content, lines=False) or len(content.bytes) > _WHOLE:
        return None
    return "an image" if images.is_image(bytes(content.bytes)) else None


class _KeptChunks:
    """Keeps chunks as they pass; a larger file is not taken for an image."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.bytes = bytearray()

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if len(self.bytes) <= _WHOLE:
                self.bytes += chunk
            yield chunk
