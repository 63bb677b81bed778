"""Costs in money: priced as the project is set, the same on pages, in files and by the API."""

import pytest
from django.test import Client

from dashboard.templatetags.flakeboard import money
from ingest import prices
from ingest.models import Project
from tests.web.analysed_project import Demo
from tests.web.listing import rows_of, words_of


@pytest.mark.parametrize(("amount", "said"), [(0, "0.00 USD"), (9.6, "9.60 USD"), (99.996, "100.00 USD")])
def test_small_amounts_have_decimals(amount: float, said: str) -> None:
    assert money(amount, "USD") == said


def test_large_amounts_have_none() -> None:
    assert money(12_345.6, "EUR") == "12,346 EUR"


def test_a_project_is_priced_at_what_herzig_found() -> None:
    project = Project()
    assert (project.failure_price, project.minute_price, project.currency) == (9.6, 0.03, "USD")
    assert (prices.FAILURE, prices.MACHINE_MINUTE) == (9.6, 0.03)


def test_pages_file_and_api_price_what_the_analysis_stored(demo: Demo, reader: Client) -> None:
    told = demo.api.read("priorities?page_size=500")
    assert told["prices"] == {"failure": 9.6, "minute": 0.03, "currency": "USD"}
    rows = rows_of(reader, demo.at("priorities"))
    for row, item in zip(rows, told["results"], strict=True):
        assert item["money"]["mid"] == pytest.approx(9.6 * item["inspected"] + 0.03 * item["machine_minutes"])
        assert item["money"]["low"] <= item["money"]["mid"] <= item["money"]["high"]
        written = {"low": row["money_low"], "mid": row["money"], "high": row["money_high"]}
        assert (written, row["currency"]) == (item["money"], "USD")
    first = told["results"][0]["money"]
    assert first["low"] > 0
    page, overview = (words_of(reader, demo.at(name)) for name in ("priorities", "project"))
    assert f"about {money(told['totals']['money'], 'USD')}, at 9.60 USD for a failure" in page
    assert money(first["mid"], "USD") in page
    low, high = (money(first[end], "").strip() for end in ("low", "high"))
    assert f"· {money(first['mid'], 'USD')} ({low} – {high})" in overview
    assert told["totals"]["money"] == pytest.approx(sum(item["money"]["mid"] for item in told["results"]))


def test_sorting_by_money(demo: Demo, reader: Client) -> None:
    up, down = (
        [row["money"] for row in rows_of(reader, demo.at("priorities"), sort=sort)] for sort in ("money", "-money")
    )
    assert up == sorted(up) and down == up[::-1] and up[0] < up[-1]


def test_new_prices_hold_at_once_and_change_the_etag(demo: Demo, reader: Client) -> None:
    before = demo.api.get("priorities")
    Project.objects.filter(slug=demo.project.slug).update(failure_price=100, minute_price=0, currency="EUR")
    after = demo.api.get("priorities", **{"if-none-match": before.headers["ETag"]})
    assert after.status_code == 200
    first = after.json()["results"][0]
    assert first["money"]["mid"] == pytest.approx(100 * first["inspected"])
    assert money(first["money"]["mid"], "EUR") in words_of(reader, demo.at("priorities"))
