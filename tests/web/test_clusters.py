"""Clusters: which failures are one problem, and where the two views disagree."""

import pytest
from django.test import Client
from django.urls import reverse

from analytics.models import ClusterFinding
from dashboard.web.insights.clusters import agreement_words
from tests.web.analysed_project import HOSTILE, Demo
from tests.web.listing import new_project, queries_of, rows_of, source_of, words_of


def test_the_list_says_what_the_api_says(demo: Demo, reader: Client) -> None:
    told = demo.api.read("clusters?page_size=500")["results"]
    rows = rows_of(reader, demo.at("clusters"))
    assert len(rows) == len(told) > 0
    for row, cluster in zip(rows, told, strict=True):
        for name in ("view", "number", "size", "runs", "shared_runs"):
            assert row[name] == cluster[name]
        assert row["tests"][:10] == [test["name"] for test in cluster["tests"]]


def test_the_first_sentence_counts_both_views(demo: Demo, reader: Client) -> None:
    told = demo.api.read("clusters?page_size=500")["results"]
    together = [one for one in told if one["view"] == "together"]
    lead = words_of(reader, demo.at("clusters"))
    assert f"{sum(one['size'] for one in together)} tests fail together in {len(together)} cluster" in lead


def test_only_those_on_which_the_views_disagree(demo: Demo, reader: Client) -> None:
    cluster = ClusterFinding.objects.filter(analysis=demo.analysis, view="together").first()
    cluster.data["agreement"] = {"together": 2, "apart": 0, "alone": len(cluster.data["tests"]) - 2}
    cluster.save()
    rows = rows_of(reader, demo.at("clusters"), disagree=1)
    assert (cluster.view, cluster.number) in [(row["view"], row["number"]) for row in rows]
    assert all("disagree" in row["agreement"] or "Only this view" in row["agreement"] for row in rows)


@pytest.mark.parametrize(
    ("agreement", "sentence"),
    [
        ((4, 0, 0), "Both views agree: all 4 also fail with the same message."),
        ((3, 0, 1), "The views disagree: 3 of the 4 also fail with the same message, 1 does not."),
        ((2, 2, 0), "The views disagree: 2 of the 4 also fail with the same message, 2 do not."),
        ((0, 0, 4), "Only this view: no two of the 4 also fail with the same message."),
        ((1, 1, 2), "Only this view: no two of the 4 also fail with the same message."),
    ],
)
def test_agreement_in_words(agreement: tuple[int, int, int], sentence: str) -> None:
    told = dict(zip(("together", "apart", "alone"), agreement, strict=True))
    assert agreement_words("together", 4, told) == sentence


def test_filters_by_view_and_by_a_test_inside(demo: Demo, reader: Client) -> None:
    every = rows_of(reader, demo.at("clusters"))
    by_words = rows_of(reader, demo.at("clusters"), view="signature")
    assert by_words == [row for row in every if row["view"] == "signature"]
    name = every[0]["tests"][-1]
    found = rows_of(reader, demo.at("clusters"), q=name)
    assert found == [row for row in every if any(name in test for test in row["tests"])]
    assert "No matching clusters." in words_of(reader, demo.at("clusters"), q="no such test")


def test_one_cluster_has_what_the_api_has(demo: Demo, reader: Client) -> None:
    number = demo.api.read("clusters?view=together")["results"][0]["number"]
    told = demo.api.read(f"clusters/together/{number}")["cluster"]
    page = words_of(reader, demo.at("cluster", "together", number))
    assert f"{told['size']} tests that fail together" in page
    assert (
        f"In {told['runs']} runs at least one of them failed, in {told['shared_runs']} of these at least two." in page
    )
    for one in told["cells"]:
        failed, was_in = one["cells"].count("F"), len(one["cells"]) - one["cells"].count("-")
        assert f"{failed} of {was_in}" in page
    for test in told["tests"]:
        assert f'href="{demo.at("test", test["number"])}"' in source_of(reader, demo.at("cluster", "together", number))


def test_a_cluster_shows_one_failure_in_full_and_its_cost(demo: Demo, reader: Client) -> None:
    item = next(one for one in demo.api.read("priorities")["results"] if one["cluster"] is not None)
    page = words_of(reader, demo.at("cluster", "together", item["cluster"]))
    assert "One of them in full:" in page
    assert f"{item['blocked']} runs blocked, {item['alone']} by nothing else." in page
    assert f"Number {item['rank']} to fix" in page
    assert 'class="fb-code"' in source_of(reader, demo.at("cluster", "together", item["cluster"]))


def test_a_number_that_is_no_cluster_any_more_leads_to_its_test(demo: Demo, reader: Client) -> None:
    clusters = {one["number"] for one in demo.api.read("clusters?page_size=500")["results"]}
    number = demo.number(HOSTILE[1])
    assert number not in clusters
    address = demo.at("cluster", "together", number)
    assert "This cluster is gone" in words_of(reader, address)
    assert f'href="{demo.at("test", number)}"' in source_of(reader, address)


def test_a_test_that_moved_to_another_cluster_leads_there(demo: Demo, reader: Client) -> None:
    told = demo.api.read("clusters?view=together")["results"][0]
    member = told["tests"][-1]["number"]
    page = source_of(reader, demo.at("cluster", "together", member))
    assert "is in another one now" in page
    assert f'href="{demo.at("cluster", "together", told["number"])}"' in page


def test_what_nothing_has_is_not_found(demo: Demo, reader: Client) -> None:
    number = demo.api.read("clusters?view=together")["results"][0]["number"]
    for address in (demo.at("cluster", "together", 2**40), demo.at("cluster", "sideways", number)):
        assert reader.get(address).status_code == 404


def test_the_database_is_asked_a_fixed_number_of_times(demo: Demo, reader: Client) -> None:
    number = demo.api.read("clusters?view=together")["results"][0]["number"]
    assert queries_of(reader, demo.at("clusters")) == 10
    assert queries_of(reader, demo.at("cluster", "together", number)) == 16


def test_before_the_first_analysis(reader: Client) -> None:
    address = reverse("clusters", args=(new_project().slug,))
    assert "No analysis yet" in words_of(reader, address)
    assert rows_of(reader, address) == []


@pytest.mark.parametrize("column", ["size", "runs", "shared_runs", "last_failure"])
def test_the_list_is_sorted_by_its_headers(demo: Demo, reader: Client, column: str) -> None:
    every = rows_of(reader, demo.at("clusters"))
    for sort, downwards in ((column, False), (f"-{column}", True)):
        found = [row[column] for row in rows_of(reader, demo.at("clusters"), sort=sort)]
        assert found == sorted((row[column] for row in every), reverse=downwards)
        assert f'aria-sort="{"descending" if downwards else "ascending"}"' in source_of(
            reader, demo.at("clusters"), sort=sort
        )
