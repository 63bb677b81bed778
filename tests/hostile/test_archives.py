"""Archives that attack the unpacker: bombs, lies, links and names that want to be paths."""

import gzip
import io
import os
import struct
import tarfile
import tempfile
from pathlib import Path

import pytest

from ingest.bundle import BundleWriter, read_parts
from ingest.junit.archives import zips
from ingest.junit.archives.compressed_streams import KINDS, InflatedStream
from ingest.junit.limits import Limits
from ingest.junit.upload import read_upload
from tests.hostile.archives import (
    DOCUMENT,
    Entry,
    half_dense,
    members,
    pax,
    sparse_entry,
    tar_entry,
    tar_of,
    with_field,
    zip64_of_copies,
    zip_of,
    zip_of_copies,
)
from tests.hostile.measuring import read_in_child, written
from tests.ingest.junit.reading import read, upload

OPENED = b"<testsuite><testcase name='a'><failure>"


def codes(*files: bytes, limits: Limits | None = None) -> list[str | None]:
    reading = upload(*files, limits=limits)
    return [file["error"]["code"] if file["error"] else None for file in reading.files]  # type: ignore[index]


# -- gzip --------------------------------------------------------------------------------------------------------


def test_ten_megabytes_that_are_ten_gigabytes_are_stopped(tmp_path: Path) -> None:
    bomb = members(b"a" * 64_000_000, 160, head=OPENED)
    measured = read_in_child(written(tmp_path, bomb), seconds=3)
    assert measured.code == "limit_ratio"
    assert measured.grown < 150


def test_a_bomb_below_the_ratio_is_stopped_at_the_limit_in_time(tmp_path: Path) -> None:
    bomb = members(half_dense(32_000_000, 150), 20, head=OPENED)
    measured = read_in_child(written(tmp_path, bomb), seconds=8)  # as many bytes as are allowed, honest or not
    assert measured.code == "limit_bytes_out"
    assert measured.grown < 150


def test_many_bombs_in_one_upload_share_one_limit() -> None:
    limits = Limits(bytes_out=1_000_000)
    file = gzip.compress(OPENED + half_dense(300_000, 50) + b"</failure></testcase></testsuite>", mtime=0)
    assert codes(*[file] * 5, limits=limits)[:2] == [None, None]
    assert set(codes(*[file] * 5, limits=limits)[3:]) == {"limit_bytes_out"}


def test_members_of_gzip_are_one_file() -> None:
    half = len(DOCUMENT) // 2
    reading = upload(
        gzip.compress(DOCUMENT[:half], mtime=0) + gzip.compress(b"", mtime=0) + gzip.compress(DOCUMENT[half:], mtime=0)
    )
    assert reading.report.counts()["passed"] == 1


def test_gzip_in_gzip_is_refused() -> None:
    assert codes(gzip.compress(gzip.compress(DOCUMENT, mtime=0), mtime=0)) == ["nested_archive"]
    assert codes(gzip.compress(zip_of(Entry()), mtime=0)) == ["nested_archive"]


def test_gzip_in_zip_is_read() -> None:
    assert upload(zip_of(Entry(content=gzip.compress(DOCUMENT, mtime=0)))).report.counts()["passed"] == 1


def test_archives_in_zip_are_refused() -> None:
    for inner in (zip_of(Entry()), tar_of(tar_entry("a.xml", b"0", DOCUMENT))):
        assert codes(zip_of(Entry(content=inner))) == ["nested_archive"]


