"""Plain, gzip, zip or tar, by content and never by name: an upload's files, metered while they inflate.

Names inside archives are labels. None is ever used as a path."""

import io
import shutil
import struct
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ingest.junit import inflating
from ingest.junit.encoding import CHUNK
from ingest.junit.inflating import Gunzip, Readable
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused, over_limit
from ingest.junit.tars import BLOCK, StrictTar

GZIP = b"\x1f\x8b"
ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
DAMAGE = (*inflating.DAMAGE, zipfile.BadZipFile, tarfile.TarError)
"""What is raised on damaged data, whatever it is packed in."""

_SPOOL = 8 * 1024 * 1024
_DIRECTORY_BYTES_PER_ENTRY = 2_048
_ZIP64_BYTES = 56 + 20


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


class Metered(io.RawIOBase):
    """A stream that counts what comes out of it, and stops when that is too much, in all or for what went in."""

    def __init__(self, stream: Readable, budget: Budget, consumed: Callable[[], int] | None) -> None:
        self._stream = stream
        self._budget = budget
        self._consumed = consumed
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

    def refund(self) -> None:
        """Give back what was counted: the same file is about to be read again."""
        self._budget.out -= self.out
        self.out = 0


@dataclass(slots=True)
class Member:
    """One file of an upload: a label, and a way to read it from its start as often as needed."""

    name: str
    opener: Callable[[], Metered]
    error: Refused | None = None
    last: Metered | None = None

    def open(self) -> Metered:
        if self.error:
            raise self.error
        if self.last is not None:
            self.last.refund()
        self.last = self.opener()
        return self.last


def refused_member(name: str, code: str, sentence: str) -> Member:
    return Member(name, _never, Refused(code, sentence))


def _never() -> Metered:
    raise AssertionError("a refused member is not opened")


def unpack(name: str, source: BinaryIO, budget: Budget) -> Iterator[Member]:
    """The files that one part of an upload holds: itself, or what is in the archive that it is."""
    head = _head(source)
    if head.startswith(ZIP):
        yield from _zip_members(source, budget)
    elif head.startswith(GZIP):
        yield from _gzip_members(name, source, budget)
    elif _is_tar(head):
        yield from _tar_members(Metered(source, budget, None), budget)
    else:
        budget.count_file()
        yield Member(name, lambda: _plain(source, budget))


def _head(source: BinaryIO) -> bytes:
    source.seek(0)
    head = source.read(BLOCK)
    source.seek(0)
    return head


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _plain(source: BinaryIO, budget: Budget) -> Metered:
    source.seek(0)
    return Metered(source, budget, None)


def _inflating(source: BinaryIO, budget: Budget) -> Metered:
    source.seek(0)
    return _metered_gzip(source, budget)


def _metered_gzip(source: Readable, budget: Budget) -> Metered:
    stream = Gunzip(source)
    return Metered(stream, budget, stream.consumed)


def _gzip_members(name: str, source: BinaryIO, budget: Budget) -> Iterator[Member]:
    stream = _inflating(source, budget)
    try:
        head = stream.read_exactly(BLOCK)
    except DAMAGE:
        head = b""
    finally:
        stream.refund()
    if _is_tar(head):
        yield from _tar_members(_inflating(source, budget), budget)
        return
    budget.count_file()
    label = name.removesuffix(".gz")
    if head.startswith((GZIP, *ZIP)):
        yield refused_member(label, "nested_archive", "An archive inside an archive is not read: send the inner one.")
    else:
        yield Member(label, lambda: _inflating(source, budget))


