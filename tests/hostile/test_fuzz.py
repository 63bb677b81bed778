"""Whatever bytes come, the reader reads them or raises Refused.

By hand for longer: EXAMPLES=20000 pytest tests/hostile/test_fuzz.py"""

import gzip
import os
from functools import cache

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import PRODUCERS
from tests.hostile.archives import Entry, pax, sparse_entry, tar_entry, tar_of, zip64_of_copies, zip_of
from tests.ingest.junit.reading import upload

EXAMPLES = int(os.environ.get("EXAMPLES", "150"))
quick = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))

SPLICES = (
    *(b"", b"<", b">", b"&", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<!DOCTYPE x>", b"<?x", b"\0", b"\xff", b"\x08"),
    *(b"<testcase name='a'>", b"</testcase>", b"<testsuite>", b"</testsuite>", b"<failure>", b"</failure>", b"&#0;"),
    *(b"\xed\xa0\x80", b"&amp;", b"&x;", b'"', b"'", b"/>", b" name=''", b"\xef\xbb\xbf", b"\xff\xfe", b"<system-out>"),
    *(b"</system-out>", b"<stackTrace>", b"<skipped/>", b"<properties>", b"<rerunFailure>", b"xmlns:a='b' a:", b"\r\n"),
    b'<testcase classname="a" name="b" time="1"/>',
)


@cache
def reports() -> tuple[bytes, ...]:
    """Small reports of real tools."""
    return tuple(path.read_bytes() for path in sorted(PRODUCERS.glob("*.xml")) if path.stat().st_size < 20_000)


@cache
def archives() -> tuple[bytes, ...]:
    report = min(reports(), key=len)
    return (
        gzip.compress(report, mtime=0),
        gzip.compress(report, mtime=0) + gzip.compress(report, mtime=0),
        zip_of(Entry(content=report), Entry(b"b.xml", report, method=8), Entry(b"c", gzip.compress(report, mtime=0))),
        zip64_of_copies(3),
        tar_of(tar_entry("a.xml", b"0", report), tar_entry("b.xml", b"0", gzip.compress(report, mtime=0))),
        tar_of(tar_entry("h", b"x", pax(path="b", size=7)), tar_entry("a.xml", b"0", report)),
        tar_of(tar_entry("h", b"L", b"name\0"), tar_entry("a.xml", b"0", report), sparse_entry(4_096)),
        gzip.compress(tar_of(tar_entry("a.xml", b"0", report)), mtime=0),
    )


@st.composite
def mutated(draw: st.DrawFn, originals: st.SearchStrategy[bytes], splices: st.SearchStrategy[bytes]) -> bytes:
    """One of the originals, cut, spliced, doubled or with bytes changed, a few times over."""
    content = draw(originals)
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted((draw(st.integers(0, len(content))), draw(st.integers(0, len(content)))))
        end = draw(st.sampled_from([end, start, min(start + 1, len(content)), min(start + 4, len(content))]))
        content = content[:start] + draw(splices) + content[end:]
    return content


def codes_of(content: bytes) -> list[object]:
    """Reads an upload; anything but a reading is an error of ours."""
    reading = upload(content)
    for file in reading.files:
        assert file["error"] is None or file["error"]["code"], file  # type: ignore[index]
        str(file).encode()
    assert len(reading.report.keys) == len(reading.report.verdicts) == len(reading.report.durations)
    return [file["error"] for file in reading.files]


@quick
@given(st.binary(max_size=400))
def test_no_bytes_raise(content: bytes) -> None:
    codes_of(content)
    codes_of(b"<testsuite><testcase name='" + content)
    codes_of(b"<testsuite><testcase name='a'><failure>" + content + b"</failure></testcase></testsuite>")


@quick
@given(
    st.sampled_from([b"\x1f\x8b\x08", b"\x1f\x8b\x08\x1f", b"PK\x03\x04", b"PK\x05\x06", bytes(257) + b"ustar"]),
    st.binary(max_size=600),
)
def test_no_bytes_behind_the_mark_of_an_archive_raise(mark: bytes, content: bytes) -> None:
    codes_of(mark + content)
    codes_of(gzip.compress(mark + content, mtime=0))


@quick
@given(mutated(st.deferred(lambda: st.sampled_from(reports())), st.sampled_from(SPLICES) | st.binary(max_size=8)))
def test_no_change_of_a_real_report_raises(content: bytes) -> None:
    codes_of(content)


@quick
@given(
    st.deferred(lambda: st.sampled_from(reports())),
    st.deferred(lambda: st.sampled_from(reports())),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_no_two_real_reports_spliced_raise(one: bytes, two: bytes, end: float, start: float) -> None:
    codes_of(one[: int(end * len(one))] + two[int(start * len(two)) :])


@quick
@given(
    mutated(st.deferred(lambda: st.sampled_from(reports())), st.sampled_from(SPLICES)),
    st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1252", "shift_jis", "gb18030"]),
)
def test_no_change_of_a_report_in_another_encoding_raises(content: bytes, encoding: str) -> None:
    text = content.decode("utf-8", "replace").replace('encoding="UTF-8"', f'encoding="{encoding}"')
    codes_of(text.encode(encoding, "replace"))
    codes_of(text.encode(encoding, "replace")[:-1])


@settings(quick, max_examples=2 * EXAMPLES)
@given(mutated(st.deferred(lambda: st.sampled_from(archives())), st.binary(max_size=8)))
def test_no_change_of_an_archive_raises(content: bytes) -> None:
    codes_of(content)
    codes_of(gzip.compress(content, mtime=0))
