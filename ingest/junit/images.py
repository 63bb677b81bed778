"""Images: known as such only if every byte has its place in the format, and no text in them looks like results.

Pixels are not looked at. Anything else that could carry a file is: text, compressed text, pieces of an unknown kind,
and what stands behind the end."""

import re
import zlib

from ingest.junit.result_marks import has_marks

_PNG, _JPEG, _GIF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8"
STARTS = (_PNG, _JPEG, _GIF)
_MOST_TEXT = 1024 * 1024
"""A compressed text of more bytes is not understood."""
_MOST_PIECES = 300_000
"""Nor is an image of more pieces: they are looked at one by one."""


def is_image(content: bytes) -> bool:
    """Whether the bytes are one PNG, JPEG or GIF from the first to the last, without results in its texts."""
    check = next(check for start, check in _CHECKS.items() if content.startswith(start))
    try:
        return check(content)
    except (ValueError, IndexError, zlib.error):
        return False


# -- PNG ---------------------------------------------------------------------------------------------------------

_KINDS = frozenset(
    b"IHDR PLTE IDAT IEND tRNS cHRM gAMA sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT eXIf tIME acTL fcTL fdAT "
    b"oFFs pCAL sCAL sTER gIFg gIFx iDOT vpAg orNT".split()
)
"""Those of the standard and its extensions, of macOS and of ImageMagick that hold no text."""


def _is_png(content: bytes) -> bool:
    at = len(_PNG)
    for _ in range(_MOST_PIECES):
        size, kind = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8]
        data, end = content[at + 8 : at + 8 + size], at + 12 + size
        if end > len(content) or zlib.crc32(kind + data) != int.from_bytes(content[end - 4 : end], "big"):
            return False
        if (text := _png_text(kind, data)) is not None and has_marks(text):
            return False
        if kind == b"IEND":
            return end == len(content)
        at = end
    return False


def _png_text(kind: bytes, data: bytes) -> bytes | None:
    """The text of a piece, without compression; None if it holds none."""
    if kind in _KINDS:
        return None
    keyword, _, rest = data.partition(b"\0")
    if kind == b"tEXt":
        return data
    if kind in (b"zTXt", b"iCCP"):
        return keyword + b"\n" + _inflated(rest[1:])
    if kind == b"iTXt":
        language, translated, text = rest[2:].split(b"\0", 2)
        return b"\n".join((keyword, language, translated, _inflated(text) if rest[0] else text))
    raise ValueError(f"an unknown piece {kind!r}")


def _inflated(data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    text = inflater.decompress(data, _MOST_TEXT)
    if not inflater.eof or inflater.unused_data:
        raise ValueError("a text without an end")
    return text


# -- JPEG --------------------------------------------------------------------------------------------------------

_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})
"""Markers without content."""
_SCAN, _END, _COMMENT = 0xDA, 0xD9, 0xFE
_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""What ends the pixels of a scan."""


def _is_jpeg(content: bytes) -> bool:
    at = 2
    for _ in range(_MOST_PIECES):
        if content[at] != 0xFF:
            return False
        at, marker = at + 2, content[at + 1]
        if marker == _END:
            return at == len(content)
        if marker == 0xFF:  # any number of them may precede a marker
            at -= 1
        elif marker not in _ALONE:
            size = int.from_bytes(content[at : at + 2], "big")
            if size < 2 or (marker == _COMMENT and has_marks(content[at + 2 : at + size])):
                return False
            at += size
        if marker == _SCAN:
            found = _NEXT_MARKER.search(content, at)
            at = found.start() if found else len(content)
    return False


# -- GIF ---------------------------------------------------------------------------------------------------------

_PICTURE, _EXTENSION, _TRAILER = 0x2C, 0x21, 0x3B


def _is_gif(content: bytes) -> bool:
    at, left = 13 + _colours(content[10]), _MOST_PIECES
    while (block := content[at]) != _TRAILER:
        if block == _PICTURE:
            at += 10 + _colours(content[at + 9]) + 1
        elif block == _EXTENSION:
            at += 2
        else:
            return False
        data = bytearray()
        while size := content[at]:
            data += content[at + 1 : at + 1 + size]
            at, left = at + 1 + size, left - 1
        at, left = at + 1, left - 1
        if left < 0 or (block == _EXTENSION and has_marks(bytes(data))):
            return False
    return at + 1 == len(content)


def _colours(flags: int) -> int:
    """The bytes of a colour table."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


_CHECKS = {_PNG: _is_png, _JPEG: _is_jpeg, _GIF: _is_gif}
