"""xz, bzip2 and zstd beside gzip, alone and in archives: all that was sent is read, or has an outcome."""

import bz2
import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import zstandard

from ingest.bundle import BundleWriter
from ingest.junit.archives.compressed_streams import InflatedStream, compression_of
from ingest.junit.limits import Limits
from tests.hostile.archives import DOCUMENT, Entry, end_of_directory, half_dense, tar_entry, tar_of, with_field, zip_of
from tests.hostile.measuring import read_in_child, written
from tests.ingest.junit.reading import upload

FAILING = b"<testsuite name='s'><testcase classname='c' name='bad'><failure/></testcase></testsuite>"
OPENED = b"<testsuite><testcase name='a'><failure>"

Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.compress,
}


def codes(*files: bytes, limits: Limits | None = None) -> list[str | None]:
    reading = upload(*files, limits=limits)
    return [file["error"]["code"] if file["error"] else None for file in reading.files]  # type: ignore[index]


def inflated(content: bytes, size: int = 1_000) -> bytes:
    found = compression_of(content)
    assert found is not None
    stream = InflatedStream(io.BytesIO(content), found[0])
    return b"".join(iter(lambda: stream.read(size), b""))


def zipped(content: bytes, method: int, name: str = "a.xml") -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as packed:
        packed.writestr(name, content)
    return archive.getvalue()


WRAPPED: dict[str, Callable[[Pack], bytes]] = {
    "alone": lambda pack: pack(FAILING),
    "tar": lambda pack: pack(tar_of(tar_entry("a.xml", b"0", FAILING))),
    "in zip": lambda pack: zip_of(Entry(b"a.xml.x", pack(FAILING))),
    "in tar": lambda pack: tar_of(tar_entry("a.xml.x", b"0", pack(FAILING))),
    "in tar.gz": lambda pack: gzip.compress(tar_of(tar_entry("a.xml.x", b"0", pack(FAILING))), mtime=0),
    "in zip by deflate": lambda pack: zip_of(Entry(b"a", pack(FAILING), method=8)),
}


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
def test_a_failure_is_found_however_it_is_compressed(wrap: Callable[[Pack], bytes], pack: Pack) -> None:
    reading = upload(wrap(pack))
    assert [file["failed"] for file in reading.files] == [1]


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("size", [1, 7, 512, 131_072])
def test_what_comes_out_is_what_went_in_and_never_more_than_asked(pack: Pack, size: int) -> None:
    long = 300_000 if size > 100 else 30_000  # a read for every few bytes: what holds for these holds for more
    texts = [b"", b"a", DOCUMENT * 50, b"a" * long, b"", os.urandom(long // 10), b" "]
    found = compression_of(pack(b"a"))
    assert found is not None
    stream = InflatedStream(io.BytesIO(b"".join(map(pack, texts)) + bytes(700)), found[0])
    pieces = list(iter(lambda: stream.read(size), b""))
    assert b"".join(pieces) == b"".join(texts)
    assert max(map(len, pieces)) <= size
    assert stream.read(size) == b""


@pytest.mark.parametrize("level", [1, 3, 19])
@pytest.mark.parametrize("options", [{}, {"write_checksum": True}, {"write_content_size": False}], ids=str)
def test_zstd_of_every_form_is_read(level: int, options: dict[str, bool]) -> None:
    text = half_dense(400_000, 3) + bytes(300_000) + os.urandom(200_000)
    compressor = zstandard.ZstdCompressor(level=level, **options).compressobj()
    streamed = b"".join(compressor.compress(text[at : at + 9_999]) for at in range(0, len(text), 9_999))
    assert inflated(streamed + compressor.flush(), 4_096) == text
    assert inflated(zstandard.ZstdCompressor(level=level, **options).compress(text), 131_072) == text


def test_skippable_frames_of_zstd_are_skipped_unless_they_hold_results() -> None:
    def frame(content: bytes) -> bytes:
        return b"\x5e\x2a\x4d\x18" + struct.pack("<L", len(content)) + content

    packed = zstandard.compress(DOCUMENT)
    assert inflated(frame(b"seek table") + packed + frame(b"")) == DOCUMENT
    for rest in (frame(FAILING), frame(bytes(100_000))):
        assert upload(packed + rest).files[0]["partial"]


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize(
    "rest",
    [FAILING, b"\0\0garbage", gzip.compress(FAILING, mtime=0), zip_of(Entry(content=FAILING))],
    ids=["plain", "garbage", "gzip after it", "zip after it"],
)
def test_what_follows_the_end_is_not_passed_over(pack: Pack, rest: bytes) -> None:
    for content in (pack(DOCUMENT) + rest, pack(tar_of(tar_entry("a.xml", b"0", DOCUMENT))) + rest):
        outcome = upload(content)
        assert any(file["error"] or file["partial"] for file in outcome.files) or outcome.report.counts()["failed"]


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_a_cut_or_changed_byte_is_met(pack: Pack) -> None:
    cases = b"<testsuite>" + b"".join(b"<testcase name='%d'/>" % index for index in range(100))
    content = pack(cases + b"<testcase name='bad'><failure/></testcase></testsuite>")
    for at in range(len(content)):
        for damaged in (content[:at], content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]):
            outcome = upload(damaged)
            met = any(file["error"] or file["partial"] for file in outcome.files)
            assert met or outcome.report.counts()["failed"] == 1, at


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("inner", PACKS.values(), ids=PACKS)
def test_compressed_twice_is_refused(pack: Pack, inner: Pack) -> None:
    assert codes(pack(inner(DOCUMENT))) == ["nested_archive"]
    assert codes(pack(zip_of(Entry()))) == ["nested_archive"]


BOMBS: dict[str, Callable[[], bytes]] = {
    "xz": lambda: lzma.compress(OPENED) + lzma.compress(b"a" * 32_000_000, preset=1) * 40,
    "bzip2": lambda: bz2.compress(OPENED) + bz2.compress(b"a" * 32_000_000) * 40,
    "zstd": lambda: zstandard.compress(OPENED) + zstandard.compress(b"a" * 64_000_000) * 40,
}
"""Made when a test wants one: every process that runs tests imports this."""


@cache
def bomb_of(kind: str) -> bytes:
    return BOMBS[kind]()


@pytest.mark.parametrize("kind", BOMBS)
@pytest.mark.parametrize("wrap", [lambda bomb: bomb, lambda bomb: zip_of(Entry(content=bomb))], ids=["", "in zip"])
def test_bombs_are_stopped(kind: str, wrap: Pack, tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, wrap(bomb_of(kind))), seconds=10)
    assert measured.code == "limit_ratio"
    assert measured.grown < 150


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_in_the_methods_of_zip_are_stopped(method: int, tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, zip_by_method(method, *inflating(method))), seconds=10)
    assert measured.code == "limit_ratio"
    assert measured.grown < 150


