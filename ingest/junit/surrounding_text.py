"""Content of a file besides a document: text of the runner before and after it, and further documents."""

import codecs
import re
from collections.abc import Iterator
from typing import Protocol

from ingest.junit.result_marks import Scan

CONTROLS = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that text does not contain; terminals' escapes and bells are allowed."""
_ROOT = rb"(?P<root><(?:\?xml\s|(?:[\w.-]{1,40}:)?testsuites?[\s/>]))"
FIRST_ROOT = re.compile(rb"\n[ \t]{0,80}" + _ROOT)
"""A document after text begins on a new line: a quotation within a line is none."""
NEXT_ROOT = re.compile(_ROOT)
_END = re.compile(rb"/>|</(?:[\w.-]{1,40}:)?testsuites?\s{0,99}>")
"""Where a root element may end."""
_JSON = re.compile(rb"[\[{]\s{0,99}(?:[\[{\"\]}0-9-]|\Z)")
_OVERLAP = 256
"""Longer than a match of any of these, so that none is lost between two chunks."""
_MOST_ENDS = 2_000_000


def may_be_words(start: bytes) -> bool:
    """Whether a file begins with text rather than markup or JSON: `[INFO] …` is no JSON."""
    return not start.startswith(b"<") and _JSON.match(start) is None


class Words:
    """Checks a stretch of text: whether it is text at all, and whether it looks like results."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._scan = Scan(lines=True)
        self.is_text = True
        self.blank = True

    def add(self, chunk: bytes) -> None:
        self._scan.add(chunk)
        self.blank = self.blank and not chunk.strip()
        self._check(chunk)

    def end(self) -> None:
        self._check(b"", final=True)

    @property
    def marked(self) -> bool:
        return self._scan.found

    def _check(self, chunk: bytes, *, final: bool = False) -> None:
        try:
            self._decoder.decode(chunk, final)
        except UnicodeDecodeError:
            self.is_text = False
        self.is_text = self.is_text and CONTROLS.search(chunk) is None


class RootedDocument(Protocol):
    root_ended: bool


class Tape:
    """The bytes of a file, read piece by piece: text, a document, text, and so on."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b""
        self._at = 0
        """The position in the held bytes up to which they were taken."""
        self._over = False
        self._ends = 0
        self.lines = 0
        """Lines read so far."""

    def words(self, until: "re.Pattern[bytes]") -> tuple[Words, bool]:
        """The text up to the next root, and whether there is one."""
        words, found = Words(), None
        while found is None and not self._over:
            found = until.search(self._held, self._at)
            words.add(self._take_to(found.start("root")) if found else self._take_rest())
        words.end()
        return words, found is not None

    def document(self, target: RootedDocument) -> Iterator[bytes]:
        """The pieces of a document: each ends where its root may end, and the last one where it does."""
        while not target.root_ended and not self._over:
            found = _END.search(self._held, self._at) if self._ends < _MOST_ENDS else None
            self._ends += found is not None
            yield self._take_to(found.end()) if found else self._take_rest()

    def _take_to(self, end: int) -> bytes:
        taken, self._at = self._held[self._at : end], end
        self.lines += taken.count(b"\n")
        return taken

    def _take_rest(self) -> bytes:
        """The held bytes except an end that may begin a match; all of them at the end of the file."""
        chunk = next(self._chunks, None)
        self._over = chunk is None
        size = len(self._held)
        taken = self._take_to(size if self._over else max(size - _OVERLAP, self._at))
        self._held, self._at = self._held[self._at :] + (chunk or b""), 0
        return taken
