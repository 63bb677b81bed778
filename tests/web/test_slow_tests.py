"""Slow tests: what makes the suite long, what became slower, what a build waits for."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analytics.models import Analysis
from analytics.services import analysis_refresh
from analytics.slow.timed_tests import TimedTests
from dashboard.web.insights.slow_tests import DurationChange, slow_lead
from ingest.identity import TestName
from ingest.models import Project, Run, Test
from tests.api_client import Program
from tests.conftest import Send
from tests.dashboard.openapi import Schema
from tests.web.analysed_project import Demo
from tests.web.history import BEGAN
from tests.web.listing import queries_of, rows_of, words_of


def suite(seconds: dict[str, float]) -> bytes:
    cases = "".join(f"<testcase classname='shop.cart' name='{name}' time='{time}'/>" for name, time in seconds.items())
    return f"<testsuites><testsuite name='pytest'>{cases}</testsuite></testsuites>".encode()


def durations(run: int, slow_from: int) -> dict[str, float]:
    """Twelve tests that take a second and a bit; `crawls` takes twice as long from a run on."""
    jitter = [0.0, 0.02, 0.05, 0.01, 0.04][run % 5]
    times = {f"walks_{place:02}": 1 + place / 10 + jitter for place in range(12)}
    return {**times, "crawls": (4.0 if run >= slow_from else 2.0) + jitter}


@pytest.fixture
def slowed(project: Project, send: Send) -> Project:
    for run in range(40):
        metadata = {"commit": f"{run:040d}", "branch": "main", "build_id": f"b{run}", "job": "unit"}
        send(suite(durations(run, 25)), started_at=BEGAN.replace(day=1 + run // 2, hour=run % 2), **metadata)
    analysis_refresh(project=project)
    return project


def test_a_test_that_became_slower_is_told_with_the_run(slowed: Project, page: Client) -> None:
    number = Test.objects.get(project=slowed, name="crawls").number
    change = page.get(reverse("slow_tests", args=(slowed.slug,))).context["changes"]
    assert [(row.name.number, row.slower) for row in change] == [(number, True)]
    assert Run.objects.get(pk=change[0].run).build_id == "b25" and change[0].ratio == pytest.approx(2, rel=0.02)
    words = words_of(page, reverse("slow_tests", args=(slowed.slug,)))
    assert "1 test became slower." in words and "▴ slower" in words
    shift = change[0].words.partition(" (")[0]
    assert words.count(shift) == 2, "both tables write the same ratio alike"


def test_the_longest_shard_is_what_a_build_waits_for(project: Project, send: Send, page: Client) -> None:
    for build in range(3):
        for shard, seconds in (("1/2", 30.0), ("2/2", 10.0)):
            send(suite({f"test_{shard[0]}": seconds}), build_id=f"b{build}", job="unit", shard=shard, branch="main")
        send(suite({"test_1": 50.0}), build_id=f"b{build}", job="unit", shard="1/2", attempt=2, branch="main")
    analysis_refresh(project=project)
    paths = Analysis.objects.get(project=project).summary["slow"]["paths"]
    assert (paths["kind"], paths["builds"], paths["usual"], paths["often"]) == ("shards", 3, "shard 1/2", 3)
    assert paths["longest"] == pytest.approx(50, rel=0.01) and paths["even"] == pytest.approx(30, rel=0.01)
    assert "Most often it is shard 1/2, in 3 of 3." in words_of(page, reverse("slow_tests", args=(project.slug,)))


def test_page_file_and_api_say_the_same(demo: Demo, reader: Client) -> None:
    body = demo.api.read("slow-tests?page_size=500")
    Schema().check("slow_tests_list", 200, body)
    rows = rows_of(reader, demo.at("slow_tests"))
    assert [row["number"] for row in rows] == [result["number"] for result in body["results"]] != []
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert sum(suite["seconds"] for suite in body["suites"]) == pytest.approx(sum(row["total_seconds"] for row in rows))
    assert rows == sorted(rows, key=lambda row: -row["total_seconds"])
    assert body["paths"]["kind"] == "jobs"
    fewer = rows_of(reader, demo.at("slow_tests"), q=rows[0]["class"])
    assert 0 < len(fewer) < len(rows) and fewer[0]["share"] == rows[0]["share"], "the whole stays the whole"
    assert queries_of(reader, demo.at("slow_tests")) <= 11


def test_before_the_first_analysis_nothing_is_known(page: Client, project: Project, read_token: str) -> None:
    assert "An analysis says which tests take the time" in words_of(page, reverse("slow_tests", args=(project.slug,)))
    body = Program(read_token, project.slug).read("slow-tests")
    assert (body["results"], body["changes"], body["paths"]) == ([], [], None)


@pytest.mark.parametrize(
    ("tested", "ratios", "words"),
    [
        (0, (), "is not known"),
        (3, (), "Of the 3 that take the most time none became clearly slower."),
        (3, (0.5,), "none became clearly slower."),
        (3, (1.5, 0.5), "1 test</strong></a> became slower."),
    ],
)
def test_the_first_sentence_says_whether_any_became_slower(tested: int, ratios: tuple[float, ...], words: str) -> None:
    tests = TimedTests(np.array([1, 2, 3]), np.array([6.0, 3.0, 1.0]), np.array([10, 10, 10]), 100.0)
    changes = [DurationChange(TestName(1), None, None, 1.0, 2.0, ratio, 0.4, 2.0, 0.01) for ratio in ratios]
    lead = slow_lead(tests, {"run_seconds": 75.0, "tested": tested}, changes)
    assert words in lead and "1 of 3 tests takes 60 % of it." in lead and "1.25 min" in lead
