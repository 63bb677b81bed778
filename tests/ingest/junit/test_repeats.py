"""A file that differs from an earlier one in times and properties alone is read without the parser, to the same report."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.junit import reading
from ingest.junit.limits import Limits
from ingest.junit.problems import Refused
from ingest.junit.reading import read_report
from ingest.junit.repeats import Memory, Skeleton
from ingest.junit.report import ParsedReport
from tests.conftest import DATA, needs_data

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
SUREFIRE = (
    HEAD
    + '<testsuite xsi:noNamespaceSchemaLocation="surefire.xsd" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' name="p.C" time="{suite}" tests="2" errors="0" skipped="0" failures="0" timestamp="{stamp}">\n'
    '  <properties>\n    <property name="java.version" value="{first}"/>\n    <property name="{name}" value="{second}"/>\n'
    '  </properties>\n  <testcase name="a" classname="p.C" time="{a}"/>\n'
    '  <testcase name="b[1]" classname="p.C" time="{b}"{attribute}>{inside}</testcase>\n</testsuite>\n'
)
USUAL = {
    "suite": "0.5",
    "stamp": "2026-01-02T03:04:05Z",
    "first": "21",
    "name": "user.dir",
    "second": "/w",
    "a": "0.1",
    "b": "0.2",
    "attribute": "",
    "inside": "",
}


def document(**values: str) -> bytes:
    return SUREFIRE.format(**USUAL | values).encode()


def outcome(data: bytes, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> str:
    """All that there is to a report, or to its refusal."""
    monkeypatch.setattr(reading, "MEMORY", memory)
    try:
        return repr(read_report(lambda: io.BytesIO(data)))
    except Refused as refusal:
        return repr(refusal)


def is_known(data: bytes, memory: Memory) -> bool:
    return isinstance(memory.read(Skeleton(data), Limits()), ParsedReport)


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory that knows the usual file."""
    memory = Memory()
    outcome(document(), memory, monkeypatch)
    return memory


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"suite": "7", "a": "1.25", "b": "0", "stamp": "2026-03-04T05:06:07+02:00"},
        {"suite": "0.1", "a": "9", "b": "9"},
        {"first": "17.0.2", "second": "C:\\tmp (x) 'y' > z"},
        {"stamp": "2026-03-04T05:06:07"},
        {"stamp": "no time"},
        {"suite": ""},
        {"suite": "soon"},
        {"second": "v" * 1_500},
    ],
)
def test_what_may_vary_is_read_as_the_parser_reads_it(
    warm: Memory, values: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = document(**values)
    assert is_known(data, warm)
    assert outcome(data, warm, monkeypatch) == outcome(data, Memory(), monkeypatch)


@pytest.mark.parametrize(
    "values",
    [
        {"inside": "<failure/>"},
        {"inside": "<skipped/>"},
        {"inside": "<system-out>time=&quot;1&quot;</system-out>"},
        {"inside": '<properties><property name="flakeboard_id" value="x"/></properties>'},
        {"attribute": ' status="failed"'},
        {"attribute": ' file="b.py" line="3"'},
        {"name": "status", "second": "failed"},
        {"name": "flakeboard.order", "second": "executed"},
        {"name": "user.home"},
        {"second": "a&amp;b"},
        {"second": "caf\u00e9"},
        {"a": "1_0"},
        {"a": "nan"},
        {"a": "-1"},
        {"a": "1,5"},
        {"a": ""},
        {"a": "1" * 60},
    ],
)
def test_everything_else_goes_to_the_parser(
    warm: Memory, values: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = document(**values)
    assert not is_known(data, warm)
    assert outcome(data, warm, monkeypatch) == outcome(data, Memory(), monkeypatch)


@pytest.mark.parametrize(
    "data",
    [
        document(inside="<failure/>"),
        document(inside='<system-out><![CDATA[ time="1"]]></system-out>'),
        document(name="flakeboard.order", second="executed"),
        document(name="status", second="failed"),
        document().replace(b'tests="2"', b'tests="3"'),
        document().replace(b"<testcase", b"<!-- x --><testcase", 1),
        document().replace(b' time="0.1"', b""),
        document().replace(b"</testsuite>", b""),
        b'<testsuites time="1"><testsuite name="s"><testcase classname="c" name="n" time="1"/></testsuite></testsuites>',
        b'<testsuites><testsuite name="s"/><testsuite name="t"><testcase name="n" time="1"/></testsuite></testsuites>',
        b'<testsuite name="s"><testcase classname="c" name="n" time="1"/><testcase classname="c" name="n" time="2"/></testsuite>',
        b'<testsuite name="s" time="0"></testsuite>',
    ],
)
def test_a_file_with_anything_to_remark_is_not_remembered(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    first = outcome(data, memory, monkeypatch)
    assert not is_known(data, memory)
    assert outcome(data, memory, monkeypatch) == first


GRADLE = (
    HEAD + '<testsuite name="p.C" tests="1" skipped="0" failures="0" errors="0" timestamp="{stamp}" hostname="h"'
    ' time="{a}">\n  <properties/>\n  <testcase name="a" classname="p.C" time="{a}"/>\n'
    "  <system-out><![CDATA[{inside}]]></system-out>\n  <system-err><![CDATA[]]></system-err>\n</testsuite>\n"
)
PYTEST = (
    '<testsuites><testsuite name="pytest" time="{suite}"><testcase classname="t" name="a" time="{a}"/>'
    '<testcase classname="t" name="b" time="{b}"/></testsuite></testsuites>'
)


@pytest.mark.parametrize(
    ("pattern", "base", "values", "known"),
    [
        (GRADLE, {}, {"a": "3", "stamp": "2026-05-06T07:08:09"}, True),
        (GRADLE, {}, {"inside": "printed"}, False),
        (PYTEST, {}, {"suite": "9"}, True),
        (PYTEST, {}, {"suite": "0.1"}, True),
        (SUREFIRE, {"name": "status", "second": "passed"}, {"name": "status", "second": "ok"}, True),
        (SUREFIRE, {"name": "status", "second": "passed"}, {"name": "status", "second": "Failed"}, False),
    ],
)
def test_other_producers_and_words_as_well(
    pattern: str, base: dict[str, str], values: dict[str, str], known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory()
    outcome(pattern.format(**USUAL | base).encode(), memory, monkeypatch)
    data = pattern.format(**USUAL | values).encode()
    assert is_known(data, memory) == known
    assert outcome(data, memory, monkeypatch) == outcome(data, Memory(), monkeypatch)


def test_what_is_done_with_a_report_does_not_reach_the_memory(warm: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MEMORY", warm)
    once = read_report(lambda: io.BytesIO(document()))
    before = repr(once)
    once.keys.clear(), once.properties.clear(), once.files.clear(), once.former.clear(), once.suites.clear()
    once.verdicts[:] = b"\1"
    once.warnings.add("x", "y")
    assert repr(read_report(lambda: io.BytesIO(document()))) == before


_ODD = st.text(alphabet="0123456789.:TZ+-e_ n&<>\"'\u00e9\t", max_size=8)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(values=st.fixed_dictionaries(dict.fromkeys(("suite", "stamp", "first", "second", "a", "b"), _ODD)))
def test_no_value_is_read_otherwise_than_by_the_parser(values: dict[str, str]) -> None:
    memory = Memory()
    with pytest.MonkeyPatch.context() as patch:
        outcome(document(), memory, patch)
        data = document(**values)
        assert outcome(data, memory, patch) == outcome(data, Memory(), patch)


@needs_data
def test_real_reports_are_the_same_when_they_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, remembered = Memory(), 0
    for path in sorted(Path(DATA, "junit").rglob("*.xml"))[:400]:
        data = path.read_bytes()
        first = outcome(data, memory, monkeypatch)
        remembered += is_known(data, memory)
        assert outcome(data, memory, monkeypatch) == first, path
    assert remembered > 10
