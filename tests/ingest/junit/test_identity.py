"""Which names and properties make a test the same test, and by what it was known before."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.identity import digest_of, test_digest
from ingest.junit.dialects import UNKNOWN, Dialect
from ingest.junit.keys import Place, key_of, keys_at_once
from ingest.junit.report import TestKey
from tests.extent import repeats
from tests.ingest.junit.reading import upload

test_digest.__test__ = False


def case(name: str, inside: str = "", classname: str = "c", **properties: str) -> str:
    told = "".join(f'<property name="{key}" value="{value}"/>' for key, value in properties.items())
    return f'<testcase classname="{classname}" name="{name}"><properties>{told}</properties>{inside}</testcase>'


def suite(*cases: str, name: str = "s", head: str = "") -> bytes:
    return f'<testsuite name="{name}">{head}{"".join(cases)}</testsuite>'.encode()


def told(*files: bytes) -> list[tuple[str, str]]:
    """Name and verdict of each test."""
    return [(case.key[2], case.verdict.name) for case in upload(*files).report.cases()]


def test_a_test_id_is_no_identity() -> None:
    shared = suite(case("t[1]", test_id="T-1"), case("t[2]", "<failure/>", test_id="T-1"))
    assert told(shared) == [("t[1]", "PASS"), ("t[2]", "FAIL")]
    assert [key[4] for key in upload(shared).report.keys] == ["", ""]


def test_a_flakeboard_id_is_the_identity_whatever_the_name() -> None:
    one, other = (upload(suite(case(name, flakeboard_id="F-1"))).report.keys[0] for name in ("before", "after"))
    assert test_digest(one) == test_digest(other) == digest_of("id", "F-1")


def test_two_names_of_one_flakeboard_id_are_two_tests_with_a_warning() -> None:
    cases = case("t[1]", flakeboard_id="F"), case("t[2]", "<failure/>", flakeboard_id="F"), case("u", flakeboard_id="G")
    for files in ([suite(*cases)], [suite(cases[0]), suite(cases[1], cases[2])]):
        reading = upload(*files)
        assert [(one.key[2], one.key[4], one.verdict.name) for one in reading.report.cases()] == [
            ("t[1]", "", "PASS"),
            ("t[2]", "", "FAIL"),
            ("u", "G", "PASS"),
        ]
        (warning,) = (one for one in reading.files[0]["warnings"] if one["code"] == "shared_id")
        assert "'F'" in warning["sentence"]


def test_a_shared_id_hides_no_failure_of_a_name_that_is_there_without_it() -> None:
    cases = (
        case("t", "<failure/>", flakeboard_id="F"),
        case("u", flakeboard_id="F"),
        case("t"),
    )
    assert told(suite(*cases)) == [("t", "FAIL"), ("u", "PASS")]


def test_one_name_with_two_ids_is_two_tests() -> None:
    assert told(suite(case("t", flakeboard_id="1"), case("t", "<failure/>", flakeboard_id="2"))) == [
        ("t", "PASS"),
        ("t", "FAIL"),
    ]


def test_a_test_id_tells_by_what_a_test_was_known_where_one_name_carries_it() -> None:
    reading = upload(suite(case("t", test_id="T-1"), case("u[1]", test_id="T-2"), case("u[2]", test_id="T-2")))
    former = reading.report.former
    assert [test_digest(one) for one in former[_key(reading.report.keys, "t")]] == [digest_of("id", "T-1")]
    assert not former.get(_key(reading.report.keys, "u[1]"))
    assert not former.get(_key(reading.report.keys, "u[2]"))


def _key(keys: list[TestKey], name: str) -> TestKey:
    return next(key for key in keys if key[2] == name)


SUREFIRE = '<properties><property name="surefire.version" value="3"/></properties>'


@pytest.mark.parametrize("times", [1, 2], ids=["never seen", "seen before"])
def test_the_suite_of_a_nested_class_is_no_part_of_the_identity(times: int) -> None:
    cases = '<testcase classname="a.X" name="t" time="0"/><testcase classname="a.X" name="u" time="0"/>'
    full = suite(cases, name="a.X$Inner", head=SUREFIRE)
    rerun = suite(cases, name="a.X", head=SUREFIRE)
    for _ in range(times):
        reading = upload(full)
        assert reading.report.keys == upload(rerun).report.keys == [("", "a.X", "t", "", ""), ("", "a.X", "u", "", "")]
        assert reading.report.former == {
            ("", "a.X", name, "", ""): (("a.X$Inner", "a.X", name, "", ""),) for name in ("t", "u")
        }


def test_a_suite_that_is_no_class_stays_part_of_the_identity() -> None:
    reading = upload(suite('<testcase classname="a.X" name="t"/>', name="smoke", head=SUREFIRE))
    assert reading.report.keys == [("smoke", "a.X", "t", "", "")]


def test_cases_of_one_name_that_became_one_test_are_told_with_their_number() -> None:
    cases = '<testcase classname="c" name="t"/>' * 3 + '<testcase classname="c" name="u"/>' * 2
    jest = f'<testsuites name="jest tests"><testsuite name="s">{cases}</testsuite></testsuites>'.encode()
    (warning,) = (one for one in upload(jest).files[0]["warnings"] if one["code"] == "merged_names")
    assert warning["count"] == 3
    assert "c: t" in warning["sentence"]
    assert upload(suite('<testcase classname="c" name="t"/>')).files[0]["warnings"] == []


def test_a_test_that_two_files_name_is_told() -> None:
    reading = upload(suite(case("t")), suite(case("t", "<failure/>")))
    (warning,) = (one for one in reading.files[0]["warnings"] if one["code"] == "merged_names")
    assert "c t" in warning["sentence"]


BROWSERS = {
    "Karma": ("Chrome 41.0.2272 (Mac OS X 10.8.5)", "Chrome_41_0_2272_(Mac_OS_X_10_8_5).cart adds", ("", "cart adds")),
    "Karma's headless one": (
        "Chrome Headless 90.0.4430.93 (Linux x86_64)",
        "Chrome_Headless_90_0_4430_93_(Linux_x86_64).cart",
        ("", "cart"),
    ),
    "Firefox": ("Firefox 102.0 (Ubuntu 0.0.0)", "Firefox_102_0_(Ubuntu_0_0_0)..cart", ("", "cart")),
    "Testem": ("Testem Tests", "Chrome 54.0", ("Testem Tests", "")),
    "WebdriverIO": ("cart", "chrome.97_0_4692_71.macosx.cart", ("", "cart")),
    "WebdriverIO, with a package": ("cart", "Cucumber-chrome.123_0_6312_59.windows.cart", ("cart", "Cucumber-cart")),
}


@pytest.mark.parametrize(("name", "classname", "expected"), BROWSERS.values(), ids=BROWSERS)
def test_browser_and_version_are_no_identity(name: str, classname: str, expected: tuple[str, str]) -> None:
    report = upload(suite(case("t", classname=classname), name=name)).report
    assert [key[:2] for key in report.keys] == [expected]
    assert report.former == {(*expected, "t", "", ""): ((name, classname, "t", "", ""),)}


@pytest.mark.parametrize(
    ("kind", "browser"),
    {
        "Karma": "Chrome 41",
        "Karma's headless one": "Chrome 90",
        "Firefox": "Firefox 102",
        "Testem": "Chrome 54",
        "WebdriverIO": "Chrome 97",
        "WebdriverIO, with a package": "Chrome 123",
    }.items(),
)
def test_the_browser_that_a_suite_or_class_names_is_read_with_its_major_version(kind: str, browser: str) -> None:
    name, classname, _ = BROWSERS[kind]
    assert upload(suite(case("t", classname=classname), name=name)).browsers == {browser}


def test_a_test_in_two_browsers_is_one_test_and_the_worst_counts() -> None:
    def karma(browser: str, inside: str = "") -> bytes:
        return suite(case("t", inside, browser.replace(" ", "_").replace(".", "_") + ".cart"), name=browser)

    chrome, firefox = karma("Chrome 41.0.2272 (Linux 0.0.0)"), karma("Firefox 99.0 (Linux 0.0.0)", "<failure/>")
    assert told(chrome, firefox) == [("t", "FAIL")]
    assert told(b"<testsuites>" + firefox + chrome + b"</testsuites>") == [("t", "FAIL")]
    (report,) = upload(chrome, firefox).reports
    assert "merged_names" in report.warnings
    assert len(report.former[("", "cart", "t", "", "")]) == 2
    assert upload(chrome, firefox).browsers == {"Chrome 41", "Firefox 99"}


@pytest.mark.parametrize(
    "classname", ["Chrome", "tests.Chrome 41 support", "shop.firefox.Cart", "edge.Cases", "safari.1"]
)
def test_a_class_that_speaks_of_a_browser_keeps_its_name(classname: str) -> None:
    reading = upload(suite(case("t", classname=classname)))
    assert [key[1] for key in reading.report.keys] == [classname]
    assert reading.browsers == set()


_PARTS = st.sampled_from(
    [
        "a",
        "b.C",
        "C",
        "C$In",
        "0x7f3a2b1c",
        "-",
        "2026-01-02T03:04",
        "2026-1",
        "/tmp/x",
        "/tmp",
        "@",
        "@1a2b3c4d",
        "@abc",
    ]
    + ["_shard_1/2", "_shard", "12345678-1234-1234-1234-123456789abc", "1234567-", "\\Temp\\", "[x-1]", " ", "\n", ""]
)
_NAMES = st.lists(_PARTS, max_size=4).map("".join)


@settings(max_examples=repeats(150, 500), deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(_NAMES, _NAMES), min_size=1, max_size=6),
    _NAMES,
    st.sampled_from([UNKNOWN, replace(UNKNOWN, class_is_place=True)]),
)
def test_many_keys_at_once_are_those_that_each_case_gets(
    cases: list[tuple[str, str]], suite: str, dialect: Dialect
) -> None:
    place = Place(dialect, suite, suite)
    keys = keys_at_once(place, [classname for classname, _ in cases], [name for _, name in cases])
    assert keys in (None, [key_of(place, classname, name) for classname, name in cases])


def test_plain_names_get_their_keys_at_once() -> None:
    place = Place(UNKNOWN, "s", "s")
    assert keys_at_once(place, ["p.C", "s"], ["t[a-b]", "u"]) == [
        ("s", "p.C", "t[a-b]", "", ""),
        ("", "s", "u", "", ""),
    ]