def _zip_members(source: BinaryIO, budget: Budget) -> Iterator[Member]:
    _check_directory(source, budget.limits)
    try:
        archive = zipfile.ZipFile(source)
    except (*DAMAGE, struct.error, ValueError, OverflowError, NotImplementedError) as error:
        raise Refused("archive_damaged", f"The zip archive cannot be read: {error}.") from error
    # Not `is_dir()`: it breaks on an entry without a name.
    entries = [info for info in archive.infolist() if not info.filename.endswith("/")]
    if len(entries) > budget.limits.files:
        raise over_limit("files", budget.limits.files, f"The zip archive has {len(entries):,} files")
    for info in entries:
        budget.count_file()
        yield _zip_member(archive, info, budget)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> Member:
    if info.flag_bits & 0x1:
        return refused_member(info.filename, "archive_encrypted", "The file is encrypted: send it without a password.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return refused_member(info.filename, "archive_method", "The file is compressed in an unusual way: use deflate.")
    if info.external_attr >> 28 == 0xA:
        return refused_member(info.filename, "archive_entry", "The entry is a symbolic link, not a file.")

    def inflating() -> Metered:
        try:
            stream = archive.open(info)
        except (*DAMAGE, OSError, ValueError, OverflowError, NotImplementedError, RuntimeError) as error:
            raise Refused("archive_damaged", f"The zip entry cannot be read: {error}.") from error
        size = min(info.compress_size, budget.limits.bytes_in)
        return Metered(stream, budget, lambda: size)

    return _spool_if_gzip(info.filename, inflating, budget)


def _check_directory(source: BinaryIO, limits: Limits) -> None:
    """Refuse a zip of too many entries before its directory is loaded: a million of them cost a gigabyte."""
    size = source.seek(0, io.SEEK_END)
    source.seek(max(0, size - 65_557 - _ZIP64_BYTES))
    tail = source.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < 22:
        raise Refused("archive_damaged", "The zip archive has no directory: the upload was cut short.")
    entries, directory_bytes = _directory_size(tail, at)
    if entries > limits.files or directory_bytes > limits.files * _DIRECTORY_BYTES_PER_ENTRY:
        raise over_limit("files", limits.files, f"The zip archive has {entries:,} files or more")


def _directory_size(tail: bytes, at: int) -> tuple[int, int]:
    """Entries and bytes of the directory, from the record at `at` or the zip64 record that stands in for it.

    Where a zip64 locator stands before the record, Python's zipfile believes the zip64 record and nothing else."""
    entries, directory_bytes = struct.unpack_from("<HI", tail, at + 10)
    if at >= 20 and tail.startswith(b"PK\x06\x07", at - 20):
        start = at - _ZIP64_BYTES
        if start < 0 or not tail.startswith(b"PK\x06\x06", start):
            raise Refused("archive_damaged", "The zip archive's zip64 record is not where it belongs.")
        entries, directory_bytes = struct.unpack_from("<QQ", tail, start + 32)
    return entries, directory_bytes


def _tar_members(stream: Metered, budget: Budget) -> Iterator[Member]:
    try:
        with StrictTar.open(fileobj=io.BufferedReader(stream, CHUNK), mode="r|") as archive:
            for info in archive:
                budget.count_file()
                if info.isdir():
                    continue
                content = archive.extractfile(info) if info.isreg() else None
                if content is None:
                    yield refused_member(info.name, "archive_entry", "The entry is a link or device, not a file.")
                    continue
                # A tar's file can be read once; kept aside (past 8 MiB in an unnamed file) it can be read again.
                with tempfile.SpooledTemporaryFile(max_size=_SPOOL) as spool:
                    shutil.copyfileobj(content, spool, CHUNK)
                    yield _spooled(info.name, spool, budget)  # type: ignore[arg-type]
    except (*DAMAGE, OSError, ValueError, struct.error) as error:
        yield refused_member("(archive)", "archive_damaged", f"The tar archive ends early or is damaged: {error}.")


def _spooled(name: str, spool: BinaryIO, budget: Budget) -> Member:
    """What is spooled was counted when it came out of the archive."""
    uncounted = Limits(bytes_out=2 * budget.limits.bytes_out)

    def plain() -> Metered:
        return _plain(spool, Budget(uncounted))

    return _spool_if_gzip(name, plain, budget)


def _spool_if_gzip(name: str, opener: Callable[[], Metered], budget: Budget) -> Member:
    """A file inside an archive may itself be gzip (one level, no more)."""
    try:
        stream = opener()
        head = stream.read_exactly(BLOCK)
        stream.refund()
    except DAMAGE as error:
        return refused_member(name, "archive_damaged", f"The entry cannot be read: {error}.")
    except Refused as refusal:
        return Member(name, _never, refusal)
    if head.startswith(ZIP) or _is_tar(head):
        return refused_member(name, "nested_archive", "An archive inside an archive is not read: send the inner one.")
    if not head.startswith(GZIP):
        return Member(name, opener)

    def inflating() -> Metered:
        return _metered_gzip(opener(), budget)

    return Member(name.removesuffix(".gz"), inflating)
