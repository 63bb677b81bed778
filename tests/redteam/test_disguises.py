"""One quarantined test fails, and beside it a real one in disguise: no such build passes. One line a disguise."""

import lzma
import re
import zlib
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import Terms, quarantine_create
from dashboard.quarantine.states import Action
from ingest.metadata import RunMetadata
from ingest.models import Test, Upload
from ingest.services import upload_receive
from tests.conftest import body_of
from tests.extent import slice_of
from tests.quarantine.conftest import ANNA
from tests.redteam import documents as d
from tests.redteam.conftest import Shop, send, undone
from tests.redteam.documents import BAD, FAILURE, REAL, TESTS, case, cases, flaky, only, red, surefire
from tests.redteam.gate import Answer, Part, Request, ask, request
from tests.redteam.model import judge, keys_of
from tests.redteam.submissions import File, Submission
from tests.redteam.writers import WRITERS, Result

FLAKY_FAILURES = "<flakyFailure message='no'/>" * 100
ERROR = "<error message='no'/>"
XDIST = "<failure message=\"worker 'gw0' crashed while running 'shop/cart.py::test_03'\"/>"
MEMORY = "<error message='MemoryError' type='MemoryError'>MemoryError</error>"
PANIC = "<failure message='Failed'>panic: runtime error: index out of range\n\ngoroutine 7 [running]:</failure>"
FORK = "<error type='java.lang.RuntimeException'>The forked VM terminated without saying properly goodbye.</error>"
SEGFAULT = "<failure message='Fatal Python error: Segmentation fault'/>"
CRASHES = (
    "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
    "Call retries were exceeded",
    "Jest worker encountered 4 child process exceptions, exceeding retry limit",
    "cart.rb:1: [BUG] Segmentation fault at 0x0",
    "The active test run was aborted. Reason: Test host process crashed",
    "PHP Fatal error: Allowed memory size of 134217728 bytes exhausted",
    "Bus error",
    "Killed",
    "OSError: [Errno 28] No space left on device: a.db",
    "OSError: [Errno 12] Cannot allocate memory",
    "OSError: [Errno 122] Disk quota exceeded",
    "ENOSPC: no space left on device, write",
    "write /tmp/a: no space left on device",
    "System.IO.IOException : There is not enough space on the disk.",
    "java.lang.StackOverflowError",
    "SystemStackError: stack level too deep",
    "System.OutOfMemoryException : no",
    "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7 TiB",
)
SHARED = "<properties><property name='{}' value='T1'/></properties>"


def shared_id(name: str) -> str:
    """The quarantined test and the real one carry one id."""
    tests = case("test_03", SHARED.format(name)) + case("real", SHARED.format(name) + FAILURE)
    return f"<testsuites><testsuite name='pytest'>{tests}{flaky()}{cases()}</testsuite></testsuites>"


def hours_ago(hours: float) -> str:
    return (timezone.now() - timedelta(hours=hours)).isoformat()


FORMATS = {
    name: getattr(d, name)
    for name in (
        "TRX", "NUNIT3", "NUNIT2", "XUNIT", "TESTNG", "TAP", "TAP14", "GO", "CTRF", "ROBOT", "PLAYWRIGHT", "BOOST", "QTEST",
        "CUNIT", "CTEST", "ALLURE", "CUCUMBER", "MOCHA_JSON", "JEST_JSON",
    )
}  # fmt: skip

