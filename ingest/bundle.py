"""The storage format of an upload: all its parts in one stream, written and read without holding it in memory.

A part is `N` + name, any number of `D` + data as received or `Z` + data that we deflated, then `E`; each piece is
prefixed by its length. Our own compression is undone on reading, so that the limits for compressed uploads do not
apply to it."""

import hashlib
import io
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, BinaryIO

from ingest.junit.archives.unpacking import COMPRESSED

_PIECE = struct.Struct(">cI")
_NAME = 4_000
_FEW = 8 * 1024
_SPOOL = 8 * 1024 * 1024
_CHUNK = 256 * 1024
_INFLATED = 1024 * 1024


class BundleWriter:
    """Writes parts to `sink`, compressing plain ones, and digests them as received."""

    def __init__(self, sink: Callable[[bytes], object]) -> None:
        self._sink = sink
        self._digests: list[bytes] = []

    def add(self, name: str, chunks: Iterable[bytes]) -> int:
        """Add a part; returns its size as received."""
        digest, size = hashlib.sha256(), 0
        self._piece(b"N", name[:_NAME].encode("utf-8", "replace"))
        deflater = None
        for chunk in filter(None, chunks):
            if not size and not chunk.startswith(COMPRESSED):
                deflater = _deflater(chunk)
            digest.update(chunk)
            size += len(chunk)
            if deflater is None:
                self._piece(b"D", chunk)
            elif deflated := deflater.compress(chunk):
                self._piece(b"Z", deflated)
        if deflater is not None:
            self._piece(b"Z", deflater.flush())
        self._piece(b"E", b"")
        self._digests.append(digest.digest())
        return size

    def _piece(self, kind: bytes, data: bytes) -> None:
        self._sink(_PIECE.pack(kind, len(data)))
        self._sink(data)

    def digest(self) -> bytes:
        """A digest of the parts' contents, whatever their names and order."""
        return hashlib.sha256(b"".join(sorted(self._digests))).digest()


def _deflater(first: bytes) -> "zlib._Compress":
    """For a part that begins like this. Thousands of small files need no more than small tables: those are set up anew
    for each of them."""
    return zlib.compressobj(1, zlib.DEFLATED, 13, 6) if len(first) < _FEW else zlib.compressobj(1)


def read_parts(stream: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    """Each part's name and a seekable stream of its bytes."""
    while header := stream.read(_PIECE.size):
        _, length = _PIECE.unpack(header)
        name = stream.read(length).decode("utf-8")
        with _aside(_data(stream)) as part:
            yield name, part  # type: ignore[misc]


def _aside(data: Iterator[bytes]) -> IO[bytes]:
    """The data in memory, beyond 8 MiB in an unnamed file."""
    held: IO[bytes] = io.BytesIO()
    for piece in data:
        held.write(piece)
        if isinstance(held, io.BytesIO) and held.tell() > _SPOOL:
            held = _on_disk(held)
    held.seek(0)
    return held


def _on_disk(held: io.BytesIO) -> IO[bytes]:
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    spool.write(held.getbuffer())
    return spool


def _data(stream: BinaryIO) -> Iterator[bytes]:
    """A part's data as received."""
    inflater = zlib.decompressobj()
    kind, length = _PIECE.unpack(stream.read(_PIECE.size))
    while kind != b"E":
        while length:
            data = stream.read(min(length, _CHUNK))
            if not data:
                raise EOFError("the bundle ends inside a part")
            length -= len(data)
            yield from _inflated(inflater, data) if kind == b"Z" else (data,)
        kind, length = _PIECE.unpack(stream.read(_PIECE.size))


def _inflated(inflater: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Inflate a mebibyte at a time: blanks expand a thousandfold."""
    while inflated := inflater.decompress(data, _INFLATED):
        yield inflated
        if len(inflated) < _INFLATED:
            return
        data = inflater.unconsumed_tail
