"""What an attachment is, by its bytes and never by its name or by what its sender says. Pure.

Only four formats of pictures are ever shown by a page. Everything else is a download, and what is neither a known
format nor plain text is not taken."""

import struct
from enum import StrEnum

HEAD = 64 * 1024
"""Bytes that are looked at; JPEG may have that much before its size."""


class Kind(StrEnum):
    PNG = "png"
    JPEG = "jpeg"
    GIF = "gif"
    WEBP = "webp"
    WEBM = "webm"
    MP4 = "mp4"
    ZIP = "zip"
    GZIP = "gzip"
    PDF = "pdf"
    TEXT = "text"


_ENDINGS = {
    Kind.PNG: (".png",),
    Kind.JPEG: (".jpg", ".jpeg"),
    Kind.GIF: (".gif",),
    Kind.WEBP: (".webp",),
    Kind.WEBM: (".webm", ".mkv"),
    Kind.MP4: (".mp4", ".m4v", ".mov"),
    Kind.ZIP: (".zip",),
    Kind.GZIP: (".gz", ".tgz"),
    Kind.PDF: (".pdf",),
    Kind.TEXT: (".txt", ".log", ".json", ".jsonl", ".har", ".xml", ".csv", ".md", ".yml", ".yaml", ".out", ".err"),
}
"""How names of such files may end, the usual one first."""
PICTURES = frozenset({Kind.PNG, Kind.JPEG, Kind.GIF, Kind.WEBP})
_MAGICS = (
    (b"\x89PNG\r\n\x1a\n", Kind.PNG),
    (b"\xff\xd8\xff", Kind.JPEG),
    (b"GIF87a", Kind.GIF),
    (b"GIF89a", Kind.GIF),
    (b"\x1a\x45\xdf\xa3", Kind.WEBM),
    (b"PK\x03\x04", Kind.ZIP),
    (b"\x1f\x8b\x08", Kind.GZIP),
    (b"%PDF-", Kind.PDF),
)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG's segments with the picture's size."""


def kind_of(head: bytes) -> Kind | None:
    """The kind of a file that begins so; None for what is not taken."""
    for magic, kind in _MAGICS:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind.WEBP
    if head[4:8] == b"ftyp":
        return Kind.MP4
    return Kind.TEXT if is_text(head) else None


def is_text(piece: bytes) -> bool:
    """Whether it may be UTF-8 text, cut anywhere. Escapes are: they colour logs."""
    if b"\0" in piece:
        return False
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end == len(piece) and len(piece) - error.start < 4 and error.reason == "unexpected end of data"
    return True


def picture_type(kind: Kind) -> str:
    """The media type of a picture."""
    if kind not in PICTURES:
        raise ValueError(kind)
    return f"image/{kind}"


def file_name(name: str, kind: Kind) -> str:
    """What a download is called: the last part of its name, with an ending that says what it is."""
    last = name.rpartition("/")[2]
    endings = _ENDINGS[kind]
    return last if last.lower().endswith(endings) else f"{last}{endings[0]}"


# -- pictures ----------------------------------------------------------------------------------------------------


def picture_size(head: bytes) -> tuple[int, int] | None:
    """Width and height of a picture that may be shown; None for anything else, and where they are not said."""
    readers = {Kind.PNG: _png, Kind.JPEG: _jpeg, Kind.GIF: _gif, Kind.WEBP: _webp}
    kind = kind_of(head)
    if kind not in PICTURES:
        return None
    try:
        width, height = readers[kind](head)
    except (struct.error, IndexError, ValueError):
        return None
    return (width, height) if width > 0 and height > 0 else None


def _png(head: bytes) -> tuple[int, int]:
    if head[12:16] != b"IHDR":
        raise ValueError("no header")
    return struct.unpack_from(">II", head, 16)


def _gif(head: bytes) -> tuple[int, int]:
    return struct.unpack_from("<HH", head, 6)


def _jpeg(head: bytes) -> tuple[int, int]:
    """From segment to segment: each but a few has its length."""
    at = 2
    while True:
        if head[at] != 0xFF:
            raise ValueError("no segment")
        marker = head[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif marker in _FRAMES:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:
            at += 2
        elif marker in (0xD9, 0xDA):
            raise ValueError("no size")
        else:
            at += 2 + max(struct.unpack_from(">H", head, at + 2)[0], 2)


def _webp(head: bytes) -> tuple[int, int]:
    form = head[12:16]
    if form == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if form == b"VP8L" and head[20] == 0x2F:
        bits = struct.unpack_from("<I", head, 21)[0]
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    if form == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("no size")
