"""The sentences of the page of tests: what is above the list, and what stands below a rate."""

import re
from dataclasses import replace
from html import unescape

import pytest
from django.http import QueryDict

from analytics.columns.number import Count
from analytics.columns.rows import absent_row
from analytics.models import Analysis
from dashboard.web.test.tests import TestListQuery, lead, other_counts


def said(written: str, states: dict[str, int] | None = None, known: int = 480, total: int = 12) -> str:
    address = QueryDict(written)
    analysis = Analysis(summary={"states": states or {}})
    return str(lead(analysis, known, TestListQuery.read(address), total, address))


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@pytest.mark.parametrize(
    ("written", "total", "sentence"),
    [
        ("state=flaky", 12, "12 of 480 tests are flaky."),
        ("state=flaky&cause=network", 12, "12 of 480 tests are flaky and may fail by network."),
        ("order_kind=OD", 1_200, "1,200 of 480 tests have orders that say OD."),
        ("q=cart", 1, "1 of 480 tests has “cart” in name, class, suite or file."),
        (
            "state=broken&cause=time&q=cart&owner=@shop",
            1,
            "1 of 480 tests is broken, may fail by time, has “cart” in name, class, suite or file and is owned by @shop.",
        ),
    ],
)
def test_it_says_what_the_list_is_narrowed_down_to(written: str, total: int, sentence: str) -> None:
    assert plain(said(written, total=total)) == sentence


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ({"stable": 480}, "Of 480 tests in the window none is flaky or broken."),
        ({"flaky": 1, "stable": 479}, "Of 480 tests in the window 1 is flaky."),
        ({"broken": 2, "flaky": 1_000}, "Of 480 tests in the window 1,000 are flaky and 2 are broken."),
        (
            {"broken": 2, "flaky": 3, "suspect": 1},
            "Of 480 tests in the window 3 are flaky, 1 is suspect and 2 are broken.",
        ),
    ],
)
def test_without_a_filter_it_says_what_asks_for_attention(states: dict[str, int], sentence: str) -> None:
    assert plain(said("", states)) == sentence


def test_its_links_keep_the_order_and_leave_the_page() -> None:
    assert unescape(said("sort=-rate&page=3", {"flaky": 2})).count('href="?sort=-rate&state=flaky"') == 1


def test_what_people_typed_is_text() -> None:
    assert "&lt;b&gt;" in said("q=%3Cb%3E")
    assert "<b>" not in said("owner=%3Cb%3E")


def test_it_says_that_there_is_nothing_yet() -> None:
    query = TestListQuery.read(QueryDict())
    assert lead(None, 0, query, 0, QueryDict()).startswith("No analysis yet")
    assert said("", known=0) == "No test was in the window that the analysis looks at."


def test_below_a_rate_stands_what_it_leaves_out() -> None:
    row = replace(absent_row(1), executed=10, attempts=Count(2, 10))
    assert other_counts(row) == ""
    assert other_counts(replace(row, attempts=Count(3, 1_200))) == "3 of 1,200 attempts"
    assert other_counts(replace(row, skipped=4, incidents=1)) == "failed in 1 incident · 4 skipped"
    assert other_counts(replace(row, attempts=Count(3, 12), incidents=2)) == "3 of 12 attempts · failed in 2 incidents"