@pytest.mark.parametrize(
    "wrapped", [lambda bomb: zip_of(Entry(content=bomb)), lambda bomb: tar_of(tar_entry("a", b"0", bomb))]
)
def test_a_gzip_bomb_in_an_archive_is_stopped(wrapped, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    measured = read_in_child(written(tmp_path, wrapped(members(b"a" * 64_000_000, 16, head=OPENED))), seconds=3)
    assert measured.code == "limit_ratio"
    assert measured.grown < 150


def test_gzip_of_gzip_in_zip_is_not_followed() -> None:
    bomb = gzip.compress(gzip.compress(b"a" * 1_000_000, mtime=0), mtime=0)
    assert codes(zip_of(Entry(content=bomb))) == ["not_xml"]  # what is inside the second gzip is never looked at


@pytest.mark.parametrize(
    "damage", [b"", b"\x1f\x8b", b"\x1f\x8b\x08", b"\x1f\x8b\x07" + bytes(20), b"\x1f\x8b\x08\xff"]
)
def test_damaged_gzip_is_refused(damage: bytes) -> None:
    assert codes(damage) in (["archive_damaged"], ["empty"], ["malformed"])


def test_a_wrong_checksum_makes_the_file_partial() -> None:
    content = bytearray(gzip.compress(DOCUMENT, mtime=0))
    content[-6] ^= 0xFF
    (file,) = upload(bytes(content)).files
    assert file["partial"] or file["error"]


SLOW_GZIP = {
    "archive_damaged: a name of 30 MB": b"\x1f\x8b\x08\x08"
    + bytes(6)
    + b"a" * 30_000_000
    + b"\0"
    + gzip.compress(DOCUMENT, mtime=0)[10:],
    "partial: 30 MB of padding": gzip.compress(DOCUMENT, mtime=0) + bytes(30_000_000),
    "partial: a million empty members": gzip.compress(DOCUMENT, mtime=0) + gzip.compress(b"", mtime=0) * 1_000_000,
}


@pytest.mark.parametrize("what", SLOW_GZIP)
def test_gzip_that_inflates_to_nothing_is_refused_or_partial_and_quick(what: str, tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, SLOW_GZIP[what]), seconds=1)
    partial = "partial" if measured.files[0]["partial"] else None
    assert (measured.code or partial) == what.partition(":")[0]


def test_gzip_of_many_members_is_refused_in_time(tmp_path: Path) -> None:
    content = gzip.compress(OPENED, mtime=0) + gzip.compress(b"a", mtime=0) * 1_000_000
    assert read_in_child(written(tmp_path, content), seconds=2).tests == 0


def test_blocks_that_are_empty_are_refused(tmp_path: Path) -> None:
    content = gzip.compress(b"", mtime=0)[:10] + b"\0\0\0\xff\xff" * 6_000_000
    assert read_in_child(written(tmp_path, content), seconds=1).code in ("archive_damaged", "malformed")


@pytest.mark.parametrize("size", [1, 7, 512, 131_072])
def test_gzip_is_inflated_as_python_does_it_and_never_by_more_than_asked(size: int) -> None:
    texts = [b"", b"a", DOCUMENT * 50, b"a" * 70_000, b"", os.urandom(70_000), b" "]
    stream = InflatedStream(io.BytesIO(b"".join(map(gzip.compress, texts)) + bytes(700)), KINDS[0][1])
    pieces = list(iter(lambda: stream.read(size), b""))
    assert b"".join(pieces) == b"".join(texts)
    assert {len(piece) for piece in pieces[:-1]} == {size} or len(pieces) == 2
    assert stream.read(size) == b""


def test_gzip_headers_with_everything_in_them_are_read() -> None:
    extra = struct.pack("<H", 60_000) + bytes(60_000)
    header = b"\x1f\x8b\x08\x1c" + bytes(6) + extra + b"name.xml\0" + b"comment\0"
    assert upload(header + gzip.compress(DOCUMENT, mtime=0)[10:]).report.counts()["passed"] == 1


def test_what_stands_before_a_cut_or_garbage_is_kept() -> None:
    cases = b"<testsuite>" + b"".join(b"<testcase name='%d'/>" % index for index in range(4_000))
    whole = gzip.compress(cases, mtime=0)
    for content in (
        whole[:-1],
        whole[:-400],
        whole + b"garbage",
        whole + gzip.compress(b"x", mtime=0)[:9],
    ):
        (file,) = upload(content).files
        assert file["partial"]
        assert file["tests"] > 2_000


# -- zip ---------------------------------------------------------------------------------------------------------


def test_a_million_entries_are_refused_before_the_directory_is_read(tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, zip_of_copies(1_000_000)), seconds=1)
    assert measured.code == "limit_files"
    assert measured.grown < 50


def test_a_million_entries_that_the_record_hides_are_refused(tmp_path: Path) -> None:
    content = bytearray(zip_of_copies(1_000_000))
    content[-14:-10] = struct.pack("<HH", 1, 1)
    assert read_in_child(written(tmp_path, bytes(content)), seconds=1).code == "limit_files"


def test_a_million_entries_that_zip64_hides_are_refused(tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, zip64_of_copies(1_000_000)), seconds=1)
    assert measured.code in ("limit_files", "archive_damaged")
    assert measured.grown < 50


def test_a_zip64_record_elsewhere_is_refused() -> None:
    content = zip64_of_copies(1)
    at = content.rfind(b"PK\6\7")
    assert codes(content[:at] + bytes(8) + content[at:]) == ["archive_damaged"]


