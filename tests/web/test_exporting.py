"""Lists as files: whole, readable by spreadsheets and programs, and never a formula."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.test import RequestFactory

from dashboard.web.export import exported

HEADERS = ("name", "failed", "rate", "at", "causes")


def file_of(rows: list[tuple[object, ...]], format_: str) -> str:
    response = exported(RequestFactory().get("/", {"format": format_}), "a list", HEADERS, rows)
    assert response is not None
    return b"".join(response.streaming_content).decode("utf-8")


def cells(rows: list[tuple[object, ...]]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file_of(rows, "csv"), newline="")))


def row(name: str = "t", failed: object = 1, **rest: object) -> tuple[object, ...]:
    return (name, failed, rest.get("rate", 0.5), rest.get("at"), rest.get("causes", []))


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "|calc", "%x"])
def test_a_name_that_looks_like_a_formula_is_text_in_a_spreadsheet(name: str) -> None:
    assert cells([row(name)])[1][0] == "'" + name


def test_negative_numbers_stay_numbers() -> None:
    assert cells([row("t", -3, rate=-0.5)])[1][1:3] == ["-3", "-0.5"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_spreadsheet_that_splits_at_other_signs_finds_no_formula_inside_a_name(separator: str) -> None:
    name = f"a{separator}=HYPERLINK(1){separator}b"
    lines = csv.reader(io.StringIO(file_of([row(name)], "csv"), newline=""), delimiter=separator)
    assert not any(cell.startswith("=") for line in lines for cell in line)


def test_every_cell_is_quoted() -> None:
    line = file_of([row("t", None, rate=-0.5, causes=["x"])], "csv").splitlines()[1]
    assert line == '"t","","-0.5","","x"'


def test_quotes_commas_line_breaks_and_foreign_writing_survive_csv() -> None:
    name = 'a "b", c\nd ☃ \u202e'
    assert cells([row(name)])[1][0] == name
    assert not file_of([row(name)], "csv").startswith("\ufeff")


def test_moments_are_in_utc_and_several_causes_in_one_cell() -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=timezone(timedelta(hours=1)))
    found = cells([row(at=at, causes=["network", "time"])])[1]
    assert found[3:] == [datetime(2026, 1, 5, 8, tzinfo=UTC).isoformat(), "network, time"]


@pytest.mark.parametrize("count", [0, 1, 1_203])
def test_every_row_is_in_both_files(count: int) -> None:
    rows = [row(f"t{number}", number) for number in range(count)]
    assert [line[0] for line in cells(rows)[1:]] == [one[0] for one in rows]
    read = json.loads(file_of(rows, "json"))
    assert [tuple(one) for one in read] == [HEADERS] * count
    assert [one["failed"] for one in read] == list(range(count))


def test_json_says_what_is_not_known_as_null_and_keeps_text_as_it_is() -> None:
    (read,) = json.loads(file_of([row("=1+1", None)], "json"))
    assert read == {"name": "=1+1", "failed": None, "rate": 0.5, "at": None, "causes": []}


@pytest.mark.parametrize("asked", [{}, {"format": ""}, {"format": "xlsx"}, {"format": "CSV"}])
def test_a_page_that_asks_for_no_file_reads_no_rows(asked: dict[str, str]) -> None:
    def rows() -> Iterator[tuple[object, ...]]:
        raise AssertionError("read")
        yield ()

    assert exported(RequestFactory().get("/", asked), "x", HEADERS, rows()) is None


def test_a_file_is_named_by_its_list_and_cannot_break_the_header() -> None:
    response = exported(RequestFactory().get("/?format=csv"), 'a"\r\nX: ☃', HEADERS, [])
    assert response is not None
    assert response.headers["Content-Disposition"] == 'attachment; filename="a---X---.csv"'
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
