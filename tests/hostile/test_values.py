"""Values that attack what is made of a report: names, times and timestamps, and the same name many times over."""

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from ingest.junit.times import read_timestamp
from ingest.models import Report, Run, Test
from ingest.selectors import runs_of
from ingest.vectors import decode_durations
from ingest.verdict import Verdict
from tests.conftest import Send
from tests.hostile.measuring import read_in_child
from tests.ingest.junit.reading import case, read, upload


def escaped(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def document(*cases: str, suite: str = "s") -> bytes:
    return f'<testsuite name="{suite}">{"".join(cases)}</testsuite>'.encode()


# -- the same name again -----------------------------------------------------------------------------------------

PASSED = '<testcase classname="c" name="t" time="1"/>'
FAILED = '<testcase classname="c" name="t" time="1"><failure message="m"/></testcase>'


def test_half_a_million_of_one_name_are_one_test(tmp_path: Path) -> None:
    cases = [PASSED] * 500_000
    cases[250_000] = FAILED
    path = tmp_path / "hostile"
    path.write_bytes(document(*cases))
    measured = read_in_child(path, seconds=20)
    (file,) = measured.files
    assert (file["tests"], file["failed"]) == (1, 1)
    assert file["attempts"] <= 100
    assert measured.grown < 150


@pytest.mark.parametrize("failure_at", [0, 1, 98, 99, 100, 101, 500, 999])
@pytest.mark.parametrize("suite", ["s", "pytest"])
def test_a_failure_among_more_attempts_than_are_kept_is_not_hidden(suite: str, failure_at: int) -> None:
    cases = [PASSED] * 1_000
    cases[failure_at] = FAILED
    assert read(document(*cases, suite=suite)).verdicts[0] == Verdict.FAIL


@pytest.mark.parametrize("order", [(PASSED, FAILED), (FAILED, PASSED), (PASSED, PASSED, FAILED, PASSED)])
def test_of_one_name_whose_relation_is_unknown_the_worst_decides(order: tuple[str, ...]) -> None:
    assert read(document(*order)).verdicts[0] == Verdict.FAIL


@pytest.mark.parametrize("order", [(PASSED, FAILED), (FAILED, PASSED)])
def test_of_one_name_in_two_files_the_worst_decides(order: tuple[str, ...]) -> None:
    reading = upload(*(document(one, suite="pytest") for one in order))
    assert reading.report.verdicts[0] == Verdict.FAIL


@pytest.mark.parametrize("order", [(PASSED, FAILED), (FAILED, PASSED)])
def test_of_one_name_between_others_the_worst_decides(order: tuple[str, ...]) -> None:
    others = [f'<testcase classname="c" name="o{index}" time="1"/>' for index in range(3_000)]
    report = read(document(order[0], *others, order[1]))
    assert case(report, "t").verdict == Verdict.FAIL


def test_a_failure_among_names_that_normalise_to_one_is_not_hidden() -> None:
    cases = [
        '<testcase classname="c" name="at 0xdeadbeef"/>',
        '<testcase classname="c" name="at 0xcafebabe"><error/></testcase>',
    ]
    for order in (cases, cases[::-1]):
        assert read(document(*order)).counts()["errored"] == 1


# -- durations ---------------------------------------------------------------------------------------------------

TIMES = {
    "1e308": None,
    "1e999": None,
    "-1e999": None,
    "NaN": None,
    "nan": None,
    "inf": None,
    "Infinity": None,
    "-1": None,
    "-0.0": 0.0,
    "1_000": None,
    "١٢٣": None,
    "１２": None,
    "1,234.5": 1234.5,
    "1.234,5": None,
    "1E-07": 1e-7,
    "1e-400": 0.0,
    "0x10": None,
    "": None,
    " ": None,
    "1 2": None,
    "9" * 63: None,
    "9" * 5_000: None,
    "1:99:99": 3600 + 99 * 60 + 99,
    "0.5s": 0.5,
    "10000000": None,
    "9999999.9": 9999999.9,
}


@pytest.mark.parametrize("written", TIMES, ids=lambda written: repr(written[:20]))
def test_odd_times_are_read_or_absent(written: str) -> None:
    report = read(document(f'<testcase classname="c" name="a" time="{written}"/>', '<testcase name="b" time="2"/>'))
    assert case(report, "a").duration == (None if TIMES[written] is None else pytest.approx(TIMES[written]))
    assert case(report, "b").duration == 2
    assert ("bad_time" in report.warnings) == (TIMES[written] is None and bool(written.strip()))


def test_odd_times_among_plain_ones_leave_every_duration_finite() -> None:
    cases = [f'<testcase classname="c" name="{index}" time="1"/>' for index in range(1_000)]
    odd = [f'<testcase classname="d" name="{index}" time="{written}"/>' for index, written in enumerate(TIMES)]
    report = read(document(*cases, *odd, *(one.replace('"c"', '"e"') for one in cases)))
    known = [duration for duration in report.durations if duration == duration]
    assert len(known) == 2_000 + sum(value is not None for value in TIMES.values())
    assert math.isfinite(sum(known))
    assert min(known) >= 0


def test_odd_times_are_stored_finite(send: Send) -> None:
    cases = [f'<testcase classname="c" name="{index}" time="{written}"/>' for index, written in enumerate(TIMES)]
    upload = send(document(*cases))
    assert upload.state == "processed"
    durations = decode_durations(Report.objects.get(upload=upload).durations)
    assert sum(math.isfinite(duration) for duration in durations) == sum(value is not None for value in TIMES.values())


# -- timestamps --------------------------------------------------------------------------------------------------

TIMESTAMPS = {
    "2038-01-19T03:14:08Z": datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    "9999-12-31T23:59:59Z": None,
    "9999-12-31T23:59:59-23:59": None,
    "0001-01-01T00:00:00Z": None,
    "0001-01-01T00:00:00+23:59": None,
    "0000-00-00T00:00:00Z": None,
    "2024-02-30T12:00:00Z": None,
    "2023-02-29T12:00:00Z": None,
    "2024-02-29T12:00:00Z": datetime(2024, 2, 29, 12, tzinfo=UTC),
    "2024-01-01T24:00:00Z": None,
    "2024-01-01T23:59:60Z": None,
    "2024-01-01T00:00:00+99:99": None,
    "2024-01-01T00:00:00+24:00": None,
    "٢٠٢٤-01-01T00:00:00Z": None,
    "2024-01-01T00:00:00." + "9" * 40 + "Z": datetime(2024, 1, 1, tzinfo=UTC),
    "2024-01-01T00:00:00." + "9" * 5_000 + "Z": None,
    "1e999": None,
    "": None,
}


@pytest.mark.parametrize("written", TIMESTAMPS, ids=lambda written: repr(written[:30]))
def test_odd_timestamps_are_read_or_absent(written: str) -> None:
    assert read_timestamp(written) == TIMESTAMPS[written]
    report = read(f'<testsuite timestamp="{written}"><testcase name="a"/></testsuite>')
    assert report.started_at == TIMESTAMPS[written]


@pytest.mark.parametrize("written", TIMESTAMPS, ids=lambda written: repr(written[:30]))
def test_odd_timestamps_are_stored_and_place_nothing(written: str, send: Send) -> None:
    upload = send(f'<testsuite timestamp="{written}"><testcase name="a"/></testsuite>'.encode())
    assert upload.state == "processed"
    assert upload.run is not None
    assert upload.run.started_at == (TIMESTAMPS[written] or upload.received_at)
    assert upload.run.placed_at == upload.received_at


def test_a_run_that_says_it_is_from_the_future_is_not_the_newest_for_ever(send: Send) -> None:
    send(document(PASSED), build_id="1", started_at=datetime(9999, 12, 31, tzinfo=UTC))
    honest = send(document(FAILED), build_id="2", started_at=timezone.now() + timedelta(seconds=1))
    newest = runs_of(honest.project_id).first()
    assert isinstance(newest, Run)
    assert newest.build_id == "2"


# -- names -------------------------------------------------------------------------------------------------------

NAMES = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg/onload=alert(1)>",
    "${7*7} {{7*7}} {% debug %} #{7*7}",
    "javascript:alert(1)",
    "\u202egnp.exe\u2066\u200f",
    "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ﷽",
    "'; DROP TABLE ingest_test; --",
    "\\N \\. \\x00 \\t",
    "=cmd|' /C calc'!A0",
    "../../etc/passwd",
    "a" * 4_000,
    "%00%0a%s%n{}",
    "\u0085\u2028\u2029\ufeff\u00ad",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞",
    "\ue000\U0010fffd\U0001d173",
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:12]))
def test_odd_names_are_stored_as_they_are(name: str, send: Send) -> None:
    written = escaped(name)
    upload = send(
        document(
            f'<testcase classname="{written}" name="x" file="{written}"/>',
            f'<testcase classname="k" name="{written}"><failure type="{written}" message="{written}">{written}</failure>'
            f"<system-out>{written}</system-out></testcase>",
            suite=written,
        )
    )
    assert upload.state == "processed"
    assert Test.objects.filter(classname=name, suite="").exists() or Test.objects.filter(classname=name).exists()
    failure = Report.objects.get(upload=upload).failures.get()
    assert failure.type == name[:1_000]
    assert {failure.test.name, failure.message, failure.text, failure.system_out} == {name}