def test_an_honest_zip64_is_read() -> None:
    assert upload(zip64_of_copies(1)).report.counts()["passed"] == 1
    assert codes(zip64_of_copies(1) + b"", limits=Limits(files=1)) == [None]


def test_a_few_thousand_entries_are_refused_by_count() -> None:
    assert codes(zip_of_copies(2_001)) == ["limit_files"]


def test_overlapping_entries_share_the_limit_of_bytes() -> None:
    big = Entry(content=OPENED + half_dense(500_000, 50) + b"</failure></testcase></testsuite>", method=8)
    body, directory = big.local(), big.central(0) * 50
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 50, 50, len(directory), len(body), 0)
    outcome = codes(body + directory + end, limits=Limits(bytes_out=2_000_000))
    assert outcome[-1] == "limit_bytes_out"
    assert len(outcome) == 50


def test_overlapping_entries_of_one_document_count_once() -> None:
    assert upload(zip_of_copies(100)).report.counts() == {**read(DOCUMENT).counts(), "attempts": 1}


@pytest.mark.parametrize(
    "stated",
    [{"size": 1}, {"size": 10**9}, {"size": 0xFFFFFFFE}, {"compressed": 1}, {"compressed": 10**9}, {"compressed": 0}]
    + [{"size": 0}, {"offset": 5}, {"offset": 10**6}, {"offset": 0xFFFFFFFE}],
    ids=str,
)
@pytest.mark.parametrize("method", [0, 8])
def test_false_sizes_are_refused_or_read(method: int, stated: dict[str, int]) -> None:
    file, *hidden = codes(zip_of(Entry(method=method, stated=stated)))
    assert file in ("archive_damaged", "malformed")
    assert hidden in ([], ["archive_hidden"])


def test_a_false_compressed_size_does_not_lift_the_limit() -> None:
    entry = Entry(content=OPENED + b"a" * 20_000_000, method=8, stated={"compressed": 0xFFFFFFFE})
    behind = Entry(b"b.xml", content=bytes(1_000_000))
    assert codes(zip_of(entry, behind), limits=Limits(bytes_out=15_000_000))[0] == "limit_bytes_out"


@pytest.mark.parametrize("offset", [2**62, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("in_memory", [False, True])
def test_offsets_past_the_end_of_the_world_are_refused(offset: int, in_memory: bool) -> None:
    content = zip_of(Entry(extra=struct.pack("<HHQ", 1, 8, offset), stated={"offset": 0xFFFFFFFF}))
    with tempfile.SpooledTemporaryFile(max_size=0 if in_memory else 10) as spool:
        spool.write(content)
        files = read_upload([("a.zip", spool)]).files  # type: ignore[list-item]
    assert [file["error"]["code"] for file in files] == ["archive_damaged", "archive_hidden"]


@pytest.mark.parametrize("flags", [0x1, 0x41, 0x2041])
def test_encrypted_entries_are_refused(flags: int) -> None:
    assert codes(zip_of(Entry(flags=flags), Entry(b"b.xml"))) == ["archive_encrypted", None]


@pytest.mark.parametrize("method", [1, 6, 9, 97, 98, 99, 0xFFFF])
def test_unknown_compressions_are_refused(method: int) -> None:
    assert codes(zip_of(Entry(method=method), Entry(b"b.xml"))) == ["archive_method", None]


NAMES = [
    *(b"../../../../tmp/flakeboard-hostile.xml", b"/tmp/flakeboard-hostile.xml", b"C:\\windows\\a.xml", b"a\0b.xml"),
    *(
        b"",
        b"..",
        b".",
        b"\xff\xfe",
        b"a" * 65_000,
        b"<script>alert(1)</script>.xml",
        b"\r\nx",
        "\u202egpj.xml".encode(),
    ),
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:20]))
def test_names_in_a_zip_are_labels(name: bytes) -> None:
    (file,) = upload(zip_of(Entry(name))).files
    assert file["tests"] == 1
    assert "\0" not in str(file["path"])
    assert len(str(file["path"])) <= 1_000
    assert not os.path.exists("/tmp/flakeboard-hostile.xml")


def test_a_link_in_a_zip_is_refused() -> None:
    link = Entry(b"a.xml", b"/etc/passwd", attributes=0o120777)
    assert codes(zip_of(link, Entry(b"b.xml"))) == ["archive_entry", None]


