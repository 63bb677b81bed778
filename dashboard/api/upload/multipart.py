"""A multipart/form-data body, part by part as it comes, and none of it left out.

Django's own reader drops parts that it has no name for, text around the parts, and whatever follows a boundary in the
middle of a line. A gate that never saw a failing report would let it pass, so this one refuses what it cannot place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

HEADER_BYTES = 16 * 1024
"""Of one part, all its headers together."""
_BOUNDARY = re.compile(r"[ -~]{0,199}[!-~]")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*)", re.DOTALL)
_VALUE = re.compile(r"[^;]*")
_PARAMETER = re.compile(r';[ \t]*(?:([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;"]*)))?[ \t]*')
_ESCAPED = re.compile(r'\\(["\\])')
_BLANK = b" \t\r\n"
_PLAIN = ("7bit", "8bit", "binary")
"""Transfer encodings that leave the bytes as they are."""


class BadMultipart(Exception):
    """The body is no form that can be read whole; the message says where and why, and ends without a full stop."""

    status = 400


class PartWithoutName(BadMultipart):
    """The form is whole, and nobody can say what this part of it is."""

    status = 422


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the form. Its content must be read before the next part is asked for."""

    number: int
    """From 1, as they stand in the body."""
    name: str
    file_name: str | None
    """What the sender calls the file; None for a field."""
    content: Iterator[bytes]

    @property
    def label(self) -> str:
        """A name to show: never a path, never empty, and never one that stands for a folder."""
        written = self.file_name or ""
        last = _printable(re.split(r"[/\\]", written)[-1]).strip()
        if last not in ("", ".", ".."):
            return last
        shown = _printable(written)[:100].strip()
        return f"part {self.number} ({shown})" if shown else f"part {self.number}"


def read_form(content_type: str, chunks: Iterator[bytes]) -> Iterator[Part]:
    """The parts of a body. What is before the first boundary or after the last must be blank."""
    body = _Body(chunks)
    boundary = b"\r\n--" + _boundary(content_type)
    for piece in body.until(boundary):
        _check_blank(piece, "before the first boundary")
    number = 0
    while body.begins_part():
        number += 1
        name, file_name = _disposition(number, _headers(number, body))
        yield Part(number, name, file_name, body.content(boundary))
    for piece in body.rest():
        _check_blank(piece, "after the last boundary")


def _boundary(content_type: str) -> bytes:
    _, parameters = _parameters(content_type, "The Content-Type")
    boundary = parameters.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise BadMultipart("The Content-Type has no boundary of 1 to 200 printable characters")
    return boundary.encode("ascii")


def _check_blank(piece: bytes, where: str) -> None:
    if piece.strip(_BLANK):
        raise BadMultipart(f"There is text {where}, which belongs to no part")


# -- bytes -------------------------------------------------------------------------------------------------------


class _Body:
    """The bytes of the body, of which no more than a chunk and a line are held."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b"\r\n"  # so that a boundary at the very beginning is at the beginning of a line too
        self._at = 0

    def until(self, mark: bytes) -> Iterator[bytes]:
        """Everything before the mark; the mark itself is dropped."""
        while (place := self._held.find(mark, self._at)) < 0:
            sure = max(len(self._held) - len(mark) + 1, self._at)
            if sure > self._at:
                yield self._held[self._at : sure]
            self._at = sure
            self._need_more()
        if place > self._at:
            yield self._held[self._at : place]
        self._at = place + len(mark)

    def content(self, boundary: bytes) -> Iterator[bytes]:
        """A part's content. Of an empty one, some senders write the boundary right behind the head."""
        at_once = boundary.removeprefix(b"\r\n")
        while len(self._held) - self._at < len(at_once) and at_once.startswith(self._held[self._at :]):
            self._need_more()
        if self._held.startswith(at_once, self._at):
            self._at += len(at_once)
        else:
            yield from self.until(boundary)

    def line(self, limit: int, what: str) -> bytes:
        """A line without its end."""
        pieces, size = [], 0
        for piece in self.until(b"\r\n"):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise BadMultipart(f"{what} has more than {HEADER_BYTES:,} bytes")
        return b"".join(pieces)

    def begins_part(self) -> bool:
        """Whether the boundary that was just read begins a part; else it is the last one."""
        while len(self._held) - self._at < 2:
            self._need_more()
        if self._held.startswith(b"--", self._at):
            self._at += 2
            return False
        if self.line(HEADER_BYTES, "The line of a boundary").strip(b" \t"):
            raise BadMultipart("A line begins with the boundary and goes on with something else")
        return True

    def rest(self) -> Iterator[bytes]:
        yield self._held[self._at :]
        yield from self._chunks

    def _need_more(self) -> None:
        chunk = next(self._chunks, b"")
        if not chunk:
            raise EOFError
        self._held, self._at = self._held[self._at :] + chunk, 0


