"""Reports in which `test_03` fails, which is quarantined, and files in which `real` fails, which is not."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
import zlib

import zstandard

TESTS = tuple(f"test_{number:02}" for number in range(20))
FAILURE = "<failure message='no'>no</failure>"


def case(name: str, inside: str = "", *, classname: str = "shop.cart", more: str = "") -> str:
    return f"<testcase classname='{classname}' name='{name}' time='0.1'{more}>{inside}</testcase>"


def cases(*, besides: str = "test_03", count: int = 20) -> str:
    return "".join(case(name) for name in TESTS[:count] if name != besides)


def flaky(inside: str = FAILURE) -> str:
    return case("test_03", inside)


def red(more: str = "", *, count: int = 20, head: str = "", root: str = "") -> bytes:
    """A whole run as pytest writes it: the quarantined test fails, the others pass, and `more` stands beside them."""
    return f"<testsuites{root}><testsuite name='pytest'{head}>{flaky()}{more}{cases(count=count)}</testsuite></testsuites>".encode()


def only(inside: str, *, name: str = "shop", root: str = "testsuite") -> bytes:
    """A small report of an unknown producer."""
    return f"<{root} name='{name}'>{inside}</{root}>".encode()


def surefire(inside: str) -> bytes:
    return f"<testsuite name='shop.cart' xmlns:xsi='x' xsi:schemaLocation='surefire'>{inside}</testsuite>".encode()


REAL = case("real", FAILURE)
BAD = only(REAL)
"""A report of one real failure."""

# -- other formats -------------------------------------------------------------------------------------------------

TRX = b"""<?xml version="1.0"?><TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
<Results><UnitTestResult testId="1" testName="real" outcome="Failed" duration="00:00:01"><Output><ErrorInfo>
<Message>no</Message></ErrorInfo></Output></UnitTestResult></Results>
<TestDefinitions><UnitTest name="real" id="1"><TestMethod className="shop.cart" name="real"/></UnitTest></TestDefinitions>
<ResultSummary outcome="Failed"><Counters total="1" executed="1" passed="0" failed="1"/></ResultSummary></TestRun>"""
NUNIT3 = b"""<test-run id="2" testcasecount="1" result="Failed" total="1" passed="0" failed="1"><test-suite type="TestFixture"
name="cart" fullname="shop.cart" result="Failed"><test-case id="1" name="real" fullname="shop.cart.real" classname="shop.cart"
methodname="real" result="Failed" duration="0.1"><failure><message>no</message></failure></test-case></test-suite></test-run>"""
NUNIT2 = b"""<test-results name="x" total="1" errors="0" failures="1"><test-suite name="cart" success="False"><results>
<test-case name="shop.cart.real" executed="True" success="False" result="Failure"><failure><message>no</message></failure>
</test-case></results></test-suite></test-results>"""
XUNIT = b"""<assemblies><assembly name="shop.dll" total="1" passed="0" failed="1" skipped="0" errors="0"><collection name="c"
total="1" passed="0" failed="1"><test name="shop.cart.real" type="shop.cart" method="real" time="0.1" result="Fail"><failure>
<message>no</message></failure></test></collection></assembly></assemblies>"""
TESTNG = b"""<testng-results skipped="0" failed="1" total="1" passed="0"><suite name="s"><test name="t"><class name="shop.cart">
<test-method status="FAIL" signature="real()" name="real" duration-ms="5"><exception class="E"><message>no</message></exception>
</test-method></class></test></suite></testng-results>"""
TAP = b"TAP version 13\n1..2\nok 1 - fine\nnot ok 2 - real\n"
TAP14 = b"TAP version 14\n1..1\n# Subtest: cart\n    1..1\n    not ok 1 - real\nnot ok 1 - cart\n"
GO = (
    b"".join(
        json.dumps({"Action": action, "Package": "shop", "Test": "TestReal", "Elapsed": 0.1}).encode() + b"\n"
        for action in ("run", "fail")
    )
    + b'{"Action":"fail","Package":"shop","Elapsed":0.2}\n'
)
CTRF = json.dumps(
    {
        "results": {
            "tool": {"name": "jest"},
            "summary": {
                "tests": 1,
                "passed": 0,
                "failed": 1,
                "pending": 0,
                "skipped": 0,
                "other": 0,
                "start": 1,
                "stop": 2,
            },
            "tests": [{"name": "real", "status": "failed", "duration": 5}],
        }
    }
).encode()
ROBOT = b"""<robot generator="Robot 7.0" rpa="false"><suite id="s1" name="Shop"><test id="s1-t1" name="real"><kw name="Fail">
<status status="FAIL" start="2026-01-01T00:00:00" elapsed="0.1">no</status></kw><status status="FAIL"
start="2026-01-01T00:00:00" elapsed="0.1">no</status></test><status status="FAIL"/></suite><statistics><total><stat pass="0"
fail="1" skip="0">All Tests</stat></total></statistics><errors/></robot>"""
PLAYWRIGHT = json.dumps(
    {
        "config": {"projects": []},
        "suites": [
            {
                "title": "cart.spec.ts",
                "file": "cart.spec.ts",
                "specs": [
                    {
                        "title": "real",
                        "ok": False,
                        "file": "cart.spec.ts",
                        "line": 3,
                        "tests": [
                            {
                                "projectName": "chromium",
                                "expectedStatus": "passed",
                                "status": "unexpected",
                                "results": [
                                    {"status": "failed", "duration": 5, "retry": 0, "error": {"message": "no"}}
                                ],
                            }
                        ],
                    }
                ],
            }
        ],
        "errors": [],
        "stats": {"expected": 0, "unexpected": 1, "flaky": 0, "skipped": 0},
    }
).encode()
BOOST = b"<TestLog><TestSuite name='s'><TestCase name='real'><Error file='a' line='1'>no</Error></TestCase></TestSuite></TestLog>"
QTEST = b"<TestCase name='cart'><TestFunction name='real'><Incident type='fail' file='a' line='1'/></TestFunction></TestCase>"
CUNIT = (
    b"<CUNIT_TEST_RUN_REPORT><CUNIT_RESULT_LISTING><CUNIT_RUN_SUITE/></CUNIT_RESULT_LISTING></CUNIT_TEST_RUN_REPORT>"
)
CTEST = b"<Site Name='x'><Testing><Test Status='failed'><Name>real</Name></Test></Testing></Site>"
ALLURE = json.dumps({"uuid": "1", "name": "real", "status": "failed", "historyId": "x"}).encode()
CUCUMBER = json.dumps(
    [{"id": "x", "elements": [{"name": "real", "steps": [{"result": {"status": "failed"}}]}]}]
).encode()
MOCHA_JSON = json.dumps(
    {"stats": {"failures": 1}, "failures": [{"fullTitle": "real", "err": {"message": "no"}}]}
).encode()
JEST_JSON = json.dumps({"numFailedTests": 1, "testResults": [{"assertionResults": [{"status": "failed"}]}]}).encode()

LOGS = {
    name: text.encode()
    for name, text in {
        "libtest": "running 1 test\ntest real ... FAILED\n",
        "nose": "E.F\nFAILED (errors=1)\n",
        "mocha": "  1 failing\n  1) real:\n",
        "PHPUnit": "Tests: 1, Assertions: 1, Failures: 1.\n",
        "CTest": "0% tests passed, 1 tests failed out of 1\n",
        "RSpec": "1 example, 1 failure\n",
        "Jest": "  ✕ real (5 ms)\nTests:       1 failed, 1 total\n",
        "dotnet": "Failed real [5 ms]\nFailed!  - Failed:     1, Passed:     0\n",
        "XCTest": "Test Case '-[T real]' failed (0.001 seconds).\n",
        "Gradle": "CartTest > real() FAILED\n",
        "unittest": "FAIL: test_real (t.T)\n",
        "Bats": "✗ real\n1 test, 1 failure\n",
        "TeamCity": "##teamcity[testFailed name='real' message='no']\n",
        "subunit": "test: real\nfailure: real [\nno\n]\n",
        "a table": "name,status\nreal,failed\n",
        "YAML": "- name: real\n  status: failed\n",
        "a panic": "panic: runtime error\n",
        "Python": "Traceback (most recent call last):\n",
        "Bun": "(fail) real [0.10ms]\n\n 0 pass\n 1 fail\n",
        "Bun, its sum": " 1 fail\n",
        "npm": "npm ERR! Test failed.  See above for more details.\n",
        "make": "make: *** [Makefile:3: test] Error 1\n",
        "go's command": "exit status 1\n",
        "a shell": "Segmentation fault (core dumped)\n",
        "a cross": "✗ real\n",
        "a table of Markdown": "| real | failed |\n",
        "a table of Markdown with a cross": "| real | ❌ |\n",
        "a list": "real: failed\n",
        "YAML, a state": "- name: real\n  state: failed\n",
        "YAML, not passed": "- name: real\n  passed: false\n",
        "UTF-7": "+ADw-testcase name=+ACI-real+ACI-+AD4-",
        "quoted-printable": "=3Ctestcase name=3D'real'=3E",
        "references": "&#60;testcase name='real'&#62;",
        "hexadecimal references": "&#x3c;testcase name='real'&#x3e;",
        "a script": "\\x3ctestcase name='real'\\x3e",
    }.items()
}

# -- images --------------------------------------------------------------------------------------------------------


def _piece(kind: bytes, content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")


def png(text: bytes = b"", *, kind: bytes = b"tEXt", before: bytes = b"Comment\0") -> bytes:
    """One grey pixel, and perhaps a text."""
    pieces = [(b"IHDR", b"\0\0\0\1\0\0\0\1\x08\0\0\0\0"), (b"IDAT", zlib.compress(b"\0\x80")), (b"IEND", b"")]
    pieces[1:1] = [(kind, before + text)] if text else []
    return b"\x89PNG\r\n\x1a\n" + b"".join(_piece(kind, content) for kind, content in pieces)


def jpeg(text: bytes = b"", *, pixels: bytes = b"\x12\xff\x00\x34\xff\xd0\x56") -> bytes:
    """The skeleton of a JPEG: its header, perhaps a comment, and one scan."""
    segments = [(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"), *([(0xFE, text)] if text else []), (0xDA, b"\1\1\0\0\x3f\0")]
    written = b"".join(bytes([0xFF, kind]) + (len(data) + 2).to_bytes(2, "big") + data for kind, data in segments)
    return b"\xff\xd8" + written + pixels + b"\xff\xd9"


def gif(text: bytes = b"") -> bytes:
    """One pixel of two colours, and perhaps a comment, whose bytes stand in blocks of at most 255."""
    blocks = b"".join(bytes([len(text[at : at + 255])]) + text[at : at + 255] for at in range(0, len(text), 255))
    comment = b"\x21\xfe" + blocks + b"\0" if text else b""
    picture = b"\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0"
    return b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff" + comment + picture + b"\x3b"


PNG = png()

# -- packing -------------------------------------------------------------------------------------------------------


def zipped(*entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def tarred(*entries: tuple[str, bytes], mode: str = "w", kind: bytes = tarfile.REGTYPE) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size, info.type = len(content), kind
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zip_with_hidden_entry(shown: bytes, hidden: bytes) -> bytes:
    """A zip whose directory names the first entry only."""
    whole, first = zipped(("a.xml", shown), ("b.xml", hidden)), zipped(("a.xml", shown))
    data_end = whole.rfind(b"PK\x01\x02", 0, whole.rfind(b"PK\x01\x02"))
    directory = first[first.index(b"PK\x01\x02") :]
    end = directory.index(b"PK\x05\x06")
    record = bytearray(directory[end:])
    record[16:20] = data_end.to_bytes(4, "little")
    return whole[:data_end] + directory[:end] + bytes(record)


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(content)


def zip_with_extra(shown: bytes, hidden: bytes) -> bytes:
    """A zip whose entry has another file in its extra field."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("a.xml")
        info.extra = b"BB" + len(hidden).to_bytes(2, "little") + hidden
        archive.writestr(info, shown)
    return out.getvalue()


