"""Documents in other formats that attack their readers: refused or read, in bounded time and memory."""

import json
from pathlib import Path

import pytest

from ingest.junit.limits import Limits
from tests.hostile.measuring import read_in_child, written
from tests.ingest.formats.documents import JSON, SINGLE, WRITTEN, XML
from tests.ingest.junit.reading import read, refusal, upload

TRX_ROOT = "TestRun xmlns='http://microsoft.com/schemas/VisualStudio/TeamTest/2010'"
ROOTS = {"trx": TRX_ROOT, "nunit": "test-run", "xunit": "assemblies", "testng": "testng-results", "robot": "robot"}
PLACES = {
    "trx": ("<Results>", "<UnitTestResult testId='1' testName='t{}' outcome='Passed'/>", "</Results></TestRun>"),
    "nunit": ("<test-suite result='Passed'>", "<test-case name='t{}' result='Passed'/>", "</test-suite></test-run>"),
    "xunit": ("<assembly><collection>", "<test name='t{}' result='Pass'/>", "</collection></assembly></assemblies>"),
    "testng": (
        "<suite><test><class name='c'>",
        "<test-method name='t{}' status='PASS'/>",
        "</class></test></suite></testng-results>",
    ),
    "robot": ("<suite>", "<test name='t{}'><status status='PASS'/></test>", "</suite></robot>"),
}


def xml(name: str, inside: str) -> str:
    start, _, end = PLACES[name]
    return f"<{ROOTS[name]}>{start}{inside}{end}"


def cases(name: str, count: int) -> str:
    return "".join(PLACES[name][1].format(number) for number in range(count))


# -- XML -----------------------------------------------------------------------------------------------------------

ENTITY = "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"
LAUGHS = "".join(f"<!ENTITY l{level} '{f'&l{level - 1};' * 10}'>" for level in range(1, 12))


@pytest.mark.parametrize("name", XML)
@pytest.mark.parametrize("doctype", ["<!DOCTYPE robot>", ENTITY, f"<!DOCTYPE x [<!ENTITY l0 'ha'>{LAUGHS}]>"])
def test_every_doctype_is_refused(name: str, doctype: str) -> None:
    assert refusal(doctype + xml(name, cases(name, 1))).code == "doctype"


@pytest.mark.parametrize("name", XML)
def test_nesting_is_bounded(name: str) -> None:
    root = ROOTS[name].partition(" ")[0]
    for depth in (100, 100_000):
        assert refusal(f"<{ROOTS[name]}>" + "<properties>" * depth + f"</{root}>").code == "too_deep"


@pytest.mark.parametrize(("name", "suite"), [("nunit", "<test-suite>"), ("robot", "<suite>"), ("testng", "<suite>")])
def test_nesting_of_suites_is_bounded(name: str, suite: str) -> None:
    assert refusal(f"<{ROOTS[name]}>" + suite * 1_000).code == "too_deep"


@pytest.mark.parametrize("name", XML)
def test_attributes_are_bounded(name: str) -> None:
    many = " ".join(f"a{number}='b'" for number in range(100_000))
    assert refusal(xml(name, f"<odd {many}/>")).code == "limit_attributes"


@pytest.mark.parametrize("name", XML)
def test_cases_are_bounded(name: str) -> None:
    limits = Limits(cases=100)
    assert refusal(xml(name, cases(name, 101)), limits).code == "limit_cases"
    assert read(xml(name, cases(name, 100)), limits).counts()["tests"] == 100


@pytest.mark.parametrize("name", XML)
def test_a_tag_that_does_not_end_is_refused(name: str) -> None:
    document = f"<{ROOTS[name]}>" + "<odd a='" + "x" * 3_000_000
    assert refusal(document, Limits(markup=1_000_000)).code == "limit_markup"


@pytest.mark.parametrize("name", XML)
def test_characters_that_xml_forbids_are_repaired(name: str) -> None:
    report = read(xml(name, cases(name, 2)).replace("t1", "t\x001\x08").encode())
    assert [key[2] for key in report.keys] == ["t0", "t1"]
    assert "repaired" in report.warnings


@pytest.mark.parametrize("name", XML)
def test_other_encodings_are_read(name: str) -> None:
    document = xml(name, cases(name, 2))
    assert read(b"\xff\xfe" + document.encode("utf-16-le")).keys == read(document).keys
    assert read(b"\xef\xbb\xbf\n" + document.encode()).keys == read(document).keys


# -- JSON and lines ------------------------------------------------------------------------------------------------

HEADS = {"ctrf": '{"results": {"tests": ', "playwright": '{"config": ', "go": '{"Action": "output", "Package": '}


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_values_nested_deep_are_refused(name: str, opening: str, tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, (HEADS[name] + opening * 2_000_000).encode()), seconds=2)
    assert measured.code == "too_deep"
    assert measured.grown < 50


def test_an_event_nested_deep_is_told() -> None:
    report = read(
        '{"Action":"pass","Package":"p","Test":"t"}\n{"Action":"pass","Package":"p"}\n{"Action":' + "[" * 100_000
    )
    assert [one.code for one in report.not_understood] == ["damaged_line"]


@pytest.mark.parametrize("name", HEADS)
def test_a_string_without_an_end_is_refused(name: str, tmp_path: Path) -> None:
    measured = read_in_child(written(tmp_path, (HEADS[name] + '"' + "x" * 100_000_000).encode()), seconds=3)
    assert measured.code == "limit_markup"
    assert measured.grown < 250


def test_a_string_of_escapes_ends_in_time(tmp_path: Path) -> None:
    document = (HEADS["ctrf"] + '"' + "\\u0041" * 5_000_000 + '"}}').encode()
    assert read_in_child(written(tmp_path, document), seconds=4).code in (None, "limit_markup")


