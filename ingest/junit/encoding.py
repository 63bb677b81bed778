"""Converts a file of any encoding to clean UTF-8 for the XML parser."""

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from ingest.junit.problems import Refused

CHUNK = 128 * 1024
_HEAD = 1024
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:-]{1,40})[\"']")
_FAMILIES = re.compile(
    r"utf-8|ascii|utf-16(?:-[lb]e)?|iso8859-[0-9]+|latin-?1|cp(?:125[0-8]|437|850|852|866|932|936|949|950)"
    r"|shift_jis(?:x0213|_2004)?|euc_(?:jp|kr|jis_2004)|gb2312|gbk|gb18030|big5|koi8-[ru]|mac-roman"
)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));")
_OPEN_REFERENCE = re.compile(r"&[#0-9a-fA-Fx]{0,11}\Z")
_BLANK = b" \t\r\n"
_BLANK_CHUNKS = 16


class NeedsRepair(Exception):
    """Bytes that are not text in the file's encoding; reading again with `repair` replaces them."""


class Utf8Source:
    """The chunks of a stream as UTF-8 without byte order mark or blank start.

    With `repair`, characters that XML forbids are removed and undecodable bytes become U+FFFD."""

    def __init__(self, stream: BinaryIO, *, repair: bool = False) -> None:
        self._stream = stream
        self._repair = repair
        self.skipped_lines = 0
        """Blank lines before the document, to add to the parser's line numbers."""

    def __iter__(self) -> Iterator[bytes]:
        head = self._stream.read(CHUNK)
        encoding, mark = _encoding_of(head)
        recode = encoding != "utf-8" or self._repair
        yield from self._started(self._recoded(head[mark:], encoding) if recode else self._as_it_is(head[mark:]))

    def _started(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The chunks without leading blanks; a file that starts with two mebibytes of blanks counts as empty."""
        start = b""
        for chunk in islice(chunks, _BLANK_CHUNKS):
            start = chunk.lstrip(_BLANK)
            self.skipped_lines += chunk.count(b"\n", 0, len(chunk) - len(start))
            if start:
                break
        yield start
        yield from chunks

    def _as_it_is(self, head: bytes) -> Iterator[bytes]:
        yield head
        while chunk := self._stream.read(CHUNK):
            yield chunk

    def _recoded(self, head: bytes, encoding: str) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)("replace" if self._repair else "strict")
        carry, chunk = "", head
        while True:
            try:
                text = carry + decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                raise NeedsRepair from error
            carry = ""
            if self._repair:
                text, carry = _cleaned(text, last=not chunk)
            yield text.encode("utf-8", "replace")
            if not chunk:
                return
            chunk = self._stream.read(CHUNK)


def _encoding_of(head: bytes) -> tuple[str, int]:
    """The codec's name and the length of the byte order mark."""
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8", 3
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise Refused("encoding", "The file is in UTF-32: write it in UTF-8.", 1, 1)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16-le" if head.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"), 2
    if head.startswith((b"<\0", b"\0<")):
        return ("utf-16-le" if head.startswith(b"<") else "utf-16-be"), 0
    declared = _DECLARED.match(head.lstrip(_BLANK)[:_HEAD])
    return (_codec(declared[1].decode("ascii")) if declared else "utf-8"), 0


def _codec(declared: str) -> str:
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        name = ""
    if not _FAMILIES.fullmatch(name):
        raise Refused("encoding", f"The file says that its encoding is {declared!r}: write it in UTF-8.", 1, 1)
    # An 8-bit file that claims UTF-16 (Windows tools do this) must be UTF-8 or ASCII: its declaration was legible.
    return "utf-8" if name == "ascii" or name.startswith("utf-16") else name


def _cleaned(text: str, *, last: bool) -> tuple[str, str]:
    """The text without characters and references that XML forbids, and the open end to carry over."""
    carry = ""
    if not last and (open_end := _OPEN_REFERENCE.search(text, max(0, len(text) - 12))):
        text, carry = text[: open_end.start()], open_end[0]
    return _REFERENCE.sub(_legal_reference, _ILLEGAL.sub("", text)), carry


def _legal_reference(match: "re.Match[str]") -> str:
    code = int(match[1], 16) if match[1] else int(match[2])
    legal = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
    return match[0] if legal else ""
