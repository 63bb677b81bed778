"""Orders: which tests depend on each other?"""

from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from analytics.columns import codec
from analytics.columns.codec import columns_of
from analytics.columns.schema import ORDER_KINDS
from analytics.models import Analysis, TestFinding
from dashboard.web.insights.orders import KINDS
from tests.web.analysed_project import HOSTILE, Demo
from tests.web.listing import new_project, queries_of, rows_of, source_of, words_of


def test_the_list_says_what_the_api_says(demo: Demo, reader: Client) -> None:
    told = {result["test"]["number"]: result for result in demo.api.read("orders?page_size=500")["results"]}
    rows = rows_of(reader, demo.at("orders"))
    assert {row["number"] for row in rows} == told.keys() != set()
    for row in rows:
        one = told[row["number"]]
        for name in ("kind", "p_value", "orders", "executions", "explained"):
            assert row[name] == one[name]
        assert row["failing_orders"] == round(one["failing_orders"] * one["orders"])
        polluters = [x["test"]["name"] for x in one["partners"] if x["related"] and x["role"] == "polluter"]
        assert row["polluters"] == polluters
        assert row["cleaners"] == [test["name"] for test in one["cleaners"]]


@pytest.fixture
def victim(demo: Demo, reader: Client) -> Iterator[int]:
    """The last test of the list, of which the orders now name who makes it fail: the test with a script in its name."""
    number, polluter = rows_of(reader, demo.at("orders"))[-1]["number"], demo.number(HOSTILE[0])
    finding = TestFinding.objects.get(analysis=demo.analysis, number=number)
    blamed = {"test": polluter, "role": "polluter", "p_value": 1e-9, "related": True}
    chance = {"test": polluter + 1, "role": "state-setter", "p_value": 0.4, "related": False}
    named = {"partners": [blamed, chance], "cleaners": [polluter + 2]}
    finding.data["order"] |= {"explained": True, "kind": "OD", **named}
    finding.save()
    columns = columns_of(demo.analysis)
    columns["order_kind"][columns.row(number)] = ORDER_KINDS.index("OD")
    yield number
    codec._columns.cache_clear()


def test_what_is_explained_comes_first_with_links_to_the_culprits(demo: Demo, reader: Client, victim: int) -> None:
    polluter = demo.number(HOSTILE[0])
    assert [row["number"] for row in rows_of(reader, demo.at("orders"))].index(victim) == 0
    page = source_of(reader, demo.at("orders"))
    assert "Fails after" in page and f'href="{demo.at("test", polluter)}"' in page
    assert "(polluter, p &lt; 0.0001)" in page
    assert HOSTILE[0] not in page
    assert f'href="{demo.at("test", polluter + 2)}"' in page
    assert "state-setter, p" not in page  # a candidate that chance explains is none


def test_only_the_kind_that_is_asked_for(demo: Demo, reader: Client) -> None:
    every = rows_of(reader, demo.at("orders"))
    for kind, count in demo.api.read("orders")["known"]["kinds"].items():
        found = rows_of(reader, demo.at("orders"), kind=kind)
        assert found == [row for row in every if row["kind"] == kind]
        assert len(found) == count
    name = every[0]["name"]
    assert every[0] in rows_of(reader, demo.at("orders"), q=name[:200])
    assert "No matching tests." in words_of(reader, demo.at("orders"), q="no such test")


def test_the_page_says_what_it_rests_on(demo: Demo, reader: Client) -> None:
    known = demo.api.read("orders")["known"]
    said = f"{known['reports']:,} of {demo.analysis.reports:,} reports, {known['orders']} different order"
    assert said in words_of(reader, demo.at("orders"))


def test_where_no_order_is_known_it_says_how_to_get_some(demo: Demo, reader: Client) -> None:
    summary = {**demo.analysis.summary, "orders": {"reports": 0, "orders": 0, "kinds": {}}}
    Analysis.objects.filter(pk=demo.analysis.pk).update(summary=summary)
    TestFinding.objects.filter(analysis=demo.analysis).delete()
    page = words_of(reader, demo.at("orders"))
    assert "Nothing can be said" in page
    assert "order=executed" in page and "Shuffle some runs" in page


def test_the_database_is_asked_as_often_for_one_as_for_all(demo: Demo, reader: Client) -> None:
    assert queries_of(reader, demo.at("orders")) == 15


def test_before_the_first_analysis(reader: Client) -> None:
    address = reverse("orders", args=(new_project().slug,))
    assert "No analysis yet" in words_of(reader, address)
    assert rows_of(reader, address) == []


@pytest.mark.parametrize("column", ["kind", "failing_orders", "p_value"])
def test_the_list_is_sorted_by_what_was_found_and_what_has_no_value_comes_last(
    demo: Demo, reader: Client, column: str
) -> None:
    stored = {
        result["test"]["number"]: result["kind"] if column == "kind" else result[column]
        for result in demo.api.read("orders?page_size=500")["results"]
    }
    for sort, downwards in ((column, False), (f"-{column}", True)):
        found = [stored[row["number"]] for row in rows_of(reader, demo.at("orders"), sort=sort)]
        known = [value for value in found if value is not None]
        assert len(found) == len(stored)
        assert found[: len(known)] == known
        key = list(KINDS).index if column == "kind" else float
        assert known == sorted(known, key=key, reverse=downwards)


def test_the_list_is_sorted_by_name_and_says_so(demo: Demo, reader: Client) -> None:
    names = [row["name"] for row in rows_of(reader, demo.at("orders"), sort="-name")]
    assert names == sorted(names, reverse=True)
    assert 'aria-sort="descending"' in source_of(reader, demo.at("orders"), sort="-name")
    assert "aria-sort" not in source_of(reader, demo.at("orders"), sort="nonsense")
