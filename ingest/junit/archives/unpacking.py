"""An upload's files, plain, compressed, in a zip or a tar, recognised by content and metered while they inflate.

Names inside archives are only labels and never used as paths."""

import io
import shutil
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, BinaryIO

from ingest.junit.archives import compressed_streams, zips
from ingest.junit.archives.compressed_streams import Codec, InflatedStream, Readable, compression_of
from ingest.junit.archives.tars import BLOCK, StrictTar
from ingest.junit.encoding import CHUNK
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused, over_limit
from ingest.junit.result_marks import MARKUP, PACKED

DAMAGE = (*compressed_streams.DAMAGE, zipfile.BadZipFile, tarfile.TarError)
"""The exceptions for damaged data in any container."""
COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd", *zips.MAGICS, b"7z\xbc\xaf", b"Rar!")
"""The magic bytes of data that is already compressed."""

_SPOOL = 8 * 1024 * 1024
_NESTED = "An archive inside an archive is not read: send the inner one."
_ARCHIVE = "(archive)"
"""The label for bytes of an archive that belong to none of its files."""


class Budget:
    """Bytes after decompression, counted over all files of one upload."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.out = 0
        self.files = 0

    def count_file(self) -> None:
        self.files += 1
        if self.files > self.limits.files:
            raise over_limit("files", self.limits.files, "The upload has too many files")


class MeteredStream(io.RawIOBase):
    """Counts a stream's output and stops when it exceeds the limit, in total or relative to its input."""

    def __init__(self, stream: Readable, budget: Budget, consumed: Callable[[], int] | None) -> None:
        self._stream = stream
        self._budget = budget
        self._consumed = consumed
        self._ahead = b""
        """Bytes that were read to see what they are, and not yet by who asked for them."""
        self.out = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1, /) -> bytes:
        limits = self._budget.limits
        wanted = CHUNK if size is None or size < 0 else min(size, 1024 * 1024)
        if self._ahead:
            data, self._ahead = self._ahead[:wanted], self._ahead[wanted:]
        else:
            data = self._stream.read(wanted)
        self.out += len(data)
        self._budget.out += len(data)
        if self._budget.out > limits.bytes_out:
            raise over_limit("bytes_out", limits.bytes_out, "The upload is too large after decompression")
        if self._consumed and self.out > limits.ratio_floor and self.out > limits.ratio * self._consumed():
            raise over_limit("ratio", limits.ratio, "The file inflates to too many times its size")
        return data

    def read_exactly(self, size: int) -> bytes:
        pieces = bytearray()
        while len(pieces) < size and (piece := self.read(size - len(pieces))):
            pieces += piece
        return bytes(pieces)

    def peek(self, size: int) -> bytes:
        """The first bytes, which stay to be read, and are counted then."""
        self._ahead = self.read_exactly(size)
        self.refund()
        return self._ahead

    def refund(self) -> None:
        """Undo the count before the same file is read again."""
        self._budget.out -= self.out
        self.out = 0


@dataclass(slots=True)
class Member:
    """A file of an upload: a label, and a way to read it from its start as often as needed."""

    name: str
    opener: Callable[[], MeteredStream]
    error: Refused | None = None
    begun: MeteredStream | None = None
    """Opened already and at its start: the first who reads it need not open it again."""
    last: MeteredStream | None = None

    def open(self) -> MeteredStream:
        if self.error:
            raise self.error
        if self.last is not None:
            self.last.refund()
        self.last, self.begun = self.begun or self.opener(), None
        return self.last


def refused_member(name: str, code: str, sentence: str) -> Member:
    return Member(name, _never, Refused(code, sentence))


def _never() -> MeteredStream:
    raise AssertionError("a refused member is not opened")


def unpack(name: str, source: BinaryIO, budget: Budget) -> Iterator[Member]:
    """The files in a part of an upload: the part itself, or the files of the archive that it is."""
    head = _head(source)
    if head.startswith(zips.MAGICS):
        yield from _zip_members(source, budget)
    elif compression := compression_of(head):
        yield from _compressed_members(name, source, budget, *compression)
    elif _is_tar(head):
        yield from _tar_members(MeteredStream(source, budget, None), budget)
    else:
        budget.count_file()
        yield Member(name, lambda: _plain(source, budget))


def _head(source: BinaryIO) -> bytes:
    source.seek(0)
    head = source.read(BLOCK)
    source.seek(0)
    return head


def _header(source: BinaryIO) -> bytes:
    """The bytes before the compressed data: gzip's extra field, name and comment, or a skippable frame of zstd."""
    source.seek(0)
    head = source.read(CHUNK)
    if head[1:4] == b"\x2a\x4d\x18":
        return head[8 : 8 + int.from_bytes(head[4:8], "little")]
    if not head.startswith(b"\x1f\x8b") or len(head) < 12:
        return b""
    flags, end = head[3], 10
    if flags & 4:
        end += 2 + int.from_bytes(head[10:12], "little")
    for named in (8, 16):
        if flags & named:
            end = head.find(b"\0", end) + 1 or len(head)
    return head[10:end]


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _is_archive(head: bytes) -> bool:
    return head.startswith(zips.MAGICS) or _is_tar(head)


def _plain(source: IO[bytes], budget: Budget) -> MeteredStream:
    source.seek(0)
    return MeteredStream(source, budget, None)


