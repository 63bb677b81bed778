"""gzip, xz, bzip2 and zstd as streams with bounded output per read and bounded memory.

Every kind is a sequence of members (gzip's term; others say streams or frames) with zeros as padding between and
after them. Anything else after a member is damage, so that no data is ignored silently."""

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import zstandard

from ingest.junit.result_marks import has_marks

MEBIBYTE = 1024 * 1024
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zstandard.ZstdError)
_INPUT = 32 * 1024
_SILENCE = MEBIBYTE
_MEMBERS = 20_000
_XZ_MEMORY = 80 * MEBIBYTE
"""A little more than `xz -9` needs."""
_ZSTD_WINDOW = 64 * MEBIBYTE
"""Eight times what `zstd -19` needs; `--ultra` and `--long` may need more."""
_ZSTD_SKIPPED = 64 * 1024
_ZSTD_BLOCKS = 100
_ZSTD_BLOCK = 16
"""Beyond this many blocks, a frame's blocks must average this many bytes: even tiny blocks cost time."""


class Readable(Protocol):
    """Anything that returns at most the bytes asked for, and none at its end."""

    def read(self, size: int, /) -> bytes: ...


class Codec(Protocol):
    """One member's decompressor."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused(self) -> bytes:
        """Input that belongs to the next member, or must be passed in again."""

    def decompress(self, data: bytes, size: int) -> bytes: ...


class _Zlib:
    """gzip, or deflate without a header as in zip."""

    def __init__(self, bits: int) -> None:
        self._inflater = zlib.decompressobj(bits)

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def unused(self) -> bytes:
        return self._inflater.unused_data or self._inflater.unconsumed_tail

    def decompress(self, data: bytes, size: int) -> bytes:
        return self._inflater.decompress(data, size)


class _Buffered:
    """xz, lzma and bzip2, whose decompressors buffer unused input."""

    def __init__(self, inflater: "lzma.LZMADecompressor | bz2.BZ2Decompressor") -> None:
        self._inflater = inflater

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def unused(self) -> bytes:
        return self._inflater.unused_data if self._inflater.eof else b""

    def decompress(self, data: bytes, size: int) -> bytes:
        try:
            return self._inflater.decompress(data, size)
        except OSError as error:  # bz2 has no error of its own
            raise lzma.LZMAError(str(error)) from None
        except MemoryError:
            raise lzma.LZMAError("it asks for more memory than is given") from None


class _Zstd:
    """One frame, passed to zstd block by block: a block expands to at most 128 KiB, a whole chunk to any size."""

    def __init__(self) -> None:
        self._inflater = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        self._pieces = self._split()
        self._piece = b""
        self._wanted = next(self._pieces)
        self._given, self._at = b"", 0
        self._ready = b""
        self.eof = False
        self.unused = b""

    def decompress(self, data: bytes, size: int) -> bytes:
        if data:
            self._given, self._at = self._given[self._at :] + data, 0
        while not self._ready and 0 < self._wanted <= len(self._given) - self._at:
            self._piece = self._given[self._at : self._at + self._wanted]
            self._at += self._wanted
            self._wanted = next(self._pieces, 0)
        made, self._ready = self._ready[:size], self._ready[size:]
        self.eof = not self._wanted and not self._ready
        if self.eof:
            self.unused = self._given[self._at :]
        return made

    def _split(self) -> Iterator[int]:
        """How many bytes each next piece of the frame has; `_piece` is the one before."""
        yield 4
        magic = self._piece
        if _SKIPPED_FRAME.fullmatch(magic):
            yield 4
            size = int.from_bytes(self._piece, "little")
            if size > _ZSTD_SKIPPED:
                raise zstandard.ZstdError("a frame that is to be skipped is large")
            if size:
                yield size
                if has_marks(self._piece):
                    raise zstandard.ZstdError("a frame that is to be skipped holds results")
            return
        yield 1
        flags = self._piece[0]
        yield _zstd_header(flags)
        self._feed(magic + bytes([flags]) + self._piece)
        yield from self._blocks()
        if flags & 4:
            yield 4
            self._feed(self._piece)
        if not self._inflater.eof:
            raise zstandard.ZstdError("a frame does not end where it says")

    def _blocks(self) -> Iterator[int]:
        last, blocks, taken = False, 0, 0
        while not last:
            yield 3
            header = int.from_bytes(self._piece, "little")
            last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            self._feed(self._piece)
            size = 1 if kind == 1 else size
            blocks, taken = blocks + 1, taken + 3 + size
            if blocks > _ZSTD_BLOCKS and taken < _ZSTD_BLOCK * blocks:
                raise zstandard.ZstdError("it consists of tiny blocks")
            if size:
                yield size
                self._feed(self._piece)

    def _feed(self, piece: bytes) -> None:
        self._ready += self._inflater.decompress(piece)


def _zstd_header(flags: int) -> int:
    """Length of a frame's header after its flags: window, dictionary and content size."""
    single = flags >> 5 & 1
    return (not single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]