ROWS: dict[str, Request] = {
    # -- the failure in another file
    "a second report": request(red(), BAD),
    **{f"a file of {name}": request(red(), (f"a.{name}", content)) for name, content in FORMATS.items()},
    **{f"packed: {name}": request(red(), (f"a.{name}", content)) for name, content in d.PACKED.items()},
    "an unknown root": request(red(), BAD.replace(b"testsuite", b"results")),
    "an unknown root with cases": request(red(), b"<results>" + REAL.encode() + b"</results>"),
    "a coverage report with a case in it": request(red(), b"<coverage line-rate='1'>" + REAL.encode() + b"</coverage>"),
    "a build file with a case in it": request(red(), b"<project>" + REAL.encode() + b"</project>"),
    "an image with a report behind it": request(red(), d.PNG + BAD),
    "an image with a packed report behind it": request(red(), d.PNG + d.PACKED["gz"]),
    "an image with a report in its text": request(red(), d.png(text=BAD)),
    "an image with a packed report in its text": request(red(), d.png(text=d.PACKED["gz"])),
    "an image with a report in a compressed text": request(red(), d.png(zlib.compress(BAD), kind=b"zTXt", before=b"Comment\0\0")),
    "an image with a report in a piece of its own": request(red(), d.png(zlib.compress(BAD), kind=b"faIL", before=b"")),
    "a JPEG with a packed report behind it": request(red(), d.jpeg() + d.PACKED["gz"] + b"\xff\xd9"),
    "a JPEG with a packed report in its comment": request(red(), d.jpeg(d.PACKED["xz"])),
    "a GIF with a packed report in its comment": request(red(), d.gif(d.PACKED["zip"])),
    "coverage with a packed report in base64": request(red(), b"<coverage line-rate='1' source='" + b64encode(d.PACKED["gz"]) + b"'/>"),
    "a log with a packed report in base64": request(red(), b"log: " + b64encode(d.PACKED["zst"])),
    "a log with a packed report in hexadecimal": request(red(), d.PACKED["bz2"].hex().encode()),
    "a zip with a packed report in an extra field": request(red(), d.zip_with_extra(only(case("fine")), d.PACKED["gz"])),
    "the beginning of an image": request(red(), d.PNG[:30]),
    "a log with a failure of go": request(red(), b"=== RUN TestReal\n--- FAIL: TestReal (0.00s)\nFAIL\n"),
    **{f"a log of {name}": request(red(), content) for name, content in d.LOGS.items()},
    "a log with TAP in it": request(red(), b"starting\nok 1\nnot ok 2 - real\n"),
    "a log with a report in it": request(red(), b"starting\n" + BAD),
    "a page with a report in it": request(red(), b"<html><body><pre>" + BAD + b"</pre></body></html>"),
    "a log with an escaped report": request(red(), b"log: " + BAD.replace(b"<", b"&lt;")),
    "a log with a report in base64": request(red(), b"log: " + b64encode(b"x" + BAD)),
    "a log with a report in hexadecimal": request(red(), BAD.hex().encode()),
    "coverage with an escaped report": request(red(), b'{"meta":{},"files":{},"totals":{},"x":"\\u003ctestcase\\u003e"}'),
    **{f"a report behind {start!r}": request(red(), start + BAD) for start in (b"\xef\xbb\xbf\n", b"\x0c", b"\xe2\x80\x8b", b"<!-- x -->", b"MZ", b"!<arch>\n", b"hello\n" + d.PACKED["gz"])},
    "a header of tests alone": request(red(), only(case("fine"), name="s' tests='50")),
    **{f"an entry {name!r}": request(red(), d.zipped((name, BAD))) for name in ("__MACOSX/._a.xml", ".a.xml", "a/b/c/notes.txt", "\\", "a\nb")},
    "an empty file": request(red(), b""),
    "blanks": request(red(), b"   \n\n"),
    "NULs": request(red(), b"\0" * 5_000),
    "random bytes": request(red(), bytes(range(256)) * 9),
    "a name without an ending": request(red(), ("real", BAD)),
    "the ending of an image": request(red(), ("real.png", BAD)),
    "UTF-16": request(red(), ("a.xml", b"\xff\xfe" + BAD.decode().encode("utf-16-le"))),
    "UTF-32": request(red(), ("a.xml", BAD.decode().encode("utf-32"))),
    "UTF-7": request(red(), b"<?xml version='1.0' encoding='UTF-7'?>" + BAD),
    "a DOCTYPE": request(red(), b"<!DOCTYPE testsuite [<!ENTITY a 'b'>]>" + BAD),
    "two documents in one file": request(red(), only(case("fine")) + BAD),
    "two documents, the first empty": request(red(), b"<testsuites/>" + BAD),
    "a report after the report's end": request(red() + BAD),
    "a file cut inside the case": request(red(), BAD[: BAD.index(b"</failure>")]),
    "a file cut before the case": request(red(), b"<testsuite name='s' tests='1' failures='1'>"),
    "a byte of the failing case damaged": request(red(), BAD.replace(b"<failure ", b"<failure\x00")),
    "its tag damaged": request(red(), BAD.replace(b"<failure ", b"<f\xffilure ")),
    # -- the failure elsewhere than in a case
    "a suite's error": request(red(ERROR)),
    "a suite's failure": request(red(FAILURE)),
    "an inner suite's error": request(red(f"<testsuite name='inner'>{ERROR}</testsuite>")),
    "the root's error": request(red().replace(b"<testsuites>", f"<testsuites>{ERROR}".encode())),
    "the root's failure": request(red().replace(b"</testsuites>", f"{FAILURE}</testsuites>".encode())),
    "a class that did not load, as Ant says it": request(red(), only(ERROR, name="shop.Cart")),
    "a suite that says it failed": request(red(), only(case("fine"), name="s' status='failed")),
    "headers count more failures": request(red(head=" tests='20' failures='2' errors='0'")),
    "headers count more errors": request(red(head=" tests='20' failures='1' errors='1'")),
    "the root's headers count more": request(red(root=" tests='20' failures='2'")),
    "an inner header counts more": request(red("<testsuite name='i' tests='1' failures='1'/>")),
    "a header in a file of its own": request(red(), b"<testsuite name='i' tests='4' failures='2' errors='0'/>"),
    "a root header in a file of its own": request(red(), b"<testsuites tests='4' failures='2'/>"),
    # -- the failure in odd words
    "a capital Failure": request(red(case("real", "<Failure message='no'/>"))),
    "FAILURE": request(red(case("real", "<FAILURE/>"))),
    "a capital Error": request(red(case("real", "<Error/>"))),
    "failed": request(red(case("real", "<failed>no</failed>"))),
    "fail": request(red(case("real", "<fail/>"))),
    "exception": request(red(case("real", "<exception>no</exception>"))),
    "a namespace": request(red(case("real", "<x:failure xmlns:x='u' message='no'/>"))),
    "a namespace for the case": request(red(f"<x:testcase xmlns:x='u' classname='a' name='real'>{FAILURE}</x:testcase>")),
    "status failed": request(red(case("real", more=" status='failed'"))),
    "status FAILED": request(red(case("real", more=" status='FAILED'"))),
    "status fail": request(red(case("real", more=" status='fail'"))),
    "status error": request(red(case("real", more=" status='error'"))),
    "status crashed": request(red(case("real", more=" status='crashed'"))),
    "status aborted": request(red(case("real", more=" status='aborted'"))),
    "status timeout": request(red(case("real", more=" status='timedout'"))),
    "result failed": request(red(case("real", more=" result='failed'"))),
    "result of an unknown word": request(red(case("real", more=" result='kaputt'"))),
    "status of an unknown word": request(red(case("real", more=" status='kaputt'"))),
    "skipped and failed": request(red(case("real", f"<skipped/>{FAILURE}"))),
    "failed and skipped": request(red(case("real", f"{FAILURE}<skipped/>"))),
    "a case in a case": request(red(case("outer", REAL))),
    "a suite in a case": request(red(case("outer", f"<testsuite name='i'>{REAL}</testsuite>"))),
    "a case in properties": request(red(f"<properties>{REAL}</properties>")),
    "a case in an unknown element": request(red(f"<group>{REAL}</group>")),
    "an unknown kind of case": request(red(f"<test-case name='real'>{FAILURE}</test-case>")),
    "a TestCase": request(red(f"<TestCase classname='a' name='real'>{FAILURE}</TestCase>")),
    "a case without a name": request(red(f"<testcase classname='shop.cart'>{FAILURE}</testcase>")),
    "a case without anything": request(red(f"<testcase>{FAILURE}</testcase>")),
    "a failure behind much text": request(red(case("real", f"<system-out>{'x' * 200_000}</system-out>{FAILURE}"))),
    "a case as the root": request(red(), REAL.encode()),
    # -- the failure in an attribute, a property or a corner
    **{f"a case with {more}": request(red(case("real", more=f" {more}"))) for more in (
        "success='false'", "passed='no'", "ok='0'", "failed='true'", "error='yes'", "failures='1'", "errors='2'", "crashed='true'",
        "Status='Failed'", "RESULT='failed'", "state='broken'", "verdict='fail'", "xmlns:x='u' x:status='failed'",
    )},
    **{f"a suite with {head}": request(red(head=f" {head}")) for head in (
        "failed='2'", "failure='2'", "error='2'", "errored='2'", "crashed='2'", "unexpected='2'", "Failures='2'",
        "xmlns:x='u' x:failures='2'", "failures='two'", "failures='2.0'", "status='kaputt'",
    )},
    "a green suite with success='false'": request(red(), only(case("fine"), name="s' success='false")),
    "a green suite with failed='true'": request(red(), only(case("fine"), name="s' failed='true")),
    **{f"a property {name}={value}": request(red(case("real", f"<properties><property name='{name}' value='{value}'/></properties>"))) for name, value in (
        ("status", "failed"), ("result", "FAIL"), ("Outcome", "error"), ("state", "broken"),
    )},
    "a suite's property outcome=failed": request(red("<properties><property name='outcome' value='failed'/></properties>")),
    "failed, inside output": request(red(case("real", "<output><failed/></output>"))),
    "an exception, inside metadata": request(red(case("real", "<metadata><exception>no</exception></metadata>"))),
    "test-failure, inside properties": request(red(case("real", "<properties><test-failure/></properties>"))),
    "skipped, with an unknown status": request(red(case("real", "<skipped/>", more=" status='kaputt'"))),
    "an XInclude in a suite": request(red("<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='real.xml'/>")),
    "text in a suite": request(red("real FAILED")),
    "a case in CDATA": request(red(f"<![CDATA[{REAL}]]>")),
    "a case in a comment": request(red(f"<!-- {REAL} -->")),
    "a case in a processing instruction": request(red(f"<?old {REAL}?>")),
    "a name written with references": request(red(case("re&#97;l", FAILURE))),
    # -- the failure behind another result of its name
    "Surefire, fails then passes": request(surefire(flaky() + REAL + case("real") + cases()), runner="maven"),
    "Surefire, passes then fails": request(surefire(flaky() + case("real") + REAL + cases()), runner="maven"),
    "Surefire, fails then is skipped": request(surefire(flaky() + REAL + case("real", "<skipped/>") + cases()), runner="maven"),
    "pytest, fails then passes": request(red(REAL + case("real"))),
    "pytest, passes then fails": request(red(case("real") + REAL)),
    "pytest, passes, passes, fails": request(red(case("real") * 2 + REAL)),
    "unknown, fails then passes": request(red(), only(REAL + case("real"))),
    "in two files, fails and passes": request(red(), BAD, only(case("real"), name="again")),
    "in two files, passes and fails": request(red(), only(case("real"), name="again"), BAD),
    "100 flaky failures, then a failure": request(surefire(flaky() + case("real", FLAKY_FAILURES + FAILURE) + cases()), runner="maven"),
    "a failure, then 100 reruns": request(surefire(flaky() + case("real", FAILURE + "<rerunFailure message='no'/>" * 100) + cases()), runner="maven"),
    "a flaky failure, then skipped": request(surefire(flaky() + case("real", "<flakyFailure message='no'/><skipped/>") + cases()), runner="maven"),
    "100 flaky failures and an error": request(surefire(flaky() + case("real", FLAKY_FAILURES + ERROR) + cases()), runner="maven"),
    "120 passes, then a failure": request(red(), only(case("real") * 120 + REAL)),
    "reruns alone": request(surefire(flaky() + case("real", "<rerunFailure message='no'/>") + cases()), runner="maven"),
    "flaky by attribute": request(red(case("real", FAILURE, more=" flaky='true'"))),
    "nextest's word without its element": request(red(case("real", "<failure type='flaky failure'/>"))),
    "a shared test_id": request(shared_id("test_id").encode()),
    "a shared flakeboard_id": request(shared_id("flakeboard_id").encode()),
    "the quarantined test's name in another class": request(red(case("test_03", FAILURE, classname="shop.order"))),
    "its name without a class": request(red(case("test_03", FAILURE, classname=""))),
    "its name with a blank": request(red(case("test_03 ", FAILURE))),
    "its name in capitals": request(red(case("TEST_03", FAILURE))),
    "its name and an invisible letter": request(red(case("test_03\u200b", FAILURE))),
    "its name with another parameter": request(red(case("test_03[1]", FAILURE))),
    "its name with a shard's suffix": request(red(case("test_03_shard_1/2", FAILURE))),
    "its name with a shard's suffix, before it": request(red().replace(b"<testcase", (case("test_03_shard_1/2", FAILURE) + "<testcase").encode(), 1)),
    "its name and a character that is removed": request(red(case("test_03\x08", FAILURE))),
    **{f"its name as {name!r}": request(red(case(name, FAILURE))) for name in ("ｔest_03", "test_03\u0301", "\u202etest_03", "test_03&#9;", "test_03[7f9c24e8-3b12-4c5d-9e01-aaaaaaaaaaaa]")},
    **{f"its class as {name!r}": request(red(case("test_03", FAILURE, classname=name))) for name in ("shop.cart.TestCart", "shop/cart", "Shop.Cart")},
    "its name twice in two suites": request(red().replace(b"</testsuites>", f"<testsuite name='pytest'>{flaky()}</testsuite></testsuites>".encode())),
    "its name from another source file": request(red(case("test_03", FAILURE, more=" file='other/cart.py'"))),
    "its name twice, one fails, one passes": request(only(flaky() + case("test_03") + cases())),
    # -- a crash in the quarantined test
    "a worker of xdist crashed": request(red().replace(FAILURE.encode(), XDIST.encode())),
    "no memory left": request(red().replace(FAILURE.encode(), MEMORY.encode())),
    "no memory left, behind another exception": request(red().replace(FAILURE.encode(), b"<failure message='OrderError: no'>E   MemoryError\n\nDuring handling\nE   OrderError: no</failure>")),
    "no memory left in the JVM, behind another exception": request(surefire(flaky("<error type='x.OrderError'>x.OrderError\nCaused by: java.lang.OutOfMemoryError: Java heap space</error>") + cases()), runner="maven"),
    "the JVM's stack overflowed": request(surefire(flaky("<error type='java.lang.StackOverflowError'/>") + cases()), runner="maven"),
    "a segmentation fault": request(red().replace(FAILURE.encode(), SEGFAULT.encode())),
    "the forked VM": request(surefire(flaky(FORK) + cases()), runner="maven"),
    **{f"a crash: {words}": request(red().replace(FAILURE.encode(), f"<failure message='{words}'/>".encode())) for words in CRASHES},
    "a panic of go": request(only(f"<properties><property name='go.version' value='go1.22'/></properties>{flaky(PANIC)}{cases()}"), runner="go"),
    # -- tests that did not run
    "half of the tests": request(red(count=10)),
    "the rest is skipped": request(red().replace(b"'0.1'></testcase>", b"'0.1'><skipped/></testcase>")),
    "cut, with a clock of 1970": request(red(count=10), started_at="1970-01-01T00:00:00Z"),
    "cut, with a clock of 2019": request(red(count=10), started_at="2019-05-05T05:05:05Z"),
    "cut, with a clock of two hours ago": request(red(count=10), started_at=hours_ago(2)),
    "cut, with a clock of two days ago": request(red(count=10), started_at=hours_ago(48)),
    "cut, with a clock that is ahead": request(red(count=10), started_at=hours_ago(-3)),
    "cut, with a report stamped 1970": request(red(count=10, head=" timestamp='1970-01-01T00:00:00Z'")),
    "cut, in a new job": request(red(count=10), job="new"),
    "cut, in a new environment": request(red(count=10), environment="os=new"),
    "cut, in a new shard": request(red(count=10), shard="1/2"),
    "cut, in a job named by a pull request": request(red(count=10), job="app/PR-7", branch="fix", pull_request="7"),
    "cut, with an image for this commit": request(red(count=10), environment="image=app:77be01d"),
    "cut, on a new branch": request(red(count=10), branch="new"),
    "ended by the failing test, nothing known": request(only(case("new_a") + case("new_b") + flaky(), name="pytest"), job="new"),
    "the sender says -x": request(red(), truncated="pytest ran with -x"),
    "the sender lacks a file": request(red(), unsent="reports/b.xml cannot be opened."),
    # -- the exit code
    **{f"exit code {code} of pytest": request(red(), exit_code=str(code)) for code in (2, 3, 4, 5, 126, 127, 134, 137, 139, 255, -9)},
    "exit code 2 of go": request(red(), exit_code="2", runner="go"),
    "exit code 1 of nextest": request(red(), exit_code="1", runner="nextest"),
    "exit code 5 of mocha, one failure": request(red(), exit_code="5", runner="mocha"),
    "exit code 2 of cypress, one failure": request(red(), exit_code="2", runner="cypress"),
    "exit code 3 of robot, one failure": request(red(), exit_code="3", runner="robot"),
    # -- the form
    **{f"a part named {name!r}": request(red(), Part(BAD, filename=name)) for name in ("..", ".", "reports/", "a/..", "/", "\\", " ", "")},
    "a part without a file name": request(red(), Part(BAD, filename=None)),
    "a part whose field is metadata": request(red(), Part(BAD, name="metadata")),
    "a field of metadata": request(red(), Part(BAD, name="metadata", filename=None)),
    "metadata twice": request(red(), Part(b"{}", name="metadata"), Part(BAD, name="metadata")),
    "an unknown field": request(red(), Part(BAD, name="another", filename=None)),
    "a part of an unknown field": request(red(), Part(BAD, name="another")),
    "a word of -x, taken back in the other place": request(red(), Part(b'{"truncated": ""}', name="metadata", filename=None), truncated="-x"),
    "a missing file, taken back in the other place": request(red(), Part(b'{"unsent": []}', name="metadata", filename=None), unsent="a.xml"),
    "another branch in the other place": request(red(), Part(b'{"branch": "main"}', name="metadata", filename=None), branch="other"),
    "one name of the environment twice": request(red(), Part(b"os=mac", name="environment", filename=None), environment="os=linux"),
    "one name of the environment twice in a line": request(red(), environment="os=linux, os = mac"),
    "the exit code twice": request(red(), BAD, Part(b"0", name="exit_code", filename=None)),
    "before the first boundary": request(red(), before=BAD + b"\r\n"),
    "after the last boundary": request(red(), after=BAD),
    "a part in base64": request(red(), Part(b64encode(BAD), headers="Content-Transfer-Encoding: base64\r\n")),
    "a part in gzip by header": request(red(), Part(d.PACKED["gz"], headers="Content-Encoding: gzip\r\n")),
    "a form in a part": request(red(), Part(b"--x\r\n\r\n" + BAD + b"\r\n--x--", headers="Content-Type: multipart/mixed; boundary=x\r\n")),
}  # fmt: skip

