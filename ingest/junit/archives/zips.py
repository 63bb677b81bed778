"""zip by its directory and its local headers, so that no entry is missed which only one of them names.

Python's zipfile reads the directory. Entries are read here, because zipfile inflates bzip2 and lzma without a bound,
stops at the size in the directory, and ignores bytes that the directory does not mention."""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import BinaryIO

from ingest.junit.archives.compressed_streams import CODEC_OF_METHOD, Codec, InflatedStream, Readable, lzma_of_zip
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused, over_limit
from ingest.junit.result_marks import has_marks

MAGICS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_LZMA, *CODEC_OF_METHOD})
_DIRECTORY_BYTES_PER_ENTRY = 2_048
_ZIP64_BYTES = 56 + 20
_END = 22
_LOCAL = struct.Struct("<4s5H3L2H")
_DESCRIPTORS = (struct.Struct("<LLL"), struct.Struct("<LQQ"))
_DESCRIBED = 0x8
"""The flag for sizes after the data, because they were not known before it."""
_PADDING = 64 * 1024
_LONG = 512
"""Bytes beside an entry that are too many to be remembered."""


def check_directory(source: BinaryIO, limits: Limits) -> None:
    """Refuse a zip with too many entries before loading its directory: a million of them take a gigabyte."""
    tail, at = _end_record(source)
    if at < 0 or len(tail) - at < _END:
        raise Refused("archive_damaged", "The zip archive has no directory: the upload was cut short.")
    entries, directory_bytes = _directory_size(tail, at)
    if entries > limits.files or directory_bytes > limits.files * _DIRECTORY_BYTES_PER_ENTRY:
        raise over_limit("files", limits.files, f"The zip archive has {entries:,} files or more")


def _end_record(source: BinaryIO) -> tuple[bytes, int]:
    """The file's tail, and the position of the directory's end record in it."""
    size = source.seek(0, io.SEEK_END)
    source.seek(max(0, size - 65_557 - _ZIP64_BYTES))
    tail = source.read()
    return tail, tail.rfind(b"PK\x05\x06")


def _directory_size(tail: bytes, at: int) -> tuple[int, int]:
    """Entries and bytes of the directory, from the record at `at` or the zip64 record that stands in for it.

    If a zip64 locator precedes the record, Python's zipfile trusts only the zip64 record."""
    entries, directory_bytes = struct.unpack_from("<HI", tail, at + 10)
    if _has_zip64(tail, at):
        start = at - _ZIP64_BYTES
        if start < 0 or not tail.startswith(b"PK\x06\x06", start):
            raise Refused("archive_damaged", "The zip archive's zip64 record is not where it belongs.")
        entries, directory_bytes = struct.unpack_from("<QQ", tail, start + 32)
    return entries, directory_bytes


def _has_zip64(tail: bytes, at: int) -> bool:
    return at >= 20 and tail.startswith(b"PK\x06\x07", at - 20)


# -- what the directory does not name --------------------------------------------------------------------------------


_is_marked = lru_cache(maxsize=8_192)(has_marks)
"""The same names come with every upload of a suite."""


def _has_marks(data: bytes) -> bool:
    return _is_marked(data) if len(data) < _LONG else has_marks(data)


def hidden_bytes(source: BinaryIO, archive: zipfile.ZipFile) -> int | None:
    """The position of bytes that neither an entry nor the directory accounts for; None if there are none."""
    tail, at = _end_record(source)
    size = source.seek(0, io.SEEK_END)
    end = size - len(tail) + at
    comment = tail[at + _END :]
    if len(comment) != len(archive.comment) and comment[len(archive.comment) :].strip(b"\0"):
        return end + _END + len(archive.comment)
    if has_marks(archive.comment):
        return end + _END
    entries = [(info, data_start(source, info)) for info in archive.infolist()]
    for info, start in entries:
        if any(map(_has_marks, filter(None, (info.extra, info.comment, _local_extra(source, info, start))))):
            return info.header_offset
    spans = sorted(_spans(source, entries))
    directory = (archive.start_dir, end - (_ZIP64_BYTES if _has_zip64(tail, at) else 0))
    covered = archive.start_dir + _directory_size(tail, at)[1]
    if covered < directory[1] and not _is_blank(source, covered, directory[1]):
        return covered
    return _first_gap(source, [*spans, directory])


