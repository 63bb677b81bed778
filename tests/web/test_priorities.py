"""Fix first: the dearest problem on top, and what fixing it saves."""

import pytest
from django.test import Client
from django.urls import reverse

from analytics.kernel.rates import clopper_pearson
from analytics.wording import percent
from tests.web.analysed_project import HOSTILE, Demo
from tests.web.listing import new_project, queries_of, rows_of, source_of, table_of, words_of

COUNTED = ("blocked", "alone", "would", "masked", "saved_runs", "blocked_runs")


def test_the_list_says_what_the_api_says(demo: Demo, reader: Client) -> None:
    told = demo.api.read("priorities?page_size=500")
    rows = rows_of(reader, demo.at("priorities"))
    assert len(rows) == told["total"] > 0
    for row, item in zip(rows, told["results"], strict=True):
        assert (row["rank"], row["cluster"]) == (item["rank"], item["cluster"])
        assert row["names"] == [test["name"] for test in item["tests"]]
        assert [row[name] for name in COUNTED] == [item[name] for name in COUNTED]
        cost = {"low": row["cost_low"], "mid": row["cost"], "high": row["cost_high"]}
        assert cost == item["cost"]
        assert (row["machine_minutes"], row["developer_minutes"]) == (
            item["machine_minutes"],
            item["developer_minutes"],
        )


def test_the_first_sentence_is_what_the_first_three_save(demo: Demo, reader: Client) -> None:
    told = demo.api.read("priorities")
    blocked, runs = told["totals"]["blocked"], told["results"][2]["saved_runs"]
    low, high = clopper_pearson(runs, blocked, 0.95)
    said = f"Fixing the first 3 would have saved {runs} of {blocked} blocked runs ({percent(runs / blocked)}, interval"
    lead = words_of(reader, demo.at("priorities"))
    assert f"{said} {percent(float(low)).removesuffix(' %')}–{percent(float(high))})." in lead


def test_the_price_of_a_blocked_run_is_said_and_linked(demo: Demo, reader: Client) -> None:
    assert "Developer time is an assumption: 15 min for each blocked run" in words_of(reader, demo.at("priorities"))
    assert f'href="{reverse("docs", args=("concepts",))}#cost"' in source_of(reader, demo.at("priorities"))


def test_a_cluster_is_one_row_that_leads_to_it_and_to_its_tests(demo: Demo, reader: Client) -> None:
    item = next(result for result in demo.api.read("priorities")["results"] if result["cluster"] is not None)
    page = source_of(reader, demo.at("priorities"))
    assert f"Cluster of {len(item['tests'])} tests" in page
    assert f'href="{demo.at("cluster", "together", item["cluster"])}"' in page
    assert all(f'href="{demo.at("test", test["number"])}"' in page for test in item["tests"])


def test_only_the_cause_that_is_asked_for(demo: Demo, reader: Client) -> None:
    every = rows_of(reader, demo.at("priorities"))
    cause = next(row["causes"][0] for row in every if row["causes"])
    found = rows_of(reader, demo.at("priorities"), cause=cause)
    assert 0 < len(found) < len(every)
    assert found == [row for row in every if cause in row["causes"]]
    assert rows_of(reader, demo.at("priorities"), cause="strange") == every


def test_a_cluster_is_found_by_any_of_its_tests(demo: Demo, reader: Client) -> None:
    item = next(result for result in demo.api.read("priorities")["results"] if result["cluster"] is not None)
    found = rows_of(reader, demo.at("priorities"), q=item["tests"][-1]["name"].upper())
    assert item["rank"] in [row["rank"] for row in found]
    assert "No matches." in words_of(reader, demo.at("priorities"), q="no such test")


@pytest.mark.parametrize("column", ["blocked", "machine_minutes", "cost"])
def test_sorting(demo: Demo, reader: Client, column: str) -> None:
    up, down = (rows_of(reader, demo.at("priorities"), sort=sign + column) for sign in ("", "-"))
    assert [row[column] for row in up] == sorted(row[column] for row in up)
    assert [row[column] for row in down] == sorted((row[column] for row in up), reverse=True)


def test_names_that_programs_wrote_are_text(demo: Demo, reader: Client) -> None:
    page = source_of(reader, demo.at("priorities"))
    assert HOSTILE[0] not in page
    assert "test_&lt;script&gt;alert(" in page
    for row in table_of(reader, demo.at("priorities")):
        assert not row["names"].startswith("=")


def test_pages_beyond_the_end_are_empty_and_lead_back(demo: Demo, reader: Client) -> None:
    assert "No matches." in words_of(reader, demo.at("priorities"), page=99)


def test_the_database_is_asked_as_often_for_one_as_for_all(demo: Demo, reader: Client) -> None:
    all_of_them = queries_of(reader, demo.at("priorities"))
    assert all_of_them == 11
    assert queries_of(reader, demo.at("priorities"), cause="network", sort="-cost") == all_of_them


def test_before_the_first_analysis(reader: Client) -> None:
    address = reverse("priorities", args=(new_project().slug,))
    assert "No analysis yet" in words_of(reader, address)
    assert rows_of(reader, address) == []