# -- headers -----------------------------------------------------------------------------------------------------


def _headers(number: int, body: _Body) -> dict[str, str]:
    """A part's headers by their names in small letters, each there once."""
    headers: dict[str, str] = {}
    left, what = HEADER_BYTES, f"The head of part {number}"
    while line := body.line(left, what):
        left -= len(line)
        match = _HEADER.fullmatch(line.decode("utf-8", "replace"))
        if match is None or b"\r" in line or b"\n" in line:
            raise BadMultipart(f"{what} has a line that is not a header")
        name = match[1].lower()
        if name in headers:
            raise BadMultipart(f"{what} has the header {name[:40]!r} twice")
        headers[name] = match[2]
    return headers


def _disposition(number: int, headers: dict[str, str]) -> tuple[str, str | None]:
    """Name and file name of a part that is what a form may have."""
    kind, parameters = _parameters(headers.get("content-disposition", ""), f"The Content-Disposition of part {number}")
    name = parameters.get("name", "").strip()
    if kind != "form-data":
        raise BadMultipart(f"Part {number} has no Content-Disposition: form-data with a name")
    if not name:
        raise PartWithoutName(f"Part {number} has no name")
    encoding = headers.get("content-transfer-encoding", "binary").strip().lower()
    if encoding not in _PLAIN:
        raise BadMultipart(f"Part {number} has the Content-Transfer-Encoding {encoding[:40]!r}: send it as it is")
    if headers.get("content-type", "").strip().lower().startswith("multipart/"):
        raise BadMultipart(f"Part {number} is multipart itself: send its files as parts of their own")
    return name, _file_name(parameters)


def _parameters(written: str, what: str) -> tuple[str, dict[str, str]]:
    """A header's value and its parameters, each there once."""
    match = _VALUE.match(written)
    assert match is not None
    kind, at, found = match[0].strip().lower(), match.end(), {}
    while at < len(written):
        parameter = _PARAMETER.match(written, at)
        if parameter is None or parameter.end() == at:
            raise BadMultipart(f"{what} cannot be read")
        at = parameter.end()
        if parameter[1] is None:
            continue
        name, quoted, plain = parameter[1].lower(), parameter[2], parameter[3]
        if name in found:
            raise BadMultipart(f"{what} says {name[:40]!r} twice")
        found[name] = _ESCAPED.sub(r"\1", quoted) if quoted is not None else plain.strip()
    return kind, found


def _file_name(parameters: dict[str, str]) -> str | None:
    """`filename*` is the same name written for letters beyond ASCII; how well it is written changes a label only."""
    extended = parameters.get("filename*")
    if extended is None:
        return parameters.get("filename")
    charset, _, coded = extended.partition("'")
    if "'" not in coded:
        return extended
    encoding = "latin-1" if charset.lower() in ("iso-8859-1", "latin-1", "us-ascii") else "utf-8"
    return unquote_to_bytes(coded.partition("'")[2]).decode(encoding, "replace")


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())
