"""The list of tests: the API's rows, narrowed, sorted and paged by its URL."""

import csv
import io
import json
import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.columns.schema import SORTABLE
from analytics.history.strips import STRIP_LENGTH, strips
from dashboard.web.test import tests as page_of_tests
from ingest.models import Test
from ingest.selectors import test_history as history_of
from ingest.services import project_create
from ingest.verdict import Verdict
from tests.extent import WHOLE
from tests.web.analysed_project import HOSTILE, Demo

COST = 14
"""Session and user; project, analysis, refresh; views and labels; then names, reports and rosters."""


def read(client: Client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def numbers(shown: str) -> list[int]:
    """The tests of the list, in its order."""
    body = shown.split("<tbody>")[1].split("</tbody>")[0]
    return [
        int(one)
        for one in re.findall(
            r'<th scope="row"[^>]*>\s*(?:<input[^>]*>)?\s*<a class="fb-name" href="[^"]*/tests/(\d+)"', body
        )
    ]


def test_the_list_is_the_apis(demo: Demo, reader: Client) -> None:
    for query, same in (
        ({}, "sort=-low"),
        ({"state": "flaky"}, "state=flaky&sort=-low"),
        ({"cause": "network", "sort": "number"}, "cause=network"),
        ({"order_kind": "NDOI", "sort": "-rate"}, "order_kind=NDOI&sort=-rate"),
        ({"q": "TEST_", "sort": "name"}, "text=test_&sort=name"),
        ({"state": "stable", "sort": "-name"}, "state=stable&sort=-name"),
    ):
        expected = demo.api.read(f"tests?{same}")
        shown = read(reader, demo.at("tests"), **query)
        assert numbers(shown) == [result["number"] for result in expected["results"]], query
        assert len(numbers(shown)) > 0, query


def test_a_row_shows_what_the_api_says_of_the_test(demo: Demo, reader: Client) -> None:
    (said, *_) = demo.api.read("tests?state=flaky&sort=-low")["results"]
    row = read(reader, demo.at("tests"), state="flaky").split("<tbody>")[1].split("</tr>")[0]
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split())
    assert f"{said['failed']} of {said['executed']}" in text
    assert f"{said['rate']['value'] * 100:.1f}".removesuffix(".0") + " %" in text
    reruns = [said["reruns"][name] for name in ("to_get_past", "to_expose", "to_confirm")]
    assert [int(one) for one in re.findall(r'<td class="fb-number">(\d+)</td>', row)][1:4] == reruns


ALIKE_IN_FLAKY = ("skipped",)
WAYS = [(number, f"-{number}") for number in ("name", *SORTABLE)]


@pytest.mark.parametrize(
    "sort", sum(WAYS, ()) if WHOLE else ["name", "-name", *(ways[place % 2] for place, ways in enumerate(WAYS[1:]))]
)
def test_every_number_sorts_as_in_the_api(demo: Demo, reader: Client, sort: str) -> None:
    """Up and down in turn, the flaky tests where these differ in it; in `make whole` each both ways, and all tests."""
    chosen = {} if WHOLE or sort.removeprefix("-") in ALIKE_IN_FLAKY else {"state": "flaky"}
    answered = demo.api.read("tests?" + urlencode({"sort": sort, **chosen}))["results"]
    assert len(answered) > 5
    assert numbers(read(reader, demo.at("tests"), sort=sort, **chosen)) == [result["number"] for result in answered]


def test_states_sort_too(demo: Demo, reader: Client) -> None:
    up, down = (read(reader, demo.at("tests"), sort=sort) for sort in ("state", "-state"))
    assert re.findall(r"fb-state-(\w+)", up.split("<tbody>")[1])[0] == "stable"
    assert re.findall(r"fb-state-(\w+)", down.split("<tbody>")[1])[0] == "recovered"


def test_headers_say_how_the_list_is_sorted_and_turn_it_round(demo: Demo, reader: Client) -> None:
    shown = unescape(read(reader, demo.at("tests"), sort="-to_expose", state="flaky", page="1"))
    assert shown.count('aria-sort="descending"') == 1
    assert 'href="?sort=to_expose&state=flaky"' in shown
    assert 'href="?sort=-longest_burst&state=flaky"' in shown