def test_folders_in_a_zip_are_passed_over() -> None:
    assert codes(zip_of(Entry(b"folder/", b""), Entry())) == [None]


@pytest.mark.parametrize("archive", [zip_of(), zip_of(Entry(b"folder/", b"")), tar_of(tar_entry("folder", b"5", b""))])
def test_an_empty_archive_is_no_report(archive: bytes) -> None:
    both = read_upload([("a.zip", io.BytesIO(archive)), ("b.xml", io.BytesIO(DOCUMENT))])
    assert [(file["path"], file["error"] and file["error"]["code"]) for file in both.files] == [
        ("a.zip", "empty"),
        ("b.xml", None),
    ]


def test_a_zip_cut_at_any_byte_is_refused() -> None:
    content = zip_of(Entry(method=8), Entry(b"b.xml"))
    for end in range(1, len(content)):
        assert all(codes(content[:end])), end


# -- tar ---------------------------------------------------------------------------------------------------------

XML = tar_entry("a.xml", b"0", DOCUMENT)


@pytest.mark.parametrize(
    "kind", [b"1", b"2", b"3", b"4", b"6"], ids=["hard link", "link", "character", "block", "fifo"]
)
def test_links_and_devices_in_a_tar_are_refused(kind: bytes) -> None:
    assert codes(tar_of(tar_entry("evil.xml", kind, linked="/etc/passwd"), XML)) == ["archive_entry", None]


@pytest.mark.parametrize(
    "name", ["../../tmp/flakeboard-hostile.xml", "/tmp/flakeboard-hostile.xml", "a\udcff.xml", "x" * 90]
)
def test_names_in_a_tar_are_labels(name: str) -> None:
    (file,) = upload(gzip.compress(tar_of(tar_entry(name, b"0", DOCUMENT)), mtime=0)).files
    assert file["tests"] == 1
    str(file["path"]).encode()
    assert not os.path.exists("/tmp/flakeboard-hostile.xml")


def test_a_name_from_a_pax_header_is_a_label() -> None:
    evil = tar_entry("h", b"x", pax(path="/tmp/flakeboard-hostile.xml\0", mtime="nan", uid="-1", size_="x"))
    (file,) = upload(tar_of(evil, XML)).files
    assert file["tests"] == 1
    assert "\0" not in str(file["path"])


def test_more_files_than_the_limit_are_refused() -> None:
    assert codes(tar_of(*[XML] * 2_001))[-1] == "limit_files"


def test_a_bomb_in_a_tar_is_stopped(tmp_path: Path) -> None:
    size = with_field(tar_entry("a.xml"), 124, b"%011o\0" % (8**11 - 1))
    bomb = members(b"a" * 64_000_000, 16, head=size)
    measured = read_in_child(written(tmp_path, bomb), seconds=3)
    assert measured.code == "limit_ratio"
    assert measured.grown < 150


@pytest.mark.parametrize("size", [b"\xff" * 12, b"\x80" + b"\xff" * 11, b"\xff" * 11 + b"\0", b"garbage     "])
def test_odd_sizes_in_a_tar_are_refused(size: bytes) -> None:
    assert any(codes(tar_of(with_field(XML, 124, size), XML)))


def test_a_tar_cut_at_any_block_is_partial_or_refused() -> None:
    content = gzip.compress(tar_of(XML, tar_entry("b.xml", b"0", DOCUMENT * 20)), mtime=0)
    for end in range(1, len(content) - 1):
        files = upload(content[:end]).files
        assert not files or any(file["error"] or file["partial"] for file in files), end


def test_a_long_pax_header_is_refused_at_once(tmp_path: Path) -> None:
    content = gzip.compress(tar_of(tar_entry("h", b"x", b"1" * 1_000_000), XML), mtime=0)
    assert read_in_child(written(tmp_path, content), seconds=1).code == "archive_damaged"


@pytest.mark.parametrize("header", [tar_entry("h", b"x", pax(path="a")), tar_entry("h", b"L", b"name\0")])
def test_a_thousand_headers_before_a_file_are_refused(header: bytes) -> None:
    assert any(codes(tar_of(*[header] * 1_200, XML)))


def test_a_sparse_file_does_not_fill_the_disk(tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, tar_of(sparse_entry(10**15), XML)), seconds=3)
    assert "File too large" not in str(measured.files)


