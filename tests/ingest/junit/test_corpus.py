"""790 real report files of 19 sources: every one is processed, stored or refused for a true reason."""

import csv
import json
from collections import Counter
from functools import cache

import pytest
from lxml import etree

from tests.conftest import DATA, PRODUCERS, needs_data
from tests.ingest.junit.reading import upload

pytestmark = needs_data

COUNTS = ("suites", "tests", "passed", "failed", "errored", "skipped")
_LISTS = json.loads((PRODUCERS.parent / "differences.json").read_text())
DIFFERENCES, NOT_UNDERSTOOD = _LISTS["corpus"], _LISTS["not_understood"]


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


def suite_errors(path: str) -> int:
    """Errors that stand directly in a suite, in no case."""
    tree = etree.fromstring((DATA / "junit" / path).read_bytes(), etree.XMLParser(recover=True, huge_tree=True))
    return len(tree.xpath("//*[local-name()='testsuite']/*[local-name()='error' or local-name()='failure']"))


def test_what_is_not_understood_is_listed_with_a_reason_and_little() -> None:
    """Honest producers count what they write: of files that no person cut, gotestsum's build error alone is held."""
    found = {row["path"]: file for row, file in of_kind("junit")}
    found |= {path.name: upload((path.name, path.read_bytes())).files[0] for path in PRODUCERS.glob("*.xml")}
    codes = {path: sorted({one["code"] for one in file["not_understood"]}) for path, file in found.items()}
    assert {path: several for path, several in codes.items() if several} == {
        path: known["codes"] for path, known in NOT_UNDERSTOOD.items()
    }
    assert all(known["reason"] for known in NOT_UNDERSTOOD.values())
    assert len(NOT_UNDERSTOOD) < 0.05 * len(found)
    assert [path for path in NOT_UNDERSTOOD if (PRODUCERS / path).exists()] == ["gotestsum-build-error.xml"]


def test_every_junit_file_is_read_with_all_its_cases() -> None:
    wrong = []
    for row, file in of_kind("junit"):
        cases = int(row["testcase_elements"])
        retried = "rerun" in row["flags"] or "flaky" in row["flags"]
        found = int(file["attempts"]) + int(file["run_errors"]) - suite_errors(row["path"])
        if file["error"] or (found < cases if retried else found != cases):
            wrong.append((row["path"], cases, found, file["error"]))
    assert wrong == []


SEVERAL_DOCUMENTS = {
    "log-formatter-test.pattern.junit": (3, 7),
    "expected_benchlibcallgrind.junitxml": (2, 3),
    "expected_benchliboptions.junitxml": (3, 9),
    "expected_multiexec.junitxml": (5, 15),
    "expected_qexecstringlist.junitxml": (1, 5),
    "muiltiple_suites.xml": (2, 2),
}
"""Files of several documents, some with words between them -> suites and cases."""


def test_files_of_several_documents_are_read_with_all_their_cases() -> None:
    found = {
        row["path"].rpartition("/")[2]: (file["suites"], int(file["attempts"]) + int(file["run_errors"]))
        for row, file in of_kind("malformed-junit")
        if not file["error"] and not file["partial"]
    }
    assert found == SEVERAL_DOCUMENTS


def test_damaged_files_are_salvaged_or_refused_with_line_and_column() -> None:
    for row, file in of_kind("malformed"):
        error, warnings = file["error"], file["warnings"]
        if any(warning["code"] == "repaired" for warning in warnings) and not file["partial"]:
            continue
        if file["account"] == "not_results":  # a line of text and no markup
            continue
        if row["path"].endswith(tuple(SEVERAL_DOCUMENTS)):
            continue
        place = error or next(one for one in warnings if one["code"] == "partial")
        assert place["line"] >= 1 and place["column"] >= 1, row["path"]
        assert error or file["partial"]


def test_other_formats_are_read_or_refused_by_name() -> None:
    files = of_kind("other-format")
    read = Counter(str(file["producer"]) for _, file in files if not file["error"])
    assert read == {"trx": 23, "xunit.net": 19, "nunit": 14, "testng": 8, "robot": 1}
    for row, file in files:
        assert not file["error"] or (file["error"]["code"], file["tests"]) == ("other_format", 0), row["path"]
    named = " ".join({file["error"]["sentence"] for _, file in files if file["error"]})
    assert all(name in named for name in ("NUnit 2", "CTest", "Boost.Test", "Qt Test", "CUnit", "CppUnit"))


def test_other_formats_are_understood() -> None:
    """But for files that people cut or simplified by hand."""
    codes = {
        row["path"]: sorted({one["code"] for one in file["not_understood"]})
        for row, file in of_kind("other-format")
        if not file["error"] and file["not_understood"]
    }
    assert {path.rpartition("/")[2]: several for path, several in codes.items()} == {
        "gh-596.trx": ["no_summary"],
        "testcase2.xml": ["header_surplus", "header_tests"],
    }


def of_pair() -> list[tuple[str, str]]:
    """Files of .NET, each with what another tool made of it in JUnit XML."""
    pairs = []
    for row in catalogue():
        path = row["path"]
        junit = (
            path.rpartition(".")[0] + ".junit-xml" if "EnricoMi" in path else path.replace("input.xml", "result.xml")
        )
        if (
            junit != path
            and (DATA / "junit" / junit).exists()
            and outcome(path)["producer"] in ("trx", "nunit", "xunit.net")
        ):
            pairs.append((path, junit))
    return pairs


CONVERTED_OTHERWISE = {
    "yami_YAMILEX_2015-10-24_04_18_59.trx": "an aborted test and one that could not be run are errors, not skips",
    "fixie.xml": "the parameters of a test are part of its name",
    "pickles.xml": "the parameters of a test are part of its name",
    "NUnit-issue44527.xml": "failures that NUnit labels errors are errors",
    "timewarpinc.xml": "failures that NUnit labels errors are errors",
    "nunit3/testcase2/input.xml": "failures that NUnit labels errors are errors",
    "nunit3/testcase3/input.xml": "an inconclusive test did not fail",
}


def test_what_is_read_is_what_other_tools_convert_it_to() -> None:
    pairs, different = of_pair(), []
    for path, junit in pairs:
        if [outcome(path)[column] for column in COUNTS[1:]] != [outcome(junit)[column] for column in COUNTS[1:]]:
            different.append(path)
    assert len(pairs) == 34
    known = [path for path in different if path.endswith(tuple(CONVERTED_OTHERWISE))]
    assert (different, len(known)) == (known, len(CONVERTED_OTHERWISE))


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