def _inflating(source: Readable, budget: Budget, codec: Callable[[], Codec]) -> MeteredStream:
    stream = InflatedStream(source, codec)
    return MeteredStream(stream, budget, stream.consumed)


def _compressed_members(
    name: str, source: BinaryIO, budget: Budget, codec: Callable[[], Codec], ending: str
) -> Iterator[Member]:
    def opener() -> MeteredStream:
        source.seek(0)
        return _inflating(source, budget, codec)

    stream = opener()
    try:
        head = stream.read_exactly(BLOCK)
    except DAMAGE:
        head = b""
    finally:
        stream.refund()
    if _is_tar(head):
        yield from _tar_members(opener(), budget)
        return
    budget.count_file()
    label = name.removesuffix(ending)
    header = _header(source)
    if MARKUP.search(header) or PACKED.search(header):
        yield refused_member(label, "archive_hidden", "The header of the compressed file holds results: pack it again.")
    elif compression_of(head) or _is_archive(head):
        yield refused_member(label, "nested_archive", _NESTED)
    else:
        yield Member(label, opener)


def _zip_members(source: BinaryIO, budget: Budget) -> Iterator[Member]:
    zips.check_directory(source, budget.limits)
    try:
        archive = zipfile.ZipFile(source)
    except (*DAMAGE, struct.error, ValueError, OverflowError, NotImplementedError) as error:
        raise Refused("archive_damaged", f"The zip archive cannot be read: {error}.") from error
    entries = [info for info in archive.infolist() if not _is_folder(info)]
    if len(entries) > budget.limits.files:
        raise over_limit("files", budget.limits.files, f"The zip archive has {len(entries):,} files")
    for info in entries:
        budget.count_file()
        yield _zip_member(source, info, budget)
    hidden = zips.hidden_bytes(source, archive)
    if hidden is not None:
        sentence = f"The zip archive holds bytes that its directory does not name, from byte {hidden:,}: pack it again."
        yield refused_member(_ARCHIVE, "archive_hidden", sentence)


def _is_folder(info: zipfile.ZipInfo) -> bool:
    """Whether an entry is an empty folder entry: one with content is read like a file."""
    return info.filename.endswith("/") and not info.file_size and info.compress_size <= 2


def _zip_member(source: BinaryIO, info: zipfile.ZipInfo, budget: Budget) -> Member:
    if info.flag_bits & 0x1:
        return refused_member(info.filename, "archive_encrypted", "The file is encrypted: send it without a password.")
    if info.compress_type not in zips.METHODS:
        return refused_member(info.filename, "archive_method", "The file is compressed in an unusual way: use deflate.")
    if info.external_attr >> 28 == 0xA:
        return refused_member(info.filename, "archive_entry", "The entry is a symbolic link, not a file.")
    size = min(info.compress_size, budget.limits.bytes_in)

    def opener() -> MeteredStream:
        return MeteredStream(zips.open_entry(source, info), budget, lambda: size)

    return _inflated_once(info.filename, opener, budget)


def _tar_members(stream: MeteredStream, budget: Budget) -> Iterator[Member]:
    uncounted = Limits(bytes_out=2 * budget.limits.bytes_out)
    try:
        with StrictTar(io.BufferedReader(stream, CHUNK)) as archive:
            for info in archive:
                budget.count_file()
                if info.isdir():
                    continue
                if not info.isreg():
                    yield refused_member(info.name, "archive_entry", "The entry is a link or device, not a file.")
                    continue
                # A tar's file can be read once; kept aside it can be read again.
                with _aside(archive, info) as spool:
                    yield _spooled(info.name, spool, budget, uncounted)
            archive.check_rest()
    except (*DAMAGE, OSError, ValueError, struct.error) as error:
        yield refused_member(_ARCHIVE, "archive_damaged", f"The tar archive ends early or is damaged: {error}.")


def _aside(archive: StrictTar, info: tarfile.TarInfo) -> IO[bytes]:
    """A copy in memory, or in an unnamed file if it is large."""
    if info.size <= _SPOOL:
        return io.BytesIO(archive.content(info))
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    content = archive.extractfile(info)
    assert content is not None  # it is a file
    shutil.copyfileobj(content, spool, CHUNK)
    return spool


def _spooled(name: str, spool: IO[bytes], budget: Budget, uncounted: Limits) -> Member:
    """A spooled file, whose bytes were counted when they left the archive."""

    def plain() -> MeteredStream:
        return _plain(spool, Budget(uncounted))

    return _inflated_once(name, plain, budget)


def _inflated_once(name: str, opener: Callable[[], MeteredStream], budget: Budget) -> Member:
    """A file inside an archive may itself be compressed (one level, no more)."""
    try:
        stream = opener()
        head = stream.peek(BLOCK)
    except DAMAGE as error:
        return refused_member(name, "archive_damaged", f"The entry cannot be read: {error}.")
    except Refused as refusal:
        return Member(name, _never, refusal)
    if _is_archive(head):
        return refused_member(name, "nested_archive", _NESTED)
    compression = compression_of(head)
    if compression is None:
        return Member(name, opener, begun=stream)
    codec, ending = compression
    return Member(name.removesuffix(ending), lambda: _inflating(opener(), budget, codec))