def test_one_test_has_only_so_much_to_tell(tmp_path: Path) -> None:
    many = '{"results": {"tests": [{"name": "a", "status": "failed", "steps": [' + "1," * 20_000_000 + "1]}]}}"
    measured = read_in_child(written(tmp_path, many.encode()), seconds=20)
    assert measured.code == "limit_markup"
    assert measured.grown < 600


def test_memory_does_not_grow_with_what_is_passed_over(tmp_path: Path) -> None:
    many = '{"config": [' + '{"a": "b"},' * 300_000 + '1], "suites": [], "errors": [], "stats": {}}'
    measured = read_in_child(written(tmp_path, many.encode()), seconds=60)
    assert measured.code is None
    assert measured.grown < 40


@pytest.mark.parametrize("name", ["tap", "go", "ctrf", "playwright"])
def test_tests_of_text_formats_are_bounded(name: str) -> None:
    from tests.redteam.writers import WRITERS, Result

    limits = Limits(cases=100)
    document = WRITERS[name]([Result(f"t{number}") for number in range(101)])
    assert refusal(document, limits).code == "limit_cases"


def test_subtests_nested_deep_are_refused() -> None:
    lines = [" " * (4 * depth) + "ok 1 - a\n" for depth in range(100)]
    assert refusal("TAP version 14\n" + "".join(lines)).code == "too_deep"


@pytest.mark.parametrize("name", ["tap", "go"])
def test_a_line_without_an_end_is_refused(name: str, tmp_path: Path) -> None:
    head = {"tap": "TAP version 13\nok 1 - ", "go": '{"Action":"'}[name]
    measured = read_in_child(written(tmp_path, (head + "x" * 100_000_000).encode()), seconds=2)
    assert measured.code == "limit_markup"
    assert measured.grown < 100


def test_a_million_lines_of_yaml_keep_their_head_and_tail(tmp_path: Path) -> None:
    block = "TAP version 13\nnot ok 1 - a\n  ---\n" + "  x: y\n" * 2_000_000 + "  ...\n1..1\n"
    measured = read_in_child(written(tmp_path, block.encode()), seconds=20)
    assert (measured.code, measured.tests) == (None, 1)
    assert measured.grown < 60


ODD = ["\x00", "\ud800", "\x08", "￾"]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", JSON)
def test_escapes_that_cannot_be_stored_are_removed(name: str, odd: str) -> None:
    document = WRITTEN[name].replace(b"test_b", json.dumps(f"te{odd}st_b")[1:-1].encode())
    names = [key[2] for key in read(document).keys]
    assert names == ["test_a", "test_b", "test_c"]
    assert not any(character in "".join(names) for character in ODD)


@pytest.mark.parametrize("name", ["tap", "go", "ctrf", "playwright"])
def test_bytes_that_are_no_text_are_replaced(name: str) -> None:
    report = read(WRITTEN[name].replace(b"test_b", b"test_\xff"))
    assert "test_\ufffd" in {key[2] for key in report.keys}
    assert "repaired" in report.warnings


@pytest.mark.parametrize("name", ["tap", "go", "ctrf", "playwright"])
def test_text_in_utf_16_is_read(name: str) -> None:
    document = WRITTEN[name]
    assert read(b"\xff\xfe" + document.decode().encode("utf-16-le")).keys == read(document).keys


# -- odd values ----------------------------------------------------------------------------------------------------

TIMES = ["1e308", "1e999", "-1", "NaN", "1_000", "x", "99999999999999999999", "٣"]


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("trx", "00:00:00.1"),
        ("nunit", "duration='0.1'"),
        ("xunit", "0.1"),
        ("testng", "'5'"),
        ("robot", "elapsed='0.1'"),
    ],
)
def test_odd_times_in_xml_are_set_aside(name: str, old: str, time: str) -> None:
    new = f"'{time}'" if old.startswith("'") else f"{old.split('=')[0]}='{time}'" if "=" in old else time
    changed = WRITTEN[name].replace(old.encode(), new.encode())
    assert changed != WRITTEN[name]
    report = read(changed)
    assert len(report.keys) == 3
    assert all(duration != duration or 0 <= duration < 1e7 for duration in report.durations)


@pytest.mark.parametrize("time", ["1e308", "1e999", "-1", "NaN", '"x"', "[]", "{}", "true", "null"])
@pytest.mark.parametrize(
    ("name", "old"), [("go", '"Elapsed": 0.1'), ("ctrf", '"duration": 5'), ("playwright", '"duration": 5')]
)
def test_odd_times_in_json_are_set_aside(name: str, old: str, time: str) -> None:
    changed = WRITTEN[name].replace(old.encode(), f"{old.split(':')[0]}: {time}".encode())
    assert changed != WRITTEN[name]
    report = read(changed)
    assert len(report.keys) == 3
    assert all(duration != duration or 0 <= duration < 1e7 for duration in report.durations)


def test_texts_of_one_upload_are_bounded_together() -> None:
    limits = Limits(text_total=1_000, text_kept=600)
    for name in SINGLE:
        if name in ("tap", "tap14", "go"):
            continue
        long = SINGLE[name].replace(b"no", b"n" * 5_000)
        report = read(long, limits)
        kept = sum(
            len(failure.text) for row in report.attempts.values() for attempt in row for failure in attempt.failures
        )
        assert kept <= 1_300, name


def test_a_damaged_gzip_keeps_what_came_out() -> None:
    import gzip

    from tests.redteam.writers import Result, go

    packed = gzip.compress(go([Result(f"t{number}") for number in range(5_000)]), compresslevel=0, mtime=0)
    (file,) = upload(("a.gz", packed[: len(packed) // 2])).files
    assert file["partial"] and file["tests"] > 100
