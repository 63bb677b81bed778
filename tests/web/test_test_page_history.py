"""The page of one test, of histories made for one question each."""

import csv
import json
from datetime import timedelta

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from analytics.history.evidence import failing_streak
from analytics.history.executions import counted, history_of
from analytics.services import analysis_refresh
from dashboard.web.test.trends import DAY, WEEK, periods
from ingest.models import Failure, Project, Report, Test
from tests.conftest import Send
from tests.web.reading import answer, queries, words
from tests.web.test_pages import at, failing, passing, report, text_of


def test_a_test_that_left_the_window_says_when_it_was_seen_last(page: Client, project: Project, send: Send) -> None:
    now = timezone.now()
    send(report(passing("gone")), build_id="1", started_at=now - timedelta(days=200))
    send(report(passing("here")), build_id="2", started_at=now)
    analysis_refresh(project=project)
    said = answer(page, at("test", Test.objects.get(name="gone").number))
    assert said.startswith("Not in the window: no report since")
    assert "speaks of it" in said


def test_a_test_whose_reports_are_gone_says_so(page: Client, project: Project, send: Send) -> None:
    send(report(failing("t")), build_id="1")
    Report.objects.all().delete()
    address = at("test", Test.objects.get().number)
    assert answer(page, address) == "No report that is still kept speaks of it."
    analysis_refresh(project=project)
    assert answer(page, address).startswith("Not in the window: no report that is still kept")


def test_few_passes_are_not_called_stable(page: Client, project: Project, send: Send) -> None:
    for build in range(3):
        send(report(passing("t")), build_id=str(build))
    analysis_refresh(project=project)
    assert "too few to say more than that it fails less than 70.8 %" in answer(page, at("test", 0))


def test_a_retry_that_passes_is_seen_in_the_strip_and_counts_as_a_failure(
    page: Client, project: Project, send: Send
) -> None:
    flaky = "<testcase classname='c' name='t' time='1'><flakyFailure message='no'>no</flakyFailure></testcase>"
    send(report(flaky), build_id="1")
    send(report(passing()), build_id="2")
    analysis_refresh(project=project)
    response = page.get(at("test", 0))
    said = words(response.content.decode())
    assert "failed 1 of 2 runs (" in said and "failed 1 of 3, retries counted" in said
    (strip,) = response.context["strips"]
    assert [mark.shape for mark in strip.marks] == ["flaky", "pass"], "the newest is last"
    assert (strip.rate.hits, strip.rate.total) == (1, 2), "of runs, as the headline"


# -- what is asked for -------------------------------------------------------------------------------------------


@pytest.fixture
def two_places(project: Project, send: Send) -> Project:
    now = timezone.now()
    for build in range(12):
        linux, main = build % 2 == 0, build % 3 != 0
        case = failing() if linux and build % 4 == 0 else passing()
        send(
            report(case),
            build_id=str(build),
            commit=f"{build:040}",
            branch="main" if main else "=evil()",
            environment={"os": "linux" if linux else "windows"},
            started_at=now - timedelta(days=build),
        )
    analysis_refresh(project=project)
    return project


FILTERS: list[tuple[dict[str, str], int]] = [
    ({}, 12),
    ({"environment": "os=linux"}, 6),
    ({"branch": "default"}, 8),
    ({"branch": "other", "environment": "os=linux"}, 2),
    ({"environment": "os=plan9", "branch": "<script>", "by": "'", "page": "-1"}, 12),
]
"""What is asked for, and how many executions that is."""


def test_filters_in_the_address_choose_strip_trend_table_and_export(page: Client, two_places: Project) -> None:
    for query, expected in FILTERS:
        context = page.get(at("test", 0), query).context
        assert len(context["lines"]) == expected, query
        assert sum(len(strip.marks) for strip in context["strips"]) == expected, query
        assert sum(int(row[2]) for row in context["trend"].table.rows) == expected, query
        export = b"".join(page.get(at("test", 0), query | {"format": "json"}).streaming_content)
        assert len(json.loads(export)) == expected, query


def test_the_export_has_every_execution_with_its_run(page: Client, two_places: Project) -> None:
    response = page.get(at("test", 0), {"format": "csv", "page": "9"})
    rows = list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))
    assert len(rows) == 12
    assert {row["verdict"] for row in rows} == {"pass", "fail"}
    assert {row["branch"] for row in rows} == {"main", "'=evil()"}
    assert rows[0]["environment"] == "os=linux"


def test_the_table_has_pages_and_the_strip_has_an_end(page: Client, project: Project, send: Send) -> None:
    for build in range(40):
        send(report(passing()), build_id=str(build))
    first, second = page.get(at("test", 0)), page.get(at("test", 0), {"page": "2"})
    assert (len(first.context["lines"]), len(second.context["lines"])) == (30, 10)
    assert "No such page" in text_of(page, at("test", 0), page="3")


def test_where_all_failures_are_in_one_environment_the_sentence_says_so(page: Client, two_places: Project) -> None:
    assert "failed 3 of 12 runs" in answer(page, at("test", 0))
    assert "only in os=linux" in answer(page, at("test", 0))


def test_a_long_history_is_shown_by_week_and_a_short_one_by_day() -> None:
    assert periods(np.array([20_000, 20_010]), "").unit == DAY
    assert periods(np.array([20_000, 20_100]), "").unit == WEEK
    assert periods(np.array([0, 20_000]), DAY).count == 120
    assert periods(np.array([], dtype=np.int64), "").count == 0


def test_weeks_begin_on_monday() -> None:
    assert {date.weekday() for date in periods(np.arange(20_000, 20_100), WEEK).dates} == {0}


def test_the_streak_ends_at_the_last_pass_on_the_default_branch(project: Project, send: Send) -> None:
    now = timezone.now()
    for build, (branch, case) in enumerate(
        [("main", failing()), ("main", passing()), ("main", failing()), ("topic", passing()), ("main", failing())]
    ):
        send(report(case), build_id=str(build), branch=branch, started_at=now + timedelta(minutes=build))
    history = history_of(project, Test.objects.get(), None)
    streak = failing_streak(history, counted(history), history.everything)
    assert streak is not None
    assert (streak.failures, streak.first, streak.last_pass) == (2, 2, 3)


def test_what_failures_said_is_shown_as_text_and_kept_short(page: Client, project: Project, send: Send) -> None:
    shout = "<script>alert(1)</script>\x1b[31mred\x1b[0m"
    send(report(failing("t", "no", "<script>alert(1)</script> #x1B[31mred#x1B[0m")), build_id="1", commit="c")
    send(report(failing("t", "another", "y" * 100_000)), build_id="2", commit="c")
    send(report(passing("t")), build_id="3", commit="c")
    analysis_refresh(project=project)
    html = text_of(page, at("test", 0))
    assert shout not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "[31m" not in html
    assert "left out here to keep this page small" in html
    assert Failure.objects.count() == 2


def test_queries_do_not_grow_with_the_history(page: Client, project: Project, send: Send) -> None:
    def grow(builds: range) -> None:
        for build in builds:
            case = failing("t", f"message {'x' * (build % 4)}") if build % 3 == 0 else passing()
            send(
                report(case, *(passing(f"o{n}") for n in range(build % 2))), build_id=str(build), commit=str(build // 6)
            )
        analysis_refresh(project=project)

    grow(range(6))
    few = queries(page, at("test", 0))
    grow(range(6, 24))
    assert queries(page, at("test", 0)) == few
    assert few <= 41