def inflating(method: int) -> tuple[bytes, bytes]:
    """More than the reader may grow by, compressed as this method wants it, quickly; and what comes out of it."""
    content = OPENED + b"a" * 160_000_000
    if method == zipfile.ZIP_BZIP2:
        return bz2.compress(content, 1), content
    quick = {**LZMA_CHAIN, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3, "nice_len": 273, "depth": 1}
    return LZMA_HEAD + lzma.compress(content, lzma.FORMAT_RAW, filters=[quick]), content


def test_a_window_of_zstd_that_needs_too_much_memory_is_refused() -> None:
    options = zstandard.ZstdCompressionParameters(window_log=27)
    compressor = zstandard.ZstdCompressor(compression_params=options).compressobj()
    content = compressor.compress(DOCUMENT) + compressor.flush()
    assert codes(content) == ["archive_damaged"]


def test_a_dictionary_of_xz_that_needs_too_much_memory_is_refused() -> None:
    chain = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28}]
    assert codes(lzma.compress(DOCUMENT, filters=chain)) == ["archive_damaged"]
    assert codes(lzma.compress(DOCUMENT, preset=9)) == [None]


def test_tiny_blocks_of_zstd_are_refused_in_time(tmp_path: Path) -> None:
    raw = struct.pack("<L", 1 << 3)[:3] + b"a"
    content = zstandard.compress(OPENED) + b"\x28\xb5\x2f\xfd\x00\x58" + raw * 5_000_000
    measured = read_in_child(written(tmp_path, content), seconds=2)
    assert measured.code is not None and measured.tests == 0


def test_empty_streams_are_refused_in_time(tmp_path: Path) -> None:
    for number, pack in enumerate(PACKS.values()):
        path = tmp_path / str(number)
        path.write_bytes(pack(DOCUMENT) + pack(b"") * 500_000)
        measured = read_in_child(path, seconds=3)
        assert (measured.code, measured.tests) != (None, 0), "read whole, or refused"


# -- zip ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_the_methods_of_zip_are_read(method: int) -> None:
    assert [file["failed"] for file in upload(zipped(FAILING, method)).files] == [1]


LZMA_CHAIN = {"id": lzma.FILTER_LZMA1, "dict_size": 1 << 16, "lc": 3, "lp": 0, "pb": 2}
LZMA_HEAD = b"\x09\x14\x05\x00\x5d" + struct.pack("<L", 1 << 16)


def zip_by_method(method: int, packed: bytes, content: bytes = FAILING) -> bytes:
    """A document, the failing one for instance, in a zip, compressed in any way."""
    numbers = (zlib.crc32(content), len(packed), len(content))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, method, 0, 0, *numbers, 5, 0) + b"a.xml" + packed
    central = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, method, 0, 0, *numbers, 5, 0, 0, 0, 0, 0, 0) + b"a.xml"
    return local + central + end_of_directory(1, len(central), len(local))