def test_osc_8_links_lose_their_escape_character() -> None:
    link = "\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\"
    report = read(document(f'<testcase name="{link}"/>'))
    assert "\x1b" not in report.keys[0][2]
    assert "repaired" in report.warnings


def test_names_longer_than_is_stored_are_told_apart(send: Send) -> None:
    cases = [f'<testcase classname="c" name="{"a" * 100_000}{index}"/>' for index in range(3)]
    upload = send(document(*cases), document(*cases))
    assert upload.state == "processed"
    assert [len(test.name) for test in Test.objects.all()] == [4_000] * 3
    assert send(document(*cases[:2]), build_id="2").files[0]["tests"] == 2
    assert Test.objects.count() == 3


def test_a_name_of_megabytes_is_stored_short(send: Send) -> None:
    upload = send(
        document(f'<testcase classname="{"c" * 3_000_000}" name="{"n" * 3_000_000}"/>', suite="s" * 3_000_000)
    )
    assert upload.state == "processed"
    assert len(Test.objects.get().name) == 4_000


def test_names_that_differ_by_case_or_form_are_different_tests(send: Send) -> None:
    names = ["Test", "test", "caf\u00e9", "cafe\u0301", "a", "a ", "a\u200b", "\u0430"]
    send(document(*(f'<testcase classname="c" name="{name}"/>' for name in names)))
    assert Test.objects.count() == len(names)


def test_names_without_a_separator_do_not_collide(send: Send) -> None:
    pairs = [("a", "b.c"), ("a.b", "c"), ("a::b", "c"), ("a", "b::c"), ("a/b", "c"), ("a", "b/c"), ("a\u001f", "b")]
    send(document(*(f'<testcase classname="{one}" name="{two}"/>' for one, two in pairs[:-1])))
    assert Test.objects.count() == len(pairs) - 1


@pytest.mark.parametrize("line", ["-1", "1e9", "99999999999999999999", "١", "\t7", "0"])
def test_odd_lines_are_read_or_absent(line: str, send: Send) -> None:
    assert send(document(f'<testcase name="a" file="f" line="{line}"/>')).state == "processed"
