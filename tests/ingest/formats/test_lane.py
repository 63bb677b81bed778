"""The fast lane of XML formats reads exactly what the parser reads."""

from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.formats import lane
from ingest.formats.xml import XmlFormat
from ingest.junit.problems import Refused
from ingest.junit.report import ParsedReport
from tests.ingest.formats.documents import XML
from tests.ingest.junit.reading import read, read_carefully
from tests.redteam.writers import WRITERS, Result

CASES = 40
TESTNG_METHOD = (
    '<test-method status="PASS" name="{}" duration-ms="5"><reporter-output>\n</reporter-output></test-method>'
)
PIECES = [
    *(" ", "\n", "<", ">", "/>", "'", '"', "text", "&amp;", "&lt;", "&#10;", "&bad;", "é", "\x01", "\uffff", "\t"),
    *("<!-- x -->", "<!-- <test -->", "<![CDATA[x]]>", "<?pi x?>", "<unknown/>", "<failure/>", "<failure></failure>"),
    *(" retried='true'", " is-config='true'", " label='Error'", " line='3'", " source-file='a.cs'", " name='again'"),
    *(" computerName='h'", " outcome='Timeout'", " xmlns='other'", " time='x'", " status='FAIL'", " result='Skipped'"),
    *("<output/>", "<params><param><value></value></param></params>", "<exception class='E'/>", "<Execution id='1'/>"),
    *("<Output><StdOut>x</StdOut></Output>", "<InnerResults><UnitTestResult testName='i' outcome='Passed'/>"),
    *("</InnerResults>", "<status status='FAIL'/>", "</class><class name='k'>", "<a><b><c><d/></c></b></a>", "FAIL"),
]
names = st.sampled_from(["test", "test", "a b", "é", "a&b", "q'u\"o", "", "shop.cart.", "run 2024-01-02T03:04:05Z"])


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Many cases in a format, some of them odd, with something put into one or into several that follow each other."""
    odd = draw(st.dictionaries(st.integers(0, CASES - 1), st.tuples(names, st.booleans()), max_size=4))
    results = [Result(f"test_{number}") for number in range(CASES)]
    for number, (name, failed) in odd.items():
        results[number] = Result(name, failed)
    lines = WRITERS[draw(st.sampled_from(XML))](results).decode().split("\n")
    for _ in range(draw(st.integers(0, 3))):
        start, mark = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, 40))
        piece, shift = draw(st.sampled_from(PIECES)), draw(st.integers(0, 1))
        for number in range(start, start + draw(st.sampled_from([1, 10]))):
            lines[number : number + 1] = [_with(line, piece, mark, shift) for line in lines[number : number + 1]]
    return "\n".join(lines).encode()


def _with(line: str, piece: str, mark: int, shift: int) -> str:
    """The line with a piece before or behind one of its marks."""
    marks = [at for at, character in enumerate(line) if character in "<> '\""] or [0]
    at = marks[mark % len(marks)] + shift
    return line[:at] + piece + line[at:]


def outcome(reading: Callable[[bytes], ParsedReport], data: bytes) -> object:
    try:
        report = reading(data)
    except Refused as refusal:
        return refusal.as_dict()
    return {name: repr(getattr(report, name)) for name in report.__slots__ if name != "warnings"}, [
        warning.as_dict() for warning in report.warnings
    ]


@given(documents(), st.sampled_from([100, 1_000, 100_000]))
@example(WRITERS["testng"]([Result(f"test_{number}") for number in range(CASES)]), 1_000)
@settings(max_examples=150, deadline=None)
def test_reads_what_the_parser_reads(data: bytes, chunk: int) -> None:
    with (
        patch.object(lane, "_SMALL", 0),
        patch.object(lane, "_SHORTEST_WAIT", 1),
        patch("ingest.junit.encoding.CHUNK", chunk),
    ):
        assert outcome(read, data) == outcome(read_carefully, data)


ALIKE = [
    ("xunit", "result='Pass'", "result='Fail'"),
    ("xunit", "result='Pass'", "result='Skip'"),
    ("xunit", "result='Pass'", "result='Pass' source-file='a.cs' source-line='3'"),
    ("xunit", 'name="shop.cart.', 'name="shop.cart." id="'),
    ("nunit", "></test-case>", "><failure></failure></test-case>"),
    ("nunit", "></test-case>", "><reason/></test-case>"),
    ("nunit", "></test-case>", "><failure><stack-trace>\n</stack-trace></failure></test-case>"),
    ("nunit", "></test-case>", "><unknown/></test-case>"),
    ("nunit", "result='Passed' d", "result='Failed' label='Error' d"),
    ("nunit", "duration='0.1'", "time='0.2'"),
    ("nunit", ' name="', ' name="" methodname="'),
    ("testng", "status='PASS'", "status='FAIL'"),
    ("testng", "status='PASS'", "status='SKIP' retried='true'"),
    ("testng", "status='PASS'", "status='FAIL' is-config='true'"),
    ("testng", "status='PASS'", "status='PASS' retried='true'"),
    ("testng", "status='PASS'", "status='PASS' is-config='true'"),
    ("testng", ' name="test', ' name="" id="test'),
    ("testng", "/></class>", "><params><param><value></value></param></params></test-method></class>"),
    ("testng", "/></class>", "/></class><!-- <test -->"),
    ("trx", "outcome='Passed'", "outcome='Timeout'"),
    ("trx", "outcome='Passed'", "outcome='Passed' computerName='host'"),
    ("trx", 'testName="', 'testName="shop.cart." executionId="'),
    ("trx", "outcome='Passed'/>", "outcome='Passed'><Output><StdOut>\n</StdOut></Output></UnitTestResult>"),
    ("trx", "<TestMethod", "<Execution id='1'/><TestMethod"),
    ("trx", 'className="shop.cart"', 'className="shop.cart, shop"'),
    ("robot", "status='PASS'", "status='FAIL'"),
    ("robot", "></status>", ">\n</status>"),
    ("robot", " elapsed='0.1'", " elapsed=''"),
    ("robot", " elapsed='0.1'", " starttime='20260101 00:00:00.000' endtime='20260101 00:00:00.100'"),
    ("robot", "start='2026-01-01T00:00:00' ", ""),
    ("robot", "<test ", "<test line='3' "),
    ("robot", "</status>", "</status><kw><status status='FAIL'/></kw>"),
]


@pytest.mark.parametrize(("name", "old", "new"), ALIKE)
def test_odd_cases_that_are_all_alike(name: str, old: str, new: str) -> None:
    written = WRITERS[name]([Result(f"test_{number}") for number in range(CASES)])
    data = written.decode().replace(old, new).encode()
    assert data != written
    with patch.object(lane, "_SMALL", 0):
        assert outcome(read, data) == outcome(read_carefully, data)


def test_methods_of_one_class_with_a_comment_behind_each() -> None:
    methods = "\n".join(f"{TESTNG_METHOD.format(f'test_{number}')} <!-- test_{number} -->" for number in range(500))
    classes = f'<class name="shop.Cart">{methods}</class>'
    data = f'<testng-results><suite name="s"><test name="t">{classes}</test></suite></testng-results>'.encode()
    assert started(data) < 50
    assert outcome(read, data) == outcome(read_carefully, data)


@pytest.mark.parametrize("name", XML)
def test_most_cases_do_without_the_parser(name: str) -> None:
    assert started(WRITERS[name]([Result(f"test_{number}", number % 50 == 7) for number in range(500)])) < 200


def started(data: bytes) -> int:
    """How many elements the parser started."""
    with patch.object(XmlFormat, "start", autospec=True, side_effect=XmlFormat.start) as start:
        assert len(read(data).keys) == 500
    return int(start.call_count)
