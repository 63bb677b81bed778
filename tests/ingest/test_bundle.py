"""How uploads are kept: every part comes back exactly as it came, whatever was done to it in between."""

import gzip
import hashlib
import io
import os
from collections.abc import Iterator

import pytest

from ingest.bundle import BundleWriter, read_parts
from ingest.junit.upload import read_upload

PASSES = b"<testsuite><testcase name='a'/></testsuite>"


def bundle_of(*parts: tuple[str, bytes], step: int = 65_536) -> io.BytesIO:
    bundle = io.BytesIO()
    writer = BundleWriter(bundle.write)
    for name, content in parts:
        assert writer.add(name, chunks(content, step)) == len(content)
    bundle.seek(0)
    return bundle


def chunks(content: bytes, step: int) -> Iterator[bytes]:
    return (content[at : at + step] for at in range(0, len(content), step))


CONTENTS = {
    "nothing": b"",
    "a byte": b"<",
    "a report": PASSES,
    "gzip": gzip.compress(PASSES, mtime=0),
    "the start of gzip": b"\x1f",
    "zip": b"PK\x03\x04" + os.urandom(1_000),
    "random": os.urandom(3_000_000),
    "dots": b"." * 20_000_000,
    "zeros behind noise": os.urandom(70_000) + bytes(9_000_000) + b"end",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("step", [1_000, 65_536, 10**8])
def test_a_part_comes_back_as_it_came(content: bytes, step: int) -> None:
    bundle = bundle_of(("a", content), ("b", PASSES), step=step)
    assert [(name, part.read()) for name, part in read_parts(bundle)] == [("a", content), ("b", PASSES)]


@pytest.mark.parametrize("size", [1_000, 20_000_000])
def test_only_a_large_part_needs_a_file(size: int) -> None:
    ((_, part),) = read_parts(bundle_of(("a", b"." * size)))
    assert isinstance(part, io.BytesIO) == (size < 8 * 1024 * 1024)


def test_empty_chunks_change_nothing() -> None:
    bundle = io.BytesIO()
    BundleWriter(bundle.write).add("a", [b"", PASSES, b"", PASSES, b""])
    bundle.seek(0)
    assert [part.read() for _, part in read_parts(bundle)] == [PASSES * 2]


def test_a_plain_report_is_kept_small_and_not_refused_for_what_we_compressed() -> None:
    dots = b"<testsuite><testcase name='a'><system-out>" + b"." * 15_000_000
    bundle = bundle_of(("a.xml", dots + b"</system-out></testcase></testsuite>"))
    assert len(bundle.getvalue()) < 100_000
    (file,) = read_upload(read_parts(bundle)).files
    assert (file["error"], file["tests"]) == (None, 1)


def test_a_report_that_came_compressed_is_still_judged_by_its_ratio() -> None:
    dots = b"<testsuite><testcase name='a'><system-out>" + b"." * 15_000_000
    (file,) = read_upload(read_parts(bundle_of(("a.xml.gz", gzip.compress(dots, mtime=0))))).files
    assert file["error"]["code"] == "limit_ratio"


def test_parts_are_digested_as_they_came_whatever_their_order() -> None:
    one, two = PASSES, gzip.compress(PASSES, mtime=0)
    forward, backward = BundleWriter(len), BundleWriter(len)
    forward.add("a", [one]), forward.add("b", chunks(two, 3))
    backward.add("c", [two]), backward.add("d", chunks(one, 3))
    expected = b"".join(sorted(hashlib.sha256(part).digest() for part in (one, two)))
    assert forward.digest() == backward.digest() == hashlib.sha256(expected).digest()


@pytest.mark.parametrize("name", ["", "a.xml", "\udcff.xml", "é" * 5_000, "a" + "😀" * 4_000])
def test_names_are_cut_by_characters(name: str) -> None:
    ((kept, _),) = read_parts(bundle_of((name, PASSES)))
    assert kept == name[:4_000].replace("\udcff", "?")


def test_a_bundle_that_ends_early_is_an_error() -> None:
    cut = bundle_of(("a", os.urandom(10_000))).getvalue()[:-3_000]
    with pytest.raises(EOFError):
        list(read_parts(io.BytesIO(cut)))