@pytest.mark.parametrize(("method", "pack"), [(93, zstandard.compress), (95, lzma.compress)])
def test_zstd_and_xz_as_methods_of_zip_are_read(method: int, pack: Pack) -> None:
    assert [file["failed"] for file in upload(zip_by_method(method, pack(FAILING))).files] == [1]


def test_lzma_without_an_end_mark_is_read() -> None:
    """7-Zip writes none: the size says where the content ends."""
    chain = [LZMA_CHAIN]
    raw = lzma.compress(FAILING, lzma.FORMAT_RAW, filters=chain)

    def given(cut: int) -> bytes:
        return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=chain).decompress(raw[:-cut])

    cut = max(cut for cut in range(1, 12) if given(cut) == FAILING)
    packed = LZMA_HEAD + raw[:-cut]
    assert [file["failed"] for file in upload(zip_by_method(14, packed)).files] == [1]
    assert None not in codes(zip_by_method(14, packed[:-20]))


def test_a_folder_with_content_is_read() -> None:
    assert [file["failed"] for file in upload(zip_of(Entry(b"real/", FAILING))).files] == [1]
    assert [file["failed"] for file in upload(zip_of(Entry(b"real/", FAILING, method=8))).files] == [1]


BOTH = zip_of(Entry(), Entry(b"b.xml", FAILING))
FIRST_ALONE = zip_of(Entry())
HIDDEN = {
    "before": Entry(b"b.xml", FAILING).local() + FIRST_ALONE,
    "an entry that the directory lacks": (
        Entry().local() + Entry(b"b.xml", FAILING).local() + Entry().central(0)
        + end_of_directory(1, len(Entry().central(0)), len(Entry().local() + Entry(b"b.xml", FAILING).local()))
    ),
    "text between": (
        Entry().local() + FAILING + Entry().central(0)
        + end_of_directory(1, len(Entry().central(0)), len(Entry().local()) + len(FAILING))
    ),
    "behind": FIRST_ALONE + FAILING,
    "in the comment": FIRST_ALONE[:-2] + struct.pack("<H", len(FAILING)) + FAILING,
    "between directory and end": (
        Entry().local() + Entry().central(0) + FAILING
        + end_of_directory(1, len(Entry().central(0)), len(Entry().local()))
    ),
}  # fmt: skip


@pytest.mark.parametrize("content", HIDDEN.values(), ids=HIDDEN)
def test_what_the_directory_of_a_zip_does_not_name_has_an_outcome(content: bytes) -> None:
    outcome = codes(content)
    assert outcome[0] is None or "archive_damaged" in outcome
    assert set(outcome) & {"archive_hidden", "archive_damaged"}


def test_an_entry_that_goes_on_past_its_stated_size_is_refused() -> None:
    stated = {"size": len(DOCUMENT)}
    entry = Entry(content=DOCUMENT + FAILING, method=8, stated=stated)
    central = bytearray(entry.central(0))
    central[16:20] = struct.pack("<L", zlib.crc32(DOCUMENT))
    content = entry.local() + bytes(central) + end_of_directory(1, len(central), len(entry.local()))
    assert None not in codes(content)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_honest_zips_hide_nothing(method: int) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: object) -> int:
            raise OSError

        def tell(self) -> int:
            raise OSError

    for stream in (io.BytesIO(), Pipe()):
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.mkdir("folder")
            archive.writestr("folder/a.xml", DOCUMENT)
            archive.writestr("folder/b.xml", FAILING)
            archive.comment = b"made by a test"
        assert codes(stream.getvalue()) == [None, None]


# -- tar ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [b"5", b"3", b"4", b"6", b"7", b"V", b"Z", b"\0"])
def test_tar_entries_of_any_kind_with_content_are_read(kind: bytes) -> None:
    name = "real/" if kind in b"5\0" else "real"
    content = tar_of(with_field(tar_entry(name, b"0", FAILING), 156, kind), tar_entry("b", b"0", DOCUMENT))
    assert [(file["failed"], file["error"]) for file in upload(content).files] == [(1, None), (0, None)]


@pytest.mark.parametrize("pack", [lambda content: content, *PACKS.values()], ids=["plain", *PACKS])
def test_what_follows_the_end_of_a_tar_has_an_outcome(pack: Pack) -> None:
    whole = tar_of(tar_entry("a.xml", b"0", DOCUMENT))
    assert codes(pack(whole + bytes(10_000))) == [None]
    assert codes(pack(whole + FAILING)) == [None, "archive_damaged"]
    assert codes(pack(whole + bytes(9_000) + tar_of(tar_entry("b.xml", b"0", FAILING)))) == [None, "archive_damaged"]


# -- how uploads are kept ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_what_is_compressed_is_kept_as_it_came(pack: Pack) -> None:
    kept = io.BytesIO()
    content = pack(os.urandom(1_000))
    BundleWriter(kept.write).add("a", [content])
    assert content in kept.getvalue()
