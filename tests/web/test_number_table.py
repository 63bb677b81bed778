"""The table of a test's numbers: what it says of each holds on the page, in the API, in files and in the help."""

import csv
import io
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.template import Context, Template
from django.test import Client

from analytics.columns.codec import columns_of
from analytics.columns.number import Number
from analytics.columns.query import Choice, chosen_rows, values
from analytics.columns.rows import test_rows as rows_of
from analytics.columns.rows import value_of
from analytics.columns.schema import EXPORTED, FIELDS, FILTERS, NUMBERS, SHOWN, SORTABLE, number_type
from tests.dashboard.openapi import Schema
from tests.web.analysed_project import Demo

IN_ROWS = [number for number in NUMBERS.values() if number.part or len(FIELDS[number.field].numbers) == 1]
"""All but those that are there to sort by alone."""


def of_api(row: dict[str, Any], number: Number) -> Any:
    value = row[number.field]
    return value[number.part] if number.part and value is not None else value


@pytest.fixture
def answers(demo: Demo) -> list[dict[str, Any]]:
    return [row for page in demo.api.pages("tests?page_size=50") for row in page["results"]]


@pytest.fixture
def file(demo: Demo, reader: Client) -> list[dict[str, str]]:
    response = reader.get(demo.at("tests"), {"format": "csv", "sort": "number"})
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode(), newline="")))


# -- the table itself --------------------------------------------------------------------------------------------


def test_the_order_of_files_and_of_the_apis_sorts_stays() -> None:
    """New ones may be added, at the end of files; people's programs know the others by their place."""
    assert EXPORTED[:21] == (
        *("state", "failed", "executed", "rate", "low", "high", "attempts_failed", "attempts_executed"),
        *("skipped", "incidents", "longest_burst", "to_get_past", "to_expose", "to_confirm", "last_failure"),
        *("flaky_since", "causes", "order_kind", "cluster", "blocked", "cost"),
    )
    places = [NUMBERS[name].exported for name in EXPORTED]
    assert places == list(range(1, len(EXPORTED) + 1))
    known = (
        *("number", "failed", "executed", "attempts_failed", "attempts_executed", "skipped", "low", "high"),
        *("in_incidents", "incidents", "contradictions", "recoveries", "reversals", "bursts", "longest_burst"),
        *("failed_again", "cleared", "seconds", "last_seen", "last_failure", "flaky_since", "rate", "again"),
        *("failed_default", "executed_default", "clean", "to_get_past", "to_expose", "to_confirm", "cluster"),
        *("signature_cluster", "blocked", "cost", "cost_low", "cost_high"),
    )
    assert [name for name in SORTABLE if name in known] == list(known)


def test_names_and_parameters_are_unique() -> None:
    rows = [number for field in FIELDS.values() for number in field.numbers]
    assert len({number.name for number in rows}) == len(rows)
    assert len(FILTERS) == sum(number.filter is not None for number in rows)


def test_every_number_is_stored_or_worked_out(demo: Demo) -> None:
    columns = columns_of(demo.analysis)
    for name, number in NUMBERS.items():
        assert number.of_every is None or number.of_failed is None, name
        is_stored = number.of_every is not None or number.of_failed is not None or name == "number"
        assert (name in columns) == is_stored, name
        assert is_stored or number.formula is not None, name
        assert values(columns, name).shape == (demo.analysis.tests,), name


# -- rows and the API --------------------------------------------------------------------------------------------


def test_rows_and_the_api_have_it_with_the_type_of_the_table(demo: Demo, answers: list[dict[str, Any]]) -> None:
    columns = columns_of(demo.analysis)
    rows = rows_of(columns, np.arange(len(columns)))
    never = {number.name for number in IN_ROWS}
    for number in IN_ROWS:
        kind, optional = number_type(number.name)
        for row, answer in zip(rows, answers, strict=True):
            value, said = value_of(row, number), of_api(answer, number)
            if value is None:
                assert (optional, said) == (True, None), number.name
                continue
            never.discard(number.name)
            if kind is datetime:
                assert datetime.fromisoformat(said) == value, number.name
            elif number.words:
                assert said == (row.state_name if number.name == "state" else _plain(value)), number.name
            else:
                assert (type(value), said) == (kind, value), number.name
    assert never == {"signature_cluster", "prediction"}, "the simulated project has none of these"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def test_the_schema_explains_every_number_in_the_words_of_the_table(db: None) -> None:
    schemas = Schema().document["components"]["schemas"]
    row = schemas["TestRow"]["properties"]
    identity = ["number", "suite", "classname", "name", "file", "labels"]
    assert list(row) == [*identity, *(name for name in FIELDS if name != "number")]
    for number in IN_ROWS:
        if not number.part and number.name != "state":
            assert number.help in " ".join(row[number.name]["description"].split()), number.name
    for value in ("Evidence", "Again", "Reruns", "Cost"):
        numbers = FIELDS[value.lower()].numbers
        for number in numbers:
            if number.part:
                assert number.help in " ".join(schemas[value]["properties"][number.part]["description"].split())


