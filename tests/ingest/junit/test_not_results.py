"""What is known not to hold test results: by content, from the first byte to the last, and never with a mark of results."""

import bz2
import gzip
import json
import lzma
import zlib
from base64 import b64encode
from collections.abc import Callable

import pytest

from ingest.junit import images
from tests.extent import repeats
from tests.ingest.junit.reading import upload
from tests.redteam.documents import PNG, gif, jpeg, png, tarred, zipped, zstd

COBERTURA = b"""<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage version="7.4" line-rate="0.9"><packages><package name="shop"/></packages></coverage>
"""
JACOCO = (
    b'<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">'
    b'<report name="shop"><sessioninfo id="a" start="1" dump="2"/><counter type="LINE" missed="1" covered="2"/></report>'
)
CHECKSTYLE = (
    b'<checkstyle version="8"><file name="a"><error line="1" severity="error" message="no"/></file></checkstyle>'
)
POM = b'<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion></project>'
ANT = b'<project name="shop" default="build" basedir="."><target name="build"/></project>'
COVERAGE_PY = json.dumps({"meta": {"format": 3}, "files": {}, "totals": {"percent_covered": 90.0}}).encode()
ISTANBUL = json.dumps({"/a.js": {"path": "/a.js", "statementMap": {}, "fnMap": {}, "s": {}}}).encode()
ESLINT = json.dumps([{"filePath": "/a.js", "messages": [{"severity": 2}], "errorCount": 1}]).encode()
SARIF = json.dumps(
    {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []}
).encode()
LCOV = b"TN:\nSF:/src/a.js\nDA:1,1\nLF:1\nLH:1\nend_of_record\n"
LOG = "starting the tests \x1b[32mgreen\x1b[0m ü\nall is well\n".encode()
GIF, JPEG = gif(), jpeg()
PACKED = gzip.compress(b"a report, perhaps" * 9, mtime=0)
TEXT = b"taken by a browser, at 12:30"

KNOWN = {
    "Cobertura": COBERTURA, "JaCoCo": JACOCO, "an empty coverage report": b"<coverage/>", "Checkstyle": CHECKSTYLE,
    "Maven's build file": POM, "Ant's build file": ANT, "coverage.py": COVERAGE_PY, "Istanbul": ISTANBUL, "ESLint": ESLINT,
    "SARIF": SARIF, "lcov": LCOV, "a log": LOG, "PNG": PNG, "GIF": GIF, "JPEG": JPEG,
    "PNG with a text": png(TEXT), "PNG with a packed text": png(zlib.compress(TEXT), kind=b"zTXt", before=b"Comment\0\0"),
    "PNG with an international text": png(TEXT, kind=b"iTXt", before=b"Comment\0\0\0en\0Notiz\0"),
    "GIF with a comment": gif(TEXT * 20), "JPEG with a comment": jpeg(TEXT),
    "a log with a digest": LOG + b"sha256: 1f8b0b" + b"ab" * 29 + b"\nH4sI is how gzip begins\n",
}  # fmt: skip


@pytest.mark.parametrize("content", KNOWN.values(), ids=KNOWN)
def test_it_is_known(content: bytes) -> None:
    for file in ("a.xml", content), ("real.trx", content):
        (line,) = upload(file).files
        assert (line["account"], line["kind"], line["error"]["code"]) == ("not_results",) * 3


@pytest.mark.parametrize("packed", [zipped(("a", COBERTURA), ("b", PNG)), tarred(("a", COBERTURA), ("b", PNG))])
def test_archives_of_them_are_known_entry_by_entry(packed: bytes) -> None:
    assert [file["account"] for file in upload(packed).files] == ["not_results"] * 2