def test_pages_hold_every_test_once(demo: Demo, reader: Client) -> None:
    total = demo.analysis.tests
    assert total > 50
    first, second = (numbers(read(reader, demo.at("tests"), page=page)) for page in ("1", "2"))
    assert len(first) == 50
    assert len({*first, *second}) == total
    assert numbers(read(reader, demo.at("tests"), page="99")) == second


def test_a_filter_that_fits_nothing_says_so(demo: Demo, reader: Client) -> None:
    shown = read(reader, demo.at("tests"), q="no such test anywhere")
    assert "No matching tests." in shown
    assert "Show all" in shown


NAMES = ["state", "cause", "order_kind", "sort", "page", "q"]
ODD = ["\0", "9" * 30, "-1", "'; --", "☃", "flaky,broken"]
PAIRS = [(name, ODD[(place + turn) % len(ODD)]) for turn in range(len(ODD)) for place, name in enumerate(NAMES)]
"""Of so many as there are names, each name and each value is among them once."""


@pytest.mark.parametrize(("name", "value"), PAIRS if WHOLE else PAIRS[: 2 * len(NAMES)])
def test_an_odd_query_is_never_an_error(demo: Demo, reader: Client, name: str, value: str) -> None:
    assert reader.get(demo.at("tests"), {name: value}).status_code == 200


def test_hostile_names_are_text_in_the_list(demo: Demo, reader: Client) -> None:
    shown = read(reader, demo.at("tests"), state="flaky")
    assert "<script>alert" not in shown
    for name in HOSTILE:
        assert f"<bdi>{name[:299]}" in unescape(shown) or f"<bdi>{name}</bdi>" in unescape(shown), name[:30]


def test_the_file_holds_all_that_fit_whatever_the_page(demo: Demo, reader: Client) -> None:
    response = reader.get(demo.at("tests"), {"format": "csv", "page": "2", "sort": "number"})
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode(), newline="")))
    said = [one for part in demo.api.pages("tests?page_size=50") for one in part["results"]]
    assert [int(row["number"]) for row in rows] == [one["number"] for one in said]
    assert [row["state"] for row in rows] == [one["state"] for one in said]
    assert [row["to_expose"] for row in rows] == [str(one["reruns"]["to_expose"] or "") for one in said]
    formula = next(row for row in rows if int(row["number"]) == demo.number(HOSTILE[3]))
    assert formula["name"] == "'" + HOSTILE[3]


def test_a_file_can_be_sorted_by_name(demo: Demo, reader: Client) -> None:
    response = reader.get(demo.at("tests"), {"format": "json", "sort": "name"})
    expected = [one["number"] for part in demo.api.pages("tests?sort=name") for one in part["results"]]
    assert [row["number"] for row in json.loads(b"".join(response.streaming_content))] == expected


def test_an_unanalysed_project_says_what_to_do(demo: Demo, reader: Client) -> None:
    project_create(slug="new", name="New")
    shown = read(reader, "/projects/new/tests")
    assert "No analysis yet" in shown
    assert 'href="/projects/new/setup"' in shown


def test_the_strip_is_the_tests_newest_executions(demo: Demo) -> None:
    number = demo.number(HOSTILE[0])
    test = Test.objects.get(project=demo.project, number=number)
    told = [None if one.verdict is Verdict.SKIP else not one.verdict.failing for one in history_of(test)]
    assert strips(demo.project.pk, [number])[number] == tuple(reversed(told[:STRIP_LENGTH]))
    assert len(told) > STRIP_LENGTH


def test_a_test_that_no_new_report_holds_has_an_empty_strip(demo: Demo) -> None:
    assert strips(demo.project.pk, [10**6]) == {10**6: ()}
    assert strips(demo.project.pk, []) == {}


@pytest.mark.parametrize("size", [5, 50])
def test_queries_do_not_grow_with_rows(demo: Demo, reader: Client, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(page_of_tests, "PAGE_SIZE", size)
    reader.get(demo.at("tests"))
    with CaptureQueriesContext(connection) as queries:
        shown = read(reader, demo.at("tests"))
    assert len(numbers(shown)) == size
    assert len(queries) == COST, [query["sql"][:80] for query in queries]