_SKIPPED_FRAME = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")


def _xz() -> Codec:
    return _Buffered(lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY))


def _bzip2() -> Codec:
    return _Buffered(bz2.BZ2Decompressor())


def lzma_of_zip(properties: bytes) -> Codec:
    """The lzma of a zip entry, whose properties precede the data."""
    if len(properties) != 5 or int.from_bytes(properties[1:], "little") > _XZ_MEMORY or properties[0] >= 225:
        raise lzma.LZMAError("the lzma properties are not usable")
    rest, lc = divmod(properties[0], 9)
    pb, lp = divmod(rest, 5)
    size = max(4096, int.from_bytes(properties[1:], "little"))
    chain = [{"id": lzma.FILTER_LZMA1, "dict_size": size, "lc": lc, "lp": lp, "pb": pb}]
    return _Buffered(lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=chain))


def deflate() -> Codec:
    """Deflate without a header."""
    return _Zlib(-15)


KINDS: tuple[tuple["re.Pattern[bytes]", Callable[[], Codec], str], ...] = (
    (re.compile(rb"\x1f\x8b"), lambda: _Zlib(31), ".gz"),
    (re.compile(rb"\xfd7zXZ\0"), _xz, ".xz"),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), _bzip2, ".bz2"),
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), _Zstd, ".zst"),
)
"""The magic bytes, the decompressor and the file extension of each kind."""
CODEC_OF_METHOD = {8: deflate, 12: _bzip2, 93: _Zstd, 95: _xz}
"""The supported methods of zip entries besides stored and lzma."""


def compression_of(head: bytes) -> tuple[Callable[[], Codec], str] | None:
    """The codec and usual file extension for data with this start; None if it is not compressed."""
    return next(((codec, ending) for magic, codec, ending in KINDS if magic.match(head)), None)


class InflatedStream:
    """The content of a compressed stream. Names, padding and empty members are never read byte by byte.

    A read that meets damage returns the data before it; the next one raises."""

    def __init__(
        self, source: Readable, codec: Callable[[], Codec], *, members: int = _MEMBERS, open_end: bool = False
    ) -> None:
        self._source = source
        self._codec = codec
        self._most = members
        self._open_end = open_end
        """Whether the end of the input also ends the last member, because its reader knows the expected size."""
        self._input = b""
        self._taken = 0
        self._silence = 0
        self._members = 1
        self._inflater = codec()

    def consumed(self) -> int:
        """Compressed bytes consumed so far."""
        return self._taken - len(self._input)

    def read(self, size: int, /) -> bytes:
        pieces = []
        try:
            while size > 0 and (piece := self._piece(size)):
                pieces.append(piece)
                size -= len(piece)
        except DAMAGE:
            if not pieces:
                raise
        return b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        while not self._inflater.eof or self._next_member():
            # What is buffered comes out first: with nothing given, or at the end of the input.
            data = self._inflater.decompress(b"", size) if not self._input else b""
            given = b"" if data else self._input or self._more()
            if not data:
                data = self._inflater.decompress(given, size)
                self._input = self._inflater.unused
            elif self._inflater.eof:
                self._input = self._inflater.unused
            if data:
                self._silence = 0
                return data
            if not given and not self._inflater.eof:
                if self._open_end:
                    return b""
                raise EOFError("the compressed data ends early")
            self._endure(len(given) - len(self._input))
        return b""

    def _next_member(self) -> bool:
        """Whether another member follows after any padding."""
        self._input = self._input.lstrip(b"\0")
        while not self._input and (more := self._more()):
            self._input = more.lstrip(b"\0")
            self._endure(len(more) - len(self._input))
        if not self._input:
            return False
        self._members += 1
        if self._members > self._most:
            raise gzip.BadGzipFile(f"it goes on behind its end, or has more than {self._most:,} members")
        self._inflater = self._codec()
        return True

    def _more(self) -> bytes:
        data = self._source.read(_INPUT)
        self._taken += len(data)
        return data

    def _endure(self, size: int) -> None:
        """Count input without output: endless names, padding, empty members and blocks evade the meter."""
        self._silence += size
        if self._silence > _SILENCE:
            raise gzip.BadGzipFile("a mebibyte of it inflates to nothing")
