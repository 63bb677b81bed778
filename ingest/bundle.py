"""How the bytes of an upload are kept: all its parts in one stream, written and read without holding it in memory.

A part is `N` + name, any number of `D` + data, then `E`; each piece prefixed by its length."""

import gzip
import hashlib
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from ingest.junit.unpacking import GZIP, ZIP

_PIECE = struct.Struct(">cI")
_SPOOL = 8 * 1024 * 1024
_CHUNK = 256 * 1024


class BundleWriter:
    """Writes parts to `sink`, plain ones compressed, and digests them as they came."""

    def __init__(self, sink: Callable[[bytes], object]) -> None:
        self._sink = sink
        self._digests: list[bytes] = []

    def add(self, name: str, chunks: Iterable[bytes]) -> int:
        """Add a part; returns its size as it came."""
        digest, size = hashlib.sha256(), 0
        self._piece(b"N", name.encode("utf-8", "replace")[:4_000])
        compressor: gzip.GzipFile | None = None
        for chunk in chunks:
            if not size and chunk and not chunk.startswith((GZIP, *ZIP)):
                compressor = gzip.GzipFile("", "wb", 1, _PieceFile(self), mtime=0)
            digest.update(chunk)
            size += len(chunk)
            if compressor:
                compressor.write(chunk)
            elif chunk:
                self._piece(b"D", chunk)
        if compressor:
            compressor.close()
        self._piece(b"E", b"")
        self._digests.append(digest.digest())
        return size

    def _piece(self, kind: bytes, data: bytes) -> None:
        self._sink(_PIECE.pack(kind, len(data)))
        self._sink(data)

    def digest(self) -> bytes:
        """A digest of the parts' contents, whatever their names and order."""
        return hashlib.sha256(b"".join(sorted(self._digests))).digest()


class _PieceFile:
    """What the compressor writes becomes data pieces."""

    def __init__(self, writer: BundleWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> int:
        self._writer._piece(b"D", bytes(data))
        return len(data)

    def flush(self) -> None: ...


def read_parts(stream: BinaryIO) -> Iterator[tuple[str, BinaryIO]]:
    """Each part's name and a seekable stream of its bytes (in memory, past 8 MiB in an unnamed file)."""
    while header := stream.read(_PIECE.size):
        _, length = _PIECE.unpack(header)
        name = stream.read(length).decode("utf-8")
        with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
            _copy_pieces(stream, spool)  # type: ignore[arg-type]
            spool.seek(0)
            yield name, spool  # type: ignore[misc]


def _copy_pieces(stream: BinaryIO, spool: BinaryIO) -> None:
    """Copy a part's data up to its end."""
    kind, length = _PIECE.unpack(stream.read(_PIECE.size))
    while kind == b"D":
        while length:
            data = stream.read(min(length, _CHUNK))
            spool.write(data)
            length -= len(data)
        kind, length = _PIECE.unpack(stream.read(_PIECE.size))
