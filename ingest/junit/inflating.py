"""gzip as a stream that never gives more than it is asked for, and spends no time on what inflates to nothing."""

import gzip
import zlib
from typing import Protocol

DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
_INPUT = 32 * 1024
_SILENCE = 1024 * 1024
_MEMBERS = 100_000


class Readable(Protocol):
    """What is metered: anything that gives at most the bytes asked for, and none at its end."""

    def read(self, size: int, /) -> bytes: ...


class Gunzip:
    """A gzip file's content. Python's own reader takes names, padding and empty members byte by byte; zlib does not.

    A read that meets damage gives what came before it; the next one raises."""

    def __init__(self, source: Readable) -> None:
        self._source = source
        self._input = b""
        self._taken = 0
        self._silence = 0
        self._members = 1
        self._inflater = zlib.decompressobj(31)

    def consumed(self) -> int:
        """Compressed bytes that were used up so far."""
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
        """Some bytes, at most `size` and none at the end."""
        while not self._inflater.eof or self._next_member():
            given = self._input or self._more()
            # At the end of the input zlib may still hold the rest of a repetition: it is asked once more with nothing.
            data = self._inflater.decompress(given, size)
            self._input = self._inflater.unused_data or self._inflater.unconsumed_tail
            if data:
                self._silence = 0
                return data
            if not given:
                raise EOFError("the compressed data ends early")
            self._endure(len(given) - len(self._input))
        return b""

    def _next_member(self) -> bool:
        """Whether another member follows, past the zeros that may pad the file."""
        self._input = self._input.lstrip(b"\0")
        while not self._input and (more := self._more()):
            self._input = more.lstrip(b"\0")
            self._endure(len(more) - len(self._input))
        if not self._input:
            return False
        self._members += 1
        if self._members > _MEMBERS:
            raise gzip.BadGzipFile(f"more than {_MEMBERS:,} members")
        self._inflater = zlib.decompressobj(31)
        return True

    def _more(self) -> bytes:
        data = self._source.read(_INPUT)
        self._taken += len(data)
        return data

    def _endure(self, size: int) -> None:
        """Count input that gave no output: endless names, padding, empty members and blocks are never metered."""
        self._silence += size
        if self._silence > _SILENCE:
            raise gzip.BadGzipFile("a mebibyte of it inflates to nothing")