def _spans(source: BinaryIO, entries: Iterable[tuple[zipfile.ZipInfo, int | None]]) -> Iterator[tuple[int, int]]:
    """The start and end of each entry of the directory, including headers."""
    for info, start in entries:
        if start is not None:
            end = start + info.compress_size
            yield info.header_offset, end + _descriptor(source, end, info)


def _first_gap(source: BinaryIO, spans: list[tuple[int, int]]) -> int | None:
    at = 0
    for start, end in spans:
        if start > at and not _is_blank(source, at, start):
            return at
        at = max(at, end)
    return None


def _is_blank(source: BinaryIO, start: int, end: int) -> bool:
    """Whether the bytes are zeros, or the marker of an archive that was meant to be split but was not."""
    if end - start > _PADDING:
        return False
    source.seek(start)
    between = source.read(end - start)
    return not between.strip(b"\0") or (start == 0 and between in (b"PK00", b"PK\x07\x08"))


def data_start(source: BinaryIO, info: zipfile.ZipInfo) -> int | None:
    """Where an entry's data begins, by its local header; None where there is no such header."""
    try:
        source.seek(info.header_offset)
        header = source.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
            return None
    except (ValueError, OverflowError, OSError):
        return None
    *_, name, extra = _LOCAL.unpack(header)
    return info.header_offset + _LOCAL.size + int(name) + int(extra)


def _local_extra(source: BinaryIO, info: zipfile.ZipInfo, start: int | None) -> bytes:
    """The bytes between an entry's header and its data at `start`: its name and extra fields."""
    if start is None:
        return b""
    source.seek(info.header_offset + _LOCAL.size)
    return source.read(start - info.header_offset - _LOCAL.size)


def _descriptor(source: BinaryIO, at: int, info: zipfile.ZipInfo) -> int:
    """The length of the size record after an entry's data, if it agrees with the directory."""
    if not info.flag_bits & _DESCRIBED:
        return 0
    source.seek(at)
    found = source.read(4 + _DESCRIPTORS[1].size)
    signature = 4 if found.startswith(b"PK\x07\x08") else 0
    for form in _DESCRIPTORS:
        piece = found[signature : signature + form.size]
        if piece == form.pack(info.CRC, *_fitting(form, info)):
            return signature + form.size
    return 0


def _fitting(form: struct.Struct, info: zipfile.ZipInfo) -> tuple[int, int]:
    mask = 0xFFFFFFFF if form is _DESCRIPTORS[0] else 0xFFFFFFFFFFFFFFFF
    return info.compress_size & mask, info.file_size & mask


# -- one entry -------------------------------------------------------------------------------------------------------


class _Section:
    """A section of a file as a stream, safe while others read the same file."""

    def __init__(self, source: BinaryIO, start: int, size: int) -> None:
        self._source, self._at, self._end = source, start, start + size

    def read(self, size: int, /) -> bytes:
        self._source.seek(self._at)
        data = self._source.read(min(size, self._end - self._at))
        self._at += len(data)
        if not data and self._at < self._end:
            raise EOFError("the archive ends inside an entry")
        return data


class _CheckedStream:
    """An entry's content, checked at its end against the directory's checksum and size."""

    def __init__(self, stream: Readable, info: zipfile.ZipInfo) -> None:
        self._stream, self._info = stream, info
        self._sum = self._size = 0

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(size)
        self._sum = zlib.crc32(data, self._sum)
        self._size += len(data)
        if not data and size and (self._sum, self._size) != (self._info.CRC, self._info.file_size):
            raise zipfile.BadZipFile("an entry's content is not what the directory says")
        return data


def open_entry(source: BinaryIO, info: zipfile.ZipInfo) -> Readable:
    """An entry's content by its local header, whatever size the directory gives."""
    start = data_start(source, info)
    if start is None:
        raise zipfile.BadZipFile("an entry is not where the directory says")
    section = _Section(source, start, info.compress_size)
    if info.compress_type == zipfile.ZIP_STORED:
        return _CheckedStream(section, info)
    if info.compress_type == zipfile.ZIP_LZMA:
        return _CheckedStream(InflatedStream(section, lambda: _lzma(section), members=1, open_end=True), info)
    return _CheckedStream(InflatedStream(section, CODEC_OF_METHOD[info.compress_type], members=1), info)


def _lzma(section: _Section) -> Codec:
    """zip's lzma begins with two bytes of version, the length of its properties, and these."""
    length = int.from_bytes(section.read(4)[2:], "little")
    if length != 5:
        raise lzma.LZMAError("the lzma properties are not usable")
    return lzma_of_zip(section.read(length))