UNREAD = {
    name: FORMATS[name]
    for name in ("NUNIT2", "BOOST", "QTEST", "CUNIT", "CTEST", "ALLURE", "CUCUMBER", "MOCHA_JSON", "JEST_JSON")
}
RED = (Result("quarantined", failed=True), Result("real", failed=True), Result("fine"))
ROWS |= {
    # -- the failure beside a quarantined one in a file of another format
    **{f"in one file of {name}": request(writer(RED)) for name, writer in WRITERS.items()},
    **{f"in one file of {name}, fails then passes": request(writer((*RED, Result("real")))) for name, writer in WRITERS.items()},
    **{f"in one file of {name}, passes then fails": request(writer((Result("real"), *RED))) for name, writer in WRITERS.items()},
    **{f"a file of {name} cut before its end": request(red(), content[: len(content.rstrip()) * 9 // 10]) for name, content in FORMATS.items() if name not in UNREAD},
    "TRX, the host crashed": request(red(), d.TRX.replace(b'"Failed"', b'"Passed"').replace(b'ResultSummary outcome="Passed"', b'ResultSummary outcome="Aborted"')),
    "TRX, the counters count more": request(red(), d.TRX.replace(b'outcome="Failed"', b'outcome="Passed"')),
    "TRX, summed up again": request(red(), d.TRX.replace(b'"Failed"', b'"Passed"').replace(b"</TestRun>", b'<ResultSummary outcome="Passed"><Counters total="1" failed="0"/></ResultSummary></TestRun>')),
    "TRX, counted again": request(red(), d.TRX.replace(b'"Failed"', b'"Passed"').replace(b"</ResultSummary>", b'<Counters total="1" failed="0"/></ResultSummary>')),
    "NUnit, an assertion of a test that passed": request(red(), b"<test-run result='Passed'><test-suite name='s' result='Passed'><test-case name='real' result='Passed'><assertions><assertion result='Failed'/></assertions></test-case></test-suite></test-run>"),
    "NUnit, a fixture's setup failed": request(red(), b"<test-run result='Failed'><test-suite name='s' result='Failed' site='SetUp'><failure/></test-suite></test-run>"),
    "xUnit, an assembly's error": request(red(), b"<assemblies><assembly name='a' errors='1'><errors/></assembly></assemblies>"),
    "TestNG, configuration failed": request(red(), d.TESTNG.replace(b'status="FAIL"', b'status="FAIL" is-config="true"')),
    "TAP, bail out": request(red(), b"1..1\nok 1 - fine\nBail out! no\n"),
    "TAP, fewer than planned": request(red(), b"1..2\nok 1 - fine\n"),
    "TAP, a subtest's failure under a sum that is ok": request(red(), b"# Subtest: x\n    not ok 1 - real\n    1..1\nok 1 - x\n1..1\n"),
    "TAP, a line's end between not and ok": request(red(), d.TAP.replace(b"not ok", b"not\nok")),
    **{f"TAP, cut behind {cut} bytes": request(red(), d.TAP[:cut]) for cut in (1, 5, 11, 12)},
    "xUnit, without its beginning": request(red(), d.XUNIT[d.XUNIT.index(b"/failure>") :]),
    "Robot, without its beginning": request(red(), d.ROBOT[d.ROBOT.index(b"/suite>") :]),
    "TAP, skipped and not ok": request(red(), b"1..1\nnot ok 1 - real # SKIP\n"),
    "go, a build failed": request(red(), b'{"ImportPath":"a","Action":"build-fail"}\n{"Action":"start","Package":"a"}\n{"Action":"fail","Package":"a","FailedBuild":"a"}\n'),
    "go, a test without an end": request(red(), b'{"Action":"run","Package":"a","Test":"TestReal"}\n{"Action":"pass","Package":"a"}\n'),
    "go, a package without an end": request(red(), b'{"Action":"run","Package":"a","Test":"T"}\n{"Action":"pass","Package":"a","Test":"T"}\n'),
    "Robot, a suite's setup failed": request(red(), d.ROBOT.replace(b'<kw name="Fail">', b'<kw name="Fail" type="SETUP">').replace(b'<test id="s1-t1" name="real">', b"").replace(b"</test>", b"")),
    "Playwright, a file did not load": request(red(), b'{"config":{},"suites":[],"errors":[{"message":"no"}],"stats":{"expected":0,"unexpected":0,"flaky":0,"skipped":0}}'),
    "Playwright, flaky and the last failed": request(red(), d.PLAYWRIGHT.replace(b'"unexpected", "results"', b'"flaky", "results"')),
    "CTRF, the summary counts more": request(red(), d.CTRF.replace(b'"status": "failed"', b'"status": "passed"')),
    "CTRF, a status twice": request(red(), d.CTRF.replace(b'"status": "failed"', b'"status": "failed", "status": "passed"')),
    "CTRF, other": request(red(), d.CTRF.replace(b'"status": "failed"', b'"status": "other"')),
}  # fmt: skip


def problem(answer: Answer) -> str:
    """What is wrong with an answer that has to hold the build; empty where nothing is."""
    if answer.passed:
        return f"it passed: {answer.body}"
    if answer.status >= 500:
        return f"it broke: {answer.body}"
    return "" if all(answer.codes) else f"a refusal says why: {answer.body}"


QUARANTINED = keys_of(red()) - keys_of(only(cases(), name="pytest"))
"""The test that the shop has quarantined, by its whole name."""
_PLAIN_NAME = re.compile(r"\w+(\.\w+)?", re.ASCII)


def read_from(asked: Request) -> Submission | None:
    """What the gate has to read of a request that hides something in its files alone; None where more is odd about it."""
    plain = all(
        part.name == "file" and not part.headers and part.filename and _PLAIN_NAME.fullmatch(part.filename)
        for part in asked.parts
    )
    if not plain or asked.before or asked.after or asked.fields.keys() - {"exit_code", "runner"}:
        return None
    files = tuple(File(part.filename or "", raw=part.content) for part in asked.parts)
    return Submission((files,), int(asked.fields.get("exit_code", "1")), norm=len(TESTS))


def is_held_by_its_files(asked: Request) -> bool:
    """Whether the gate's own reading and law hold it already, without what is stored and known of the project."""
    sent = read_from(asked)
    runner = asked.fields.get("runner", "pytest")
    return sent is not None and not judge(sent, QUARANTINED.__contains__, runner).passed


def asked_for_real() -> list[str]:
    """Disguises that go through the form, the store and the gate: all in `make whole`. Else of those that reading holds,
    a slice and the ones that once passed; of all others, every one."""
    by_files = [name for name, disguised in ROWS.items() if is_held_by_its_files(disguised)]
    spared = set(by_files) - set(slice_of(by_files, 50)) - set(ONCE_PASSED)
    return [name for name in ROWS if name not in spared]


def test_it_is_held(shop: Shop) -> None:
    wrong = []
    for name in asked_for_real():
        with undone():
            if fault := problem(ask(shop.token, ROWS[name])):
                wrong.append(f"{name}: {fault}")
    assert not wrong, "\n".join(wrong)


def test_reading_alone_does_not_hold_what_is_honest() -> None:
    """Else rows would be spared for nothing."""
    assert {name for name, honest in HONEST.items() if is_held_by_its_files(honest)} == set()
    assert not is_held_by_its_files(request(red()))


def test_without_a_disguise_it_passes(shop: Shop) -> None:
    """Else every row would be held for nothing."""
    answer = ask(shop.token, request(red()))
    assert answer.passed, answer.body


HONEST: dict[str, Request] = {
    "a coverage report beside it": request(red(), b"<?xml version='1.0'?><coverage line-rate='1' branch-rate='0' version='7'/>"),
    "a log beside it": request(red(), b"starting the tests\nall is well\n"),
    "an image beside it": request(red(), ("shot.png", d.PNG)),
    "images with comments beside it": request(red(), d.png(b"a browser"), d.jpeg(b"a browser"), d.gif(b"a browser")),
    "a green report beside it": request(red(), only(case("fine"))),
    "the same report twice": request(red(), red()),
    "it in a zip": request(d.zipped(("a.xml", red()))),
    "it in a tar.gz with folders": request(d.tarred(("a/a.xml", red()), mode="w:gz")),
    "it in xz": request(("a.xz", lzma.compress(red()))),
    "it with true headers": request(red(head=" tests='20' failures='1' errors='0' skipped='0'")),
    "a retry by Surefire": request(surefire(flaky() + case("again", "<flakyFailure message='no'/>") + cases()), runner="maven"),
    "headers that count fewer": request(red(head=" tests='20' failures='0'")),
    "the quarantined test fails twice in Surefire's reruns": request(surefire(flaky(FAILURE + "<rerunFailure message='no'/>") + cases()), runner="maven"),
    "in a job named by a pull request": request(red(), job="app/PR-7", branch="fix", pull_request="7"),
}  # fmt: skip


def test_an_honest_build_passes(shop: Shop) -> None:
    wrong = []
    for name, honest in HONEST.items():
        with undone():
            answer = ask(shop.token, honest)
            if not answer.passed:
                wrong.append(f"{name}: {answer.body}")
    assert not wrong, "\n".join(wrong)


def quarantined(shop: Shop, content: bytes) -> None:
    """Send an earlier run in the same format, and quarantine its test of that name."""
    send(shop.project, content, build_id="earlier", branch="main")
    tests = list(Test.objects.filter(project=shop.project, name="quarantined"))
    quarantine_create(project=shop.project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "junit"])
def test_the_quarantined_failure_alone_passes_in_every_format(shop: Shop, name: str) -> None:
    """The other side of the rows above: the same document with its failure quarantined, and its runner's exit code."""
    several = tuple(Result(f"fine_{number}") for number in range(5))
    quarantined(shop, WRITERS[name]((Result("quarantined"), *several)))
    answer = ask(
        shop.token, request(WRITERS[name]((Result("quarantined", failed=True), *several)), runner=None, job=name)
    )
    assert answer.passed, answer.body
    answer = ask(
        shop.token,
        request(
            WRITERS[name]((Result("quarantined", failed=True), *several, Result("real", failed=True))),
            runner=None,
            job=name,
        ),
        "next",
    )
    assert not answer.passed, answer.body


# -- what came or happened before ----------------------------------------------------------------------------------

Before = Callable[[Shop], object]


def _sent(*files: bytes, **told: str) -> Before:
    return lambda shop: send(shop.project, *files, **{"build_id": "now", "branch": "main", **told})


def _queued(shop: Shop) -> None:
    metadata = RunMetadata(build_id="now", branch="main")
    upload_receive(project=shop.project, body=body_of(BAD), metadata=metadata)


def _failed(shop: Shop) -> None:
    _queued(shop)
    Upload.objects.filter(state=Upload.State.RECEIVED).update(state=Upload.State.FAILED)


def _processing(shop: Shop) -> None:
    _queued(shop)
    Upload.objects.filter(state=Upload.State.RECEIVED).update(state=Upload.State.PROCESSING)


def _changed(**changes: object) -> Before:
    return lambda shop: Quarantine.objects.filter(project=shop.project).update(**changes)


def _both(*before: Before) -> Before:
    return lambda shop: [one(shop) for one in before]


PHPUNIT = b"<testsuite name='s'><testcase name='a' class='A' classname='A' assertions='1' time='0.1'/></testsuite>"
NEXTEST = (
    b"<testsuites name='nextest-run'><testsuite name='s'><testcase classname='a' name='b'/></testsuite></testsuites>"
)
MINE = f"<testsuite name='one'>{case('mine', SHARED.format('flakeboard_id'))}</testsuite>"
NOT_MINE = f"<testsuite name='two'>{case('mine', SHARED.format('test_id') + FAILURE)}</testsuite>"


def _with_an_id(shop: Shop) -> None:
    """Quarantine a test that its report gives an id of ours."""
    send(shop.project, MINE.encode(), build_id="earlier", branch="main")
    tests = list(Test.objects.filter(project=shop.project, name="mine"))
    quarantine_create(project=shop.project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)


BEFORE: dict[str, tuple[Before, Request]] = {
    "exit code 2 of pytest, and a report of PHPUnit": (_sent(red()), request(PHPUNIT, runner=None, exit_code="2")),
    "exit code 1 of nextest, and a report of pytest": (_sent(NEXTEST), request(red(), runner=None)),
    "two producers in one upload": (_sent(NEXTEST), request(red(), NEXTEST.replace(b"'b'", b"'c'"), runner=None)),
    "it failed on another branch than the upload that asks": (_both(_changed(branches=["release/*"]), _sent(red())), request(only(case("fine")), branch="release/1")),
    "it failed in a pull request, and the upload that asks is of none": (_both(_changed(branches=["main"]), _sent(red(), pull_request="7")), request(only(case("fine")))),
    "another suite's test of that name, with the id in another property": (_with_an_id, request(red(), NOT_MINE.encode())),
    "both, and the id in another property": (_with_an_id, request(red(), f"<testsuites>{MINE}{NOT_MINE}</testsuites>".encode())),
    "another upload of the run is red": (_sent(BAD), request(red())),
    "another upload of the run is damaged": (_sent(BAD[:-40]), request(red())),
    "another upload of the run is no report": (_sent(b"what is this\0"), request(red())),
    "another upload of the run is TAP": (_sent(d.TAP), request(red())),
    "another upload of the run is empty": (_sent(b""), request(red())),
    "another upload of the run waits": (_queued, request(red())),
    "another upload of the run is being processed": (_processing, request(red())),
    "another upload of the run failed": (_failed, request(red())),
    "another upload of the run, with a commit": (_sent(BAD, commit="77be01d"), request(red())),
    "another upload of the run, without a branch": (_sent(BAD, branch=""), request(red())),
    "another upload of the run, of another branch": (_sent(BAD, branch="other"), request(red())),
    "another upload of the run, damaged, with a commit": (_sent(BAD[:-40], commit="77be01d"), request(red())),
    "another upload of the run has the quarantined name too": (_sent(only(flaky(), name="pytest")), request(red())),
    "the same bytes, sent before without a word of -x": (_sent(red()), request(red(), truncated="-x")),
    "the quarantine is over": (_changed(expires_at=timezone.now() - timedelta(seconds=1)), request(red())),
    "the quarantine is of another branch": (_changed(branches=["release/*"]), request(red())),
    "a pull request from a branch of that name": (
        _changed(branches=["release/*"]), request(red(), branch="release/evil", pull_request="7"),
    ),
    "a pull request from a branch called main": (_changed(branches=["main"]), request(red(), pull_request="7")),
    "the quarantine is of another environment": (_changed(environments={"os": "mac"}), request(red(), environment="os=linux")),
}  # fmt: skip


def test_it_is_held_after(shop: Shop, settings: Any) -> None:
    settings.WAIT_SECONDS = 1  # for uploads that nobody will process
    wrong = []
    for name, (before, asked) in BEFORE.items():
        with undone():
            before(shop)
            if fault := problem(ask(shop.token, asked)):
                wrong.append(f"{name}: {fault}")
    assert not wrong, "\n".join(wrong)


ONCE_PASSED = (
    "a file of TRX", "a file of NUNIT3", "a file of XUNIT", "a file of TESTNG", "a file of TAP", "a file of GO", "packed: xz", "packed: bz2",
    "an unknown root", "a suite's error", "the root's error", "headers count more failures", "a shared test_id", "Surefire, fails then passes",
    "100 flaky failures, then a failure", "a part named '..'", "a part named '.'", "a part named 'reports/'", "a part named 'a/..'",
    "a part whose field is metadata", "packed: zip, a folder with content", "packed: zip of xz", "packed: zip of TRX",
    "another upload of the run is damaged", "another upload of the run waits", "cut, with a clock of 1970",
    "cut, with a clock of two hours ago", "ended by the failing test, nothing known",
)  # fmt: skip
"""The disguises by which the law was found."""


def test_the_28_are_among_them() -> None:
    assert len(set(ONCE_PASSED)) == 28
    assert set(ONCE_PASSED) <= ROWS.keys() | BEFORE.keys()


def test_there_are_enough_disguises() -> None:
    assert len(ROWS) + len(BEFORE) >= 300