MARKED = {
    "a case in a coverage report": COBERTURA.replace(b"<packages>", b"<packages><testcase name='a'/>"),
    "a suite in a build file": POM.replace(b"<modelVersion>", b"<testsuite/><modelVersion>"),
    "a case with a prefix": COBERTURA.replace(b"<packages>", b"<packages><x:testcase name='a'/>"),
    "a report in the text of an image": png(text=b"<testsuite>"),
    "not ok in a log": LOG + b"not ok 2 - real\n",
    "a failure of go in a log": LOG + b"    --- FAIL: TestReal (0.00s)\n",
    "a sum in a log": LOG + b"3 passed, 1 failed\n",
    "a version of TAP alone": b"TAP version 13\n",
    "TAP whose failure is damaged": b"# tests\nok 1 - fine\nnXt ok 2 - real\n",
    "a mark between two chunks": b"a" * (128 * 1024 - 4 + 4096) + b"\n--- FAIL: x\n",
    "a report in base64": b"PHRlc3RzdWl0ZT48dGVzdGNhc2UvPg==\n",
    "a report across two blocks of a GIF": gif(b"x" * 250 + b"<testsuite>"),
    "TAP in the comment of a GIF": gif(b"1..1\nnot ok 1 - real\n"),
    "TAP in the comment of a JPEG": jpeg(b"1..1\nnot ok 1 - real\n"),
    "TAP in the text of a PNG": png(b"1..1\nnot ok 1 - real\n"),
    "a packed report in the text of a PNG": png(zlib.compress(b"<testsuite>"), kind=b"zTXt", before=b"Comment\0\0"),
    "a packed report in an international text": png(
        zlib.compress(b"<testsuite>"), kind=b"iTXt", before=b"Comment\0\1\0\0\0"
    ),
    "a report in an international text's other name": png(b"a", kind=b"iTXt", before=b"C\0\0\0\0not ok 1\0"),
    "lint with results in it": ESLINT.replace(b'"severity": 2', b'"status": "failed"'),
}
HIDDEN = {
    **{f"{name} in a PNG": png(data) for name, data in {
        "gzip": PACKED, "xz": lzma.compress(LOG), "bzip2": bz2.compress(LOG), "zstd": zstd(LOG), "zip": zipped(("a", LOG)),
    }.items()},
    "gzip in a JPEG's comment": jpeg(PACKED), "gzip in a JPEG's pixels": jpeg(pixels=PACKED.replace(b"\xff", b"\xff\0")),
    "gzip in a GIF's comment": gif(PACKED),
    "gzip in base64 in a log": LOG + b64encode(PACKED), "gzip in base64 in coverage": COBERTURA.replace(b"shop", b64encode(PACKED)),
    "gzip in base64 in JSON": COVERAGE_PY.replace(b"{}", b'{"a": "' + b64encode(PACKED) + b'"}'),
    "xz in base64 in a log": LOG + b64encode(lzma.compress(LOG)), "bzip2 in base64 in a log": LOG + b64encode(bz2.compress(LOG)),
    "zstd in base64 in a log": LOG + b64encode(zstd(LOG)), "zip in base64 in a log": LOG + b64encode(zipped(("a", LOG))),
    **{f"{name} in hexadecimal digits": LOG + data.hex().encode() for name, data in {
        "gzip": PACKED, "xz": lzma.compress(LOG), "bzip2": bz2.compress(LOG), "zstd": zstd(LOG), "zip": zipped(("a", LOG)),
    }.items()},
    "gzip in the extra field of gzip": b"\x1f\x8b\x08\x04" + bytes(6) + len(PACKED).to_bytes(2, "little") + PACKED + gzip.compress(b"<testsuite/>", mtime=0)[10:],
}  # fmt: skip
"""Compressed data that nobody opened."""
ODD = {
    "a PNG with a piece of an unknown kind": png(TEXT, kind=b"faIL"), "a PNG whose sum is wrong": PNG[:-1] + b"\0",
    "a packed text without an end": png(zlib.compress(TEXT)[:-5], kind=b"zTXt", before=b"C\0\0"),
    "a packed text with more behind it": png(zlib.compress(TEXT) + b"more", kind=b"zTXt", before=b"C\0\0"),
    "a packed text of megabytes": png(zlib.compress(bytes(2**20 + 1)), kind=b"zTXt", before=b"C\0\0"),
    "an international text without names": png(TEXT, kind=b"iTXt"),
    "a JPEG with more behind it": JPEG + b"more\xff\xd9", "a JPEG with a segment of no size": JPEG.replace(b"\0\x10JFIF", b"\0\0JFIF"),
    "a JPEG with an odd marker": JPEG.replace(b"\xff\xda", b"\xfe\xda"),
    "a GIF with more behind it": GIF + b"more\x3b", "a GIF cut short": GIF[:-1], "a GIF with an odd block": GIF.replace(b"\x2c\0", b"\x2d\0"),
    "nothing": b"", "NULs": bytes(100), "an image with something behind it": PNG + b"more", "half of an image": PNG[:-5],
    "a JPEG cut short": JPEG[:-2], "coverage cut short": COBERTURA[:-12], "coverage, then more": COBERTURA + b"<a/>",
    "coverage in UTF-16": COBERTURA.decode().encode("utf-16"), "a log in UTF-16": LOG.decode().encode("utf-16"),
    "JSON of no known shape": b'{"results": []}', "JSON cut short": COVERAGE_PY[:-1], "an empty list": b"[]",
    "an unknown root": b"<unheard-of/>", "a report of no known kind": b"<report><a/></report>",
    "a project of no known kind": b"<project><a/></project>", "PDF": b"%PDF-1.7\n", "a page": b"<html></html>",
}  # fmt: skip


@pytest.mark.parametrize("content", [*MARKED.values(), *HIDDEN.values(), *ODD.values()], ids=[*MARKED, *HIDDEN, *ODD])
def test_all_else_is_not_understood(content: bytes) -> None:
    (line,) = upload(("shot.png", content)).files
    assert line["account"] == "not_understood"


PIECES = {
    "a JPEG of segments alone": lambda count: b"\xff\xd8\xff" + b"\xd0\xff" * count + b"\xd9",
    "a GIF of tiny blocks": lambda count: gif(b"")[:-1] + b"\x21\xfe" + b"\1a" * count + b"\0\x3b",
    "a PNG of tiny pieces": lambda count: PNG[:-12] + PNG[33:-12] * count + PNG[-12:],
}


@pytest.mark.parametrize("image", PIECES.values(), ids=PIECES)
def test_an_image_of_too_many_pieces_is_not_understood(
    image: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a smaller limit, since each piece is looked at: `make whole` tries the one that there is."""
    most, extra = repeats(3_000, images._MOST_PIECES), repeats(1_000, 100_000)
    assert most <= images._MOST_PIECES <= 300_000
    monkeypatch.setattr(images, "_MOST_PIECES", most)
    (line,) = upload(("shot.png", image(most + extra))).files
    assert line["account"] == "not_understood"


def test_a_report_that_is_refused_is_never_known_to_be_something_else() -> None:
    report = b"<testsuite name='s'><testcase name='t'><failure/></testcase></testsuite>"
    for at in range(len(report)):
        for damaged in (report[:at] + b"x" + report[at + 1 :], report[:at], report[at + 1 :]):
            assert upload(damaged).files[0]["account"] != "not_results" or b"<" not in damaged