def gzip_with_comment(shown: bytes, comment: bytes) -> bytes:
    packed = gzip.compress(shown, mtime=0)
    return packed[:3] + b"\x10" + packed[4:10] + comment + b"\0" + packed[10:]


def tar_with_record(shown: bytes, hidden: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.xml")
        info.size, info.pax_headers = len(shown), {"comment": hidden}
        archive.addfile(info, io.BytesIO(shown))
    return out.getvalue()


PACKED = {
    "gz": gzip.compress(BAD, mtime=0),
    "xz": lzma.compress(BAD),
    "lzma": lzma.compress(BAD, format=lzma.FORMAT_ALONE),
    "bz2": bz2.compress(BAD),
    "zst": zstd(BAD),
    "7z": b"7z\xbc\xaf\x27\x1c" + BAD,
    "rar": b"Rar!\x1a\x07\x01\x00" + BAD,
    "tar": tarred(("a.xml", BAD)),
    "tar.gz": tarred(("a.xml", BAD), mode="w:gz"),
    "tar.xz": tarred(("a.xml", BAD), mode="w:xz"),
    "tar.bz2": tarred(("a.xml", BAD), mode="w:bz2"),
    "tar.zst": zstd(tarred(("a.xml", BAD))),
    "zip": zipped(("a.xml", BAD)),
    "zip of lzma": zipped(("a.xml", BAD), method=zipfile.ZIP_LZMA),
    "zip of bzip2": zipped(("a.xml", BAD), method=zipfile.ZIP_BZIP2),
    "zip, a folder with content": zipped(("real/", BAD)),
    "zip, an entry without a name": zipped(("", BAD)),
    "zip, a parent's name": zipped(("../real.xml", BAD)),
    "zip of gz": zipped(("a.gz", gzip.compress(BAD, mtime=0))),
    "zip of xz": zipped(("a.xz", lzma.compress(BAD))),
    "zip of bz2": zipped(("a.bz2", bz2.compress(BAD))),
    "zip of zst": zipped(("a.zst", zstd(BAD))),
    "zip of TRX": zipped(("a.trx", TRX)),
    "zip of TAP": zipped(("a.tap", TAP)),
    "zip of zip": zipped(("a.zip", zipped(("a.xml", BAD)))),
    "zip of tar.gz": zipped(("a.tar.gz", tarred(("a.xml", BAD), mode="w:gz"))),
    "zip, the same name twice": zipped(("a.xml", only(case("fine"))), ("b.xml", BAD)).replace(b"b.xml", b"a.xml"),
    "zip with a hidden entry": zip_with_hidden_entry(only(case("fine")), BAD),
    "zip, in an extra field": zip_with_extra(only(case("fine")), BAD),
    "gz, in its comment": gzip_with_comment(only(case("fine")), BAD),
    "tar, in a header": tar_with_record(only(case("fine")), BAD.decode()),
    "zip behind a report": BAD + zipped(("a.xml", only(case("fine")))),
    "gz of gz": gzip.compress(gzip.compress(BAD, mtime=0), mtime=0),
    "gz, a second member": gzip.compress(only(case("fine")), mtime=0) + gzip.compress(BAD, mtime=0),
    "gz, followed by a report": gzip.compress(only(case("fine")), mtime=0) + BAD,
    "xz, followed by a report": lzma.compress(only(case("fine"))) + BAD,
    "bz2, a second stream": bz2.compress(only(case("fine"))) + bz2.compress(BAD),
    "zst, a second frame": zstd(only(case("fine"))) + zstd(BAD),
    "tar, a device with content": tarred(("a.xml", BAD), kind=tarfile.CONTTYPE),
    "tar, an unknown type": tarred(("a.xml", BAD), kind=b"Z"),
    "tar, a folder with content": tarred(("real/", BAD), kind=tarfile.DIRTYPE),
    "tar, followed by a tar": tarred(("a.xml", only(case("fine")))) + tarred(("b.xml", BAD)),
    "zip cut short": zipped(("a.xml", BAD))[:-30],
    "gz cut short": gzip.compress(BAD, mtime=0)[:-12],
    "xz cut short": lzma.compress(BAD)[:-12],
    "tar.gz cut short": tarred(("a.xml", BAD), mode="w:gz")[:-40],
}
