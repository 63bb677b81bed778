"""Archives that no honest tool writes, made byte by byte."""

import gzip
import struct
import tarfile
import zlib
from dataclasses import dataclass, field
from functools import cache, lru_cache

DOCUMENT = b"<testsuite name='s'><testcase classname='c' name='t'/></testsuite>"


# -- zip ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _deflated(content: bytes) -> bytes:
    """Once, however often an entry is asked for what it stores: bombs are large."""
    compressor = zlib.compressobj(9, wbits=-15)
    return compressor.compress(content) + compressor.flush()


@dataclass(frozen=True, slots=True)
class Entry:
    """A zip entry whose directory may say other things than its local header."""

    name: bytes = b"a.xml"
    content: bytes = DOCUMENT
    method: int = 0
    flags: int = 0
    attributes: int = 0
    extra: bytes = b""
    stated: dict[str, int] = field(default_factory=dict)
    """What the directory says instead of the truth: `compressed`, `size`, `offset`."""

    @property
    def stored(self) -> bytes:
        if self.method != 8:
            return self.content
        return _deflated(self.content)

    def local(self) -> bytes:
        numbers = (zlib.crc32(self.content), len(self.stored), len(self.content), len(self.name), 0)
        return (
            struct.pack("<4s5H3L2H", b"PK\3\4", 20, self.flags, self.method, 0, 0, *numbers) + self.name + self.stored
        )

    def central(self, offset: int) -> bytes:
        says = {"compressed": len(self.stored), "size": len(self.content), "offset": offset, **self.stated}
        head = struct.pack("<4s6H", b"PK\1\2", 20, 20, self.flags, self.method, 0, 0)
        sizes = struct.pack("<3L", zlib.crc32(self.content), says["compressed"], says["size"])
        rest = struct.pack("<5H2L", len(self.name), len(self.extra), 0, 0, 0, self.attributes << 16, says["offset"])
        return head + sizes + rest + self.name + self.extra


def end_of_directory(entries: int, size: int, offset: int) -> bytes:
    count = min(entries, 0xFFFF)
    return struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, size, offset, 0)


def zip_of(*entries: Entry) -> bytes:
    body, directory = b"", b""
    for entry in entries:
        directory += entry.central(len(body))
        body += entry.local()
    return body + directory + end_of_directory(len(entries), len(directory), len(body))


def zip_of_copies(count: int) -> bytes:
    """Many directory entries that all name one local file: the classic directory bomb, which also overlaps."""
    entry = Entry()
    body, directory = entry.local(), entry.central(0) * count
    return body + directory + end_of_directory(count, len(directory), len(body))


def zip64_of_copies(count: int) -> bytes:
    """The same with its true size in the zip64 record only; the usual record says one entry."""
    entry = Entry()
    body, one = entry.local(), entry.central(0)
    directory = one * count
    numbers = (count, count, len(directory), len(body))
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, *numbers)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(body) + len(directory), 1)
    return body + directory + record + locator + end_of_directory(1, len(one), len(body))


# -- tar ---------------------------------------------------------------------------------------------------------


def tar_entry(name: str, kind: bytes = b"0", content: bytes = b"", *, linked: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(content), linked
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def tar_of(*entries: bytes) -> bytes:
    return b"".join(entries) + bytes(1_024)


def pax(**records: object) -> bytes:
    """The content of a pax header."""
    lines = b""
    for name, value in records.items():
        rest = f" {name.replace('__', '.')}={value}\n".encode()
        length = len(rest) + 1
        while len(str(length)) + len(rest) != length:
            length = len(str(length)) + len(rest)
        lines += str(length).encode() + rest
    return lines


def with_field(entry: bytes, at: int, value: bytes) -> bytes:
    """A tar entry with some bytes of its header replaced, and the checksum made right again."""
    header = bytearray(entry[:512])
    header[at : at + len(value)] = value
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + entry[512:]


def sparse_entry(size: int) -> bytes:
    """A GNU sparse file: one block of data behind `size` bytes of nothing."""
    hole = struct.pack(">BxxxQ", 0x80, size)
    entry = with_field(tar_entry("hole.xml", b"S", b"a" * 512), 386, hole + b"%011o\0" % 512)
    return with_field(entry, 482, b"\0" + struct.pack(">BxxxQ", 0x80, size + 512))


# -- gzip --------------------------------------------------------------------------------------------------------


def members(content: bytes, times: int, *, head: bytes = b"") -> bytes:
    """A gzip file of many members that are all alike: cheap to make however much comes out of it."""
    return gzip.compress(head, mtime=0) + _member(content) * times


@lru_cache(maxsize=4)
def _member(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


@cache
def sixty_four_megabytes() -> bytes:
    """As a member of a gzip file, which is small; several tests repeat it until it is a gigabyte and more."""
    return _member(b"a" * 64_000_000)


def half_dense(size: int, ratio: int) -> bytes:
    """Text that gzip makes about `ratio` times smaller."""
    block = bytes(zlib.crc32(bytes([index & 255, index >> 8])) % 90 + 33 for index in range(4_096))
    block = block.replace(b"<", b"_").replace(b"&", b"_").replace(b"]", b"_")
    unit = block + b"a" * (4_096 * (ratio - 1))
    return (unit * (size // len(unit) + 1))[:size]