def test_a_long_sparse_map_is_refused_at_once(tmp_path: Path) -> None:
    records = pax(GNU__sparse__major=1, GNU__sparse__minor=0, GNU__sparse__realsize=9, GNU__sparse__name="x")
    content = tar_of(tar_entry("h", b"x", records), tar_entry("a", b"0", b"4000000\n" + b"1\n" * 8_000_000))
    assert read_in_child(written(tmp_path, gzip.compress(content, 1, mtime=0)), seconds=1).code == "archive_damaged"


def test_thousands_of_folders_are_refused(tmp_path: Path) -> None:
    content = gzip.compress(tar_of(tar_entry("d/", b"5") * 30_000, XML), 1, mtime=0)
    assert read_in_child(written(tmp_path, content), seconds=8).code == "limit_files"


@pytest.mark.parametrize("kind", [b"0", b"Z", b"5"])
def test_a_size_past_the_end_of_the_world_is_not_skipped_to(kind: bytes, tmp_path: Path) -> None:
    endless = with_field(tar_entry("a.xml", kind), 124, b"\x80" + b"\x7f" * 11)
    by_pax = tar_entry("h", b"x", pax(size=10**18)) + tar_entry("a.xml", kind)
    large = with_field(tar_entry("a.xml", kind), 124, b"%011o\0" % (8**11 - 1))
    for index, entry in enumerate((endless, by_pax, large)):
        path = tmp_path / str(index)
        path.write_bytes(tar_of(entry, XML))
        measured = read_in_child(path, seconds=1)
        folder = kind == b"5" and entry is by_pax  # has no content, whatever its size says: what follows is read
        assert (measured.code is None) == folder, (index, measured)


@pytest.mark.parametrize("key", ["GNU__sparse__map", "GNU__sparse__size", "GNU__sparse__realsize"])
@pytest.mark.parametrize("kind", [b"x", b"g", b"X"])
def test_sparse_files_by_pax_header_are_refused(kind: bytes, key: str) -> None:
    assert codes(tar_of(XML, tar_entry("h", kind, pax(**{key: 10**15})), XML)) == [None, "archive_damaged"]


@pytest.mark.parametrize("records", [b"", b"0 a=b\n", b"3 path=a\n", b"9999999 path=a\n", b"x" * 600, b"7 =\n" * 99])
def test_damaged_pax_headers_are_refused_or_passed_over(records: bytes) -> None:
    assert len(codes(tar_of(tar_entry("h", b"x", records), XML))) == 1


@pytest.mark.parametrize("end", [b"", b"a" * 512, XML[:300], tar_entry("h", b"x", pax(path="a")) + bytes(1_024)])
def test_a_tar_without_its_end_is_not_taken_for_whole(end: bytes) -> None:
    assert codes(XML + XML + end) == [None, None, "archive_damaged"]


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_honest_tars_of_every_form_are_read(form: int) -> None:
    content = io.BytesIO()
    names = ["reports/a.xml", "reports/" + "grün/" * 25 + "b.xml"]
    with tarfile.open(fileobj=content, mode="w:gz", format=form, pax_headers={"comment": "c0ffee"}) as archive:
        archive.addfile(folder := tarfile.TarInfo("reports/"))
        folder.type = tarfile.DIRTYPE
        for name in names:
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(DOCUMENT), 1.5 if form == tarfile.PAX_FORMAT else 1
            archive.addfile(info, io.BytesIO(DOCUMENT))
    files = upload(content.getvalue()).files
    assert [(file["path"], file["tests"]) for file in files if file["kind"] != "empty"] == [(name, 1) for name in names]


def test_a_size_from_a_pax_header_is_believed() -> None:
    sized = tar_entry("h", b"x", pax(size=len(DOCUMENT))) + with_field(XML, 124, b"%011o\0" % 0)
    assert codes(tar_of(sized, XML)) == [None, None]


# -- how uploads are kept ----------------------------------------------------------------------------------------


def test_a_long_name_of_a_part_is_kept_readable() -> None:
    bundle = io.BytesIO()
    BundleWriter(bundle.write).add("é" * 1_999 + "a€.xml", iter([DOCUMENT]))
    bundle.seek(0)
    assert len(list(read_parts(bundle))) == 1


def test_few_bytes_beside_an_entry_are_remembered_and_many_are_not() -> None:
    zips._is_marked.cache_clear()
    assert not zips._has_marks(b"beside an entry") and not zips._has_marks(b"beside an entry")
    assert not zips._has_marks(b"x" * zips._LONG)
    seen = zips._is_marked.cache_info()
    assert (seen.hits, seen.misses) == (1, 1)
