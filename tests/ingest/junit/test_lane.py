"""The fast lane says exactly what the parser says, of any text that hypothesis can think of."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.junit.problems import Refused
from ingest.junit.report import ParsedReport
from ingest.junit.target import Target
from tests.extent import repeats
from tests.ingest.junit.reading import read, read_carefully

values = st.one_of(
    st.sampled_from(
        [
            "a",
            "b",
            "a b",
            "t[2024-01-01T00:00:00Z]",
            "t[2024-06-01T00:00:00Z]",
            "test_x[1]",
            "café",
            "0.5",
            "1,234.5",
            "nan",
            "",
            "x y",
            "/>",
            "a>b",
            "'",
            "1_000",
        ]
    ),
    st.sampled_from(["&amp;", "&lt;x&gt;", "&quot;", "&#10;", "&#x41;", "&bad;", "&", "\t", "\n", "\x01", "<", "￿"]),
    st.text(alphabet="ab&<>\"'/ \n=", max_size=6),
)


@st.composite
def cases(draw: st.DrawFn) -> str:
    names = draw(st.sampled_from([("classname", "name", "time"), ("name", "classname", "time"), ("classname", "name")]))
    quote = draw(st.sampled_from(['"', '"', '"', "'"]))
    attributes = "".join(f" {name}={quote}{draw(values)}{quote}" for name in names)
    extra = draw(st.sampled_from(["", "", "", ' file="f.py"', ' file="g.py"', ' status="failed"']))
    body = draw(
        st.sampled_from(
            [
                "/>",
                " />",
                "/>",
                "/>\n  ",
                "></testcase>",
                "></testcase>\n",
                ">\r\n  </testcase>",
                " >\t</testcase >",
                "> x </testcase>",
                "></TestCase>",
                "><failure message='m'>t</failure></testcase>",
                "><skipped/></testcase>",
                '><system-out><![CDATA[<testcase classname="x" name="y" time="1"/>]]></system-out></testcase>',
                '/><!-- <testcase classname="x" name="y" time="1"/> -->',
                '/><![CDATA[<testcase classname="x" name="y" time="1"/>]]>',
                "<testcase ",
                ">",
            ]
        )
    )
    return f"<testcase{attributes}{extra}{body}"


roots = st.sampled_from(
    [
        ("<testsuite name='s'>", "</testsuite>"),
        ("<testsuite>", "</testsuite>"),
        ("<testsuite name='s'>", ""),
        ("<testsuite name='s'>", "<testsuite name='t'/></testsuite>"),
        ("<testsuite name='s'>", "<properties><property name='go.version' value='1'/></properties></testsuite>"),
        ("<testsuite name='s'>", "</testsuite><x/>"),
        ("<testsuites name='Mocha Tests'><testsuite name='s'>", "</testsuite></testsuites>"),
        ("<testsuites name='pytest tests'><testsuite name='pytest'>", "</testsuite></testsuites>"),
        ("<n:testsuite xmlns:n='u'>", "</n:testsuite>"),
    ]
)
documents = st.builds(
    lambda parts, root: f"{root[0]}{''.join(parts)}{root[1]}".encode("utf-8", "replace"),
    st.lists(cases(), max_size=12),
    roots,
)


def outcome(reader, document: bytes):
    try:
        report: ParsedReport = reader(document)
    except Refused as refused:
        return refused.code, refused.line, refused.column
    durations = [None if duration != duration else duration for duration in report.durations]
    warnings = sorted((warning.code, warning.count, warning.line, warning.column) for warning in report.warnings)
    rest = (report.suites, report.partial, report.order_reliable, report.producer, warnings)
    return report.keys, bytes(report.verdicts), durations, report.attempts, report.files, rest


@settings(max_examples=repeats(150, 400))
@given(st.lists(documents, min_size=1, max_size=3))
@example(
    [
        b'<testsuite name=\'s\'><testcase classname="a" name="b" time="1"/><testcase classname="a" name="b"<testcase classname="a" name="c" time="1"/></testsuite>'
    ]
)
def test_lane_and_parser_agree_on_every_document(parts: list[bytes]) -> None:
    for document in parts:  # the second and third are read with what is remembered of the first
        assert outcome(read, document) == outcome(read_carefully, document)


def plain(count: int, extra: dict[int, str] | None = None) -> bytes:
    one = '<testcase classname="tests.a{c}" name="test_{i}" time="0.{i}"/>'
    parts = [(extra or {}).get(i, one.format(c=i // 50, i=i)) for i in range(count)]
    return ("<testsuite name='pytest'>" + "".join(parts) + "</testsuite>").encode()


def test_long_runs_with_odd_ones_between_agree() -> None:
    odd = {
        300: '<testcase classname="tests.a6" name="test_&#10;" time="1"/>',
        301: "<testcase classname='q' name='q2' time='1'/>",
        900: '<testcase classname="tests.a18" name="test_5" time="9"><failure message="x"/></testcase>',
        4_000: '<testcase classname="ü" name="größe" time="1"/>',
        4_500: '<testcase classname="tests.a0" name="test_5" time="2"/>',
    }
    for document in (plain(5_000), plain(5_000, odd), plain(5_000), plain(4_000, odd)):
        assert outcome(read, document) == outcome(read_carefully, document)


@pytest.mark.parametrize("end", ["/>", " />\n", "></testcase>", ">\n    </testcase>\n"])
def test_plain_cases_of_every_runner_take_the_lane(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    add_plain = Target.add_plain

    def counted(target: Target, classes: list[str], names: list[str], times: list[str]) -> None:
        taken.append(len(names))
        add_plain(target, classes, names, times)

    monkeypatch.setattr(Target, "add_plain", counted)
    odd = '<testcase classname="a" name="b" time="1"><failure message="x">/></failure></testcase>'
    document = plain(5_000, {2_000: odd}).replace(b"/><testcase", f"{end}<testcase".encode())
    assert outcome(read, document) == outcome(read_carefully, document)
    assert sum(taken) > 4_900


def test_a_test_named_twice_across_runs_is_found() -> None:
    document = plain(2_000, {1_999: '<testcase classname="tests.a0" name="test_3" time="7"/>'})
    report = read(document)
    assert report.counts()["tests"] == 1_999
    assert len(report.case(3).attempts) == 2


def test_text_full_of_ends_is_read_in_linear_time() -> None:
    text = "/>testcase>" * 400_000
    report = read(
        f'<testsuite><testcase name="a" classname="b"><failure><![CDATA[{text}]]></failure></testcase></testsuite>'
    )
    assert report.counts()["failed"] == 1
