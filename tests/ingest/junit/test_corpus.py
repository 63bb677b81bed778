"""790 real report files of 19 sources: every one is processed, stored or refused for a true reason."""

import csv
import json
from functools import cache

import pytest

from tests.conftest import DATA, PRODUCERS, needs_data
from tests.ingest.junit.reading import upload

pytestmark = needs_data

COUNTS = ("suites", "tests", "passed", "failed", "errored", "skipped")
DIFFERENCES = json.loads((PRODUCERS.parent / "differences.json").read_text())["corpus"]


@cache
def catalogue() -> list[dict[str, str]]:
    with (DATA / "junit-catalogue.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def expected() -> list[dict[str, str]]:
    path = DATA / "junit-expected.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@cache
def outcome(path: str) -> dict[str, object]:
    return upload((path, (DATA / "junit" / path).read_bytes())).files[0]


def of_kind(kind: str) -> list[tuple[dict[str, str], dict[str, object]]]:
    return [(row, outcome(row["path"])) for row in catalogue() if row["kind"].startswith(kind)]


def test_every_junit_file_is_read_with_all_its_cases() -> None:
    wrong = []
    for row, file in of_kind("junit"):
        cases = int(row["testcase_elements"])
        retried = "rerun" in row["flags"] or "flaky" in row["flags"]
        found = int(file["attempts"]) + int(file["run_errors"])
        if file["error"] or (found < cases if retried else found != cases):
            wrong.append((row["path"], cases, found, file["error"]))
    assert wrong == []


def test_damaged_files_are_salvaged_or_refused_with_line_and_column() -> None:
    for row, file in of_kind("malformed"):
        error, warnings = file["error"], file["warnings"]
        place = error or next(one for one in warnings if one["code"] == "partial")
        assert place["line"] >= 1 and place["column"] >= 1, row["path"]
        assert error or file["partial"]


def test_other_formats_are_refused_by_name() -> None:
    for row, file in of_kind("other-format"):
        assert file["error"]["code"] == "other_format", row["path"]
        assert file["tests"] == 0
    sentences = {file["error"]["sentence"].split(",")[0] for _, file in of_kind("other-format")}
    named = " ".join(sentences)
    assert all(name in named for name in ("TRX", "NUnit", "xUnit.net", "TestNG", "Robot", "CTest", "Boost.Test"))


def test_other_xml_is_refused() -> None:
    assert {file["error"]["code"] for _, file in of_kind("other-xml")} <= {"other_format", "other_xml"}


@pytest.mark.parametrize("row", expected(), ids=lambda row: row["path"][-60:])
def test_counts_agree_with_the_peer_or_the_difference_is_explained(row: dict[str, str]) -> None:
    file, known = outcome(row["path"]), DIFFERENCES.get(row["path"])
    code = file["error"]["code"] if file["error"] else "partial" if file["partial"] else ""
    if known:
        assert known["reason"]
        assert code == known["code"]
        assert "counts" not in known or [file[column] for column in COUNTS] == known["counts"]
    elif row["tests"]:
        assert [file[column] for column in COUNTS] == [int(row[column]) for column in COUNTS]
    else:
        assert file["error"]