# -- sorting and filters -----------------------------------------------------------------------------------------


def test_it_sorts_in_the_api_where_the_table_says_so(demo: Demo) -> None:
    """That it sorts rightly is in `test_tests_page` and in `tests/analytics/test_listing.py`."""
    for name, number in NUMBERS.items():
        status = demo.api.get(f"tests?page_size=1&sort=-{name}").status_code
        assert status == (200 if number.sortable else 422), name


def test_what_is_filterable_filters_by_every_word_and_by_a_minimum(demo: Demo, answers: list[dict[str, Any]]) -> None:
    columns = columns_of(demo.analysis)
    assert FILTERS
    for parameter, number in FILTERS.items():
        for wanted in number.choices or minimums(of_api(answer, number) for answer in answers):
            rows = chosen_rows(columns, Choice(**{parameter: wanted}))
            expected = [answer["number"] for answer in answers if _fits(of_api(answer, number), wanted)]
            assert columns["number"][rows].tolist() == expected, (parameter, wanted)
            answer = demo.api.read(f"tests?page_size=500&{parameter}={wanted}")
            assert [row["number"] for row in answer["results"]] == expected, (parameter, wanted)


def minimums(found: Iterable[int | None]) -> tuple[int, int, int]:
    """One that some tests just reach, the most that there is, and more."""
    values = sorted(value for value in found if value)
    return values[len(values) // 2], values[-1], values[-1] + 1


def _fits(value: Any, wanted: str | int) -> bool:
    if isinstance(wanted, int):
        return value is not None and value >= wanted
    return wanted in value if isinstance(value, list) else value == wanted


def test_the_page_offers_the_words_of_every_filter(demo: Demo, reader: Client) -> None:
    page = unescape(reader.get(demo.at("tests")).content.decode())
    for parameter, number in FILTERS.items():
        if number.words:
            (select,) = re.findall(rf'<select[^>]* name="{parameter}">(.*?)</select>', page, re.DOTALL)
            assert re.findall(r"<option>(.*?)</option>", select) == list(number.choices)
            assert f'<label class="form-label" for="{parameter}">{number.label}</label>' in page


# -- files -------------------------------------------------------------------------------------------------------


def test_files_hold_it_where_the_table_says_so(file: list[dict[str, str]], answers: list[dict[str, Any]]) -> None:
    assert list(file[0]) == ["number", "name", "classname", "suite", "file", *EXPORTED, "owner"]
    assert set(EXPORTED) == {name for name, number in NUMBERS.items() if number.exported is not None}
    for name in EXPORTED:
        assert [row[name] for row in file] == [_cell(of_api(answer, NUMBERS[name])) for answer in answers], name


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, str) and value.endswith("Z"):
        return datetime.fromisoformat(value).astimezone(UTC).isoformat()
    return "" if value is None else str(value)


# -- labels, help and columns of the page ------------------------------------------------------------------------


def test_it_has_a_label_and_a_help_that_pages_can_show() -> None:
    template = Template("{% load flakeboard %}{% help word %}")
    for name, number in NUMBERS.items():
        assert number.label, name
        assert number.help.endswith("."), name
        shown = unescape(template.render(Context({"word": name})))
        assert f'{number.help} <a href="/docs/concepts#{number.anchor}">' in shown, name


def test_the_page_has_a_column_for_each_that_the_table_shows(demo: Demo, reader: Client) -> None:
    page = reader.get(demo.at("tests"), {"sort": "-executed"}).content.decode()
    heads = re.findall(r'class="fb-sort"[^>]*>(.*?)</a>', page.split("<thead>")[1].split("</thead>")[0])
    assert heads[-len(SHOWN) :] == [number.label for number in SHOWN]
    answers = demo.api.read("tests?sort=-executed&page_size=50")["results"]
    body = page.split("<tbody>")[1].split("</tbody>")[0].split("</tr>")
    for row, answer in zip(body, answers, strict=False):
        cells = [
            unescape(re.sub(r"<[^>]+>", " ", cell)) for cell in re.findall(r'<td class="fb-number">(.*?)</td>', row)
        ]
        assert len(cells) == len(SHOWN)
        for cell, number in zip(cells, SHOWN, strict=True):
            value = of_api(answer, number)
            assert cell == f"{value:,}" if value is not None else cell.strip().startswith(("–", "cluster"))
