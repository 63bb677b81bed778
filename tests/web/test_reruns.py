"""Reruns: how many retries should CI make?"""

import pytest
from django.test import Client
from django.urls import reverse

from analytics.models import Analysis
from analytics.wording import percent
from dashboard.templatetags.flakeboard import duration
from tests.web.analysed_project import Demo
from tests.web.listing import new_project, queries_of, rows_of, words_of


def test_the_first_sentence_is_the_apis_recommendation(demo: Demo, reader: Client) -> None:
    curve = demo.api.read("reruns")["retries"]
    n = curve["recommended"]
    at = curve["n"].index(n)
    share, low, high = (curve[name][at] for name in ("share", "low", "high"))
    lead = words_of(reader, demo.at("reruns"))
    assert f"Let CI retry a failing test up to {n} time" in lead
    said = (
        f"clears {percent(share)} (interval {percent(low).removesuffix(' %')}–{percent(high)}) of {curve['failures']:,}"
    )
    assert said in lead


def test_the_table_beside_the_curve_has_the_curves_own_shares(demo: Demo, reader: Client) -> None:
    curve = demo.api.read("reruns")["retries"]
    page = words_of(reader, demo.at("reruns"))
    for n in (1, 2, 5, curve["recommended"]):
        at = curve["n"].index(n)
        cleared = round(curve["share"][at] * curve["failures"])
        assert f"about {cleared:,}" in page
        assert f"{percent(curve['low'][at])} to {percent(curve['high'][at])}" in page


@pytest.fixture
def stubborn(demo: Demo) -> Demo:
    """The project, with its flaky tests among those that need something else."""
    flaky = [result["number"] for result in demo.api.read("tests?state=flaky")["results"]]
    summary = {**demo.analysis.summary, "retries": {**demo.analysis.summary["retries"], "exceptions": flaky}}
    Analysis.objects.filter(pk=demo.analysis.pk).update(summary=summary)
    return demo


def test_exceptions_are_the_apis(stubborn: Demo, reader: Client) -> None:
    demo = stubborn
    told = {result["number"]: result for result in demo.api.read("reruns?page_size=500")["results"]}
    rows = rows_of(reader, demo.at("reruns"))
    assert {row["number"] for row in rows} == told.keys() != set()
    for row in rows:
        one = told[row["number"]]
        assert (row["name"], row["to_get_past"]) == (one["name"], one["reruns"]["to_get_past"])
        assert (row["failed_again"], row["of_reruns"]) == (one["again"]["failed"], one["again"]["of"])
        assert row["advice"] == one["reruns"]["reasons"].get("to_get_past", "")


def test_exceptions_are_searched_and_sorted(stubborn: Demo, reader: Client) -> None:
    demo = stubborn
    rows = rows_of(reader, demo.at("reruns"))
    assert [row["failed"] for row in rows] == sorted((row["failed"] for row in rows), reverse=True)
    bursts = [row["longest_burst"] for row in rows_of(reader, demo.at("reruns"), sort="longest_burst")]
    assert bursts == sorted(bursts)
    name = rows[-1]["name"]
    assert name in [row["name"] for row in rows_of(reader, demo.at("reruns"), q=name[:200])]
    assert "No matching tests." in words_of(reader, demo.at("reruns"), q="no such test")


def test_bursts_stand_beside_the_published_ones(demo: Demo, reader: Client) -> None:
    bursts = demo.api.read("reruns")["bursts"]
    within = sum(n for length, n in zip(bursts["longest"], bursts["tests"], strict=True) if length <= 5)
    page = words_of(reader, demo.at("reruns"))
    assert f"{within} of {sum(bursts['tests'])}" in page
    assert "87.8 %" in page and "90.6 %" in page


def test_the_constants_of_other_tools_are_shown_for_what_they_exclude(demo: Demo, reader: Client) -> None:
    page = words_of(reader, demo.at("reruns"))
    for said in ("Harness 5 45.1 %", "Datadog 20 13.9 %", "Codecov 30 9.5 %", "Buildkite 100 3 %", "needs 299 clean"):
        assert said in page


def test_where_nothing_is_flaky_no_retries_are_recommended(demo: Demo, reader: Client) -> None:
    nothing = {"failures": 0, "recommended": None, "exceptions": []}
    summary = {**demo.analysis.summary, "retries": {**demo.analysis.summary["retries"], **nothing}}
    Analysis.objects.filter(pk=demo.analysis.pk).update(summary=summary)
    assert "No retries are needed" in words_of(reader, demo.at("reruns"))


def test_the_database_is_asked_as_often_for_one_as_for_all(stubborn: Demo, reader: Client) -> None:
    name = rows_of(reader, stubborn.at("reruns"))[0]["name"]
    assert queries_of(reader, stubborn.at("reruns")) == 6
    assert (
        queries_of(reader, stubborn.at("reruns"), q=name[:200]) == 8
    )  # how many tests there are, and those that match


def test_before_the_first_analysis(reader: Client) -> None:
    address = reverse("reruns", args=(new_project().slug,))
    assert "No analysis yet" in words_of(reader, address)
    assert rows_of(reader, address) == []


def test_what_running_again_takes_is_said_with_its_whole_and_beside_googles(demo: Demo, reader: Client) -> None:
    told = demo.api.read("reruns")["rerun_time"]
    assert told == demo.api.read("analyses/current")["summary"]["rerun_time"]
    assert 0 < told["share"] == (told["attempts"] + told["repeated"]) / told["total"] < 1
    page = words_of(reader, demo.at("reruns"))
    assert f"{percent(told['share'])} of all test time went to reruns" in page
    assert f"({told['repeated_runs']} of {told['runs']} runs), of {duration(told['total'])} in all." in page
    assert "Published: 2 % to 16 % at Google." in page


def test_without_durations_the_time_of_running_again_is_unknown(demo: Demo, reader: Client) -> None:
    unknown = {"attempts": 0, "repeated": 0, "total": 0, "share": None, "repeated_runs": 0, "runs": 3, "untimed": 3}
    analysis = Analysis.objects.get(project=demo.project, current=True)
    analysis.summary["rerun_time"] = unknown
    analysis.save(update_fields=("summary",))
    page = words_of(reader, demo.at("reruns"))
    assert "Time unknown: no report of the window says how long its tests took." in page
    assert "of the time of all tests" not in page
    assert demo.api.read("reruns")["rerun_time"] == unknown


def test_the_limit_of_retries_names_its_sources_and_yardsticks_stand_beside_our_numbers(
    demo: Demo, reader: Client
) -> None:
    page = words_of(reader, demo.at("reruns"))
    assert "At most 3 retries are advised for a CI setting: Lam et al. advise at most 5" in page
    states = demo.api.read("analyses/current")["summary"]["states"]
    ran = sum(states.values()) - states["unexecuted"]
    said = f"Flaky tests, of tests that ran {percent(states['flaky'] / ran)}{states['flaky']} of {ran} 0.86 % (Python)"
    assert said in page and "5.4 % (mean of 26 Java modules)" in page
