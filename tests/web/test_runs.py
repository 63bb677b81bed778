"""The list of runs: which build is red, and by whose fault?"""

import csv
import json
import re
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.columns.codec import Columns
from analytics.loaders import Filter
from analytics.models import IncidentDecision
from analytics.runs.ends import ends_of, with_ends
from analytics.services import analysis_refresh
from dashboard.web.analysis import page_analysis
from ingest.models import Project, Report, Run
from ingest.selectors import runs_of
from tests.conftest import PRODUCERS, Send, report_of
from tests.web.analysed_project import Demo
from tests.web.history import BEGAN, flaky_history, sent
from tests.web.test_pages import at, failing, passing, report, text_of


def rows_of(shown: str) -> list[int]:
    """Runs that the list links to, in its order."""
    return [int(pk) for pk in re.findall(r'<td class="fb-nowrap"><a href="/projects/\w+/runs/(\d+)"', shown)]


def ended(shown: str) -> list[str]:
    return re.findall(r"</svg> (passed|flaky only|regression|incident|failed|nothing ran)</span>", shown)


def test_runs_are_filtered_by_what_the_url_says(page: Client, send: Send) -> None:
    red = send(report(failing()), branch="main", commit="abc123", build_id="7").run_id
    green = send(report(passing()), branch="main", commit="def456", build_id="8").run_id
    topic = send(report(passing()), branch="topic", commit="abc999", build_id="9", pull_request="31").run_id
    asked = {
        (): [topic, green, red],
        (("branch", "main"),): [green, red],
        (("end", "red"),): [red],
        (("end", "passed"),): [topic, green],
        (("end", "red"), ("branch", "topic")): [],
        (("end", "flaky"),): [],
        (("q", "abc"),): [topic, red],
        (("q", "ABC9"),): [topic],
        (("q", "8"),): [green],
        (("q", "opi"),): [topic],
        (("q", "#31"),): [topic],
    }
    for query, expected in asked.items():
        assert rows_of(text_of(page, at("runs"), **dict(query))) == expected, query


def test_runs_of_one_build_stand_together_and_a_day_is_chosen(page: Client, send: Send) -> None:
    first = sent(send, 0, {}, "t", build_id="b-1", job="linux")
    other = sent(send, 1, {}, "t", build_id="b-2")
    second = sent(send, 26, {"t": "no"}, build_id="b-1", job="macos")
    shown = text_of(page, at("runs"))
    assert rows_of(shown) == [second.pk, first.pk, other.pk]
    assert "Build <bdi>b-1</bdi>" in shown and "2 runs, 1 failed" in shown
    assert "Build <bdi>b-2</bdi>" not in shown, "a run alone needs no heading"
    day = f"{second.placed_at:%Y-%m-%d}"
    assert rows_of(text_of(page, at("runs"), day=day)) == [second.pk]
    assert len(rows_of(text_of(page, at("runs"), day="9999-12-31"))) == 0
    assert len(rows_of(text_of(page, at("runs"), day="nonsense"))) == 3


def test_a_run_with_an_error_outside_its_tests_is_red(page: Client, send: Send) -> None:
    run = send((PRODUCERS / "pytest-collection-error-only.xml").read_bytes()).run_id
    shown = text_of(page, at("runs"), end="red")
    assert rows_of(shown) == [run]
    assert "outside the tests" in shown


def test_runs_end_by_what_the_analysis_knows(page: Client, project: Project, send: Send) -> None:
    flaky_history(send)
    analysis_refresh(project=project)
    later = sent(send, 20, {"flaky": "the cart is empty"}, "steady calm", branch="topic")
    worse = sent(send, 21, {"flaky": "the cart is empty", "steady": "no"}, "calm", branch="topic")
    shown = text_of(page, at("runs"))
    assert ended(shown)[:2] == ["regression", "flaky only"]
    assert Counter(ended(shown)) == {"regression": 1, "flaky only": 3, "passed": 10}
    assert rows_of(text_of(page, at("runs"), end="flaky"))[0] == later.pk
    assert rows_of(text_of(page, at("runs"), end="regression")) == [worse.pk]


MANY = [f"t{number:02}" for number in range(24)]


def bulk(send: Send, hour: int) -> Run:
    """Of a commit at which all of them passed before: no change explains it."""
    return sent(send, hour, dict.fromkeys(MANY, "no answer"), "steady calm", commit="0005" + "c" * 36)


def lead_of(page: Client, run: Run) -> str:
    return " ".join(re.search(r'class="fb-lead[^>]*>(.*?)</p>', text_of(page, at("run", run.pk)), re.S)[1].split())


@pytest.fixture
def before_bulk(project: Project, send: Send) -> None:
    for hour in range(6):
        sent(send, hour, {}, " ".join(["steady calm", *MANY]))
    analysis_refresh(project=project)


def test_a_bulk_of_failures_is_an_incident_in_the_list_as_on_its_page_before_and_after_the_analysis(
    page: Client, project: Project, send: Send, before_bulk: None
) -> None:
    few = sent(send, 19, dict.fromkeys(MANY[:9], "no answer"), " ".join(MANY[9:]), branch="topic")
    run = bulk(send, 20)
    after = sent(send, 21, dict.fromkeys(MANY[:3], "no answer"), branch="topic")
    for analysed in (False, True):
        assert ("look like an" in lead_of(page, run)) is not analysed
        assert "infrastructure incident" in lead_of(page, run) and "need you" in lead_of(page, few)
        later = "broken" if "broken on main before" in lead_of(page, after) else "regression"
        ends = {after.pk: later, run.pk: "incident", few.pk: "regression"}
        exported = page.get(at("runs"), {"format": "csv"}).getvalue().decode().splitlines()
        told = {int(row["run"]): row["end"] for row in csv.DictReader(exported)}
        assert {pk: told[pk] for pk in ends} == ends, analysed
        for end in ("incident", "regression", "broken"):
            assert rows_of(text_of(page, at("runs"), end=end)) == [pk for pk in ends if ends[pk] == end], analysed
        analysis_refresh(project=project)


def test_a_bulk_that_somebody_rejected_as_an_incident_is_a_regression_in_the_list_too(
    page: Client, project: Project, send: Send, before_bulk: None
) -> None:
    run = bulk(send, 20)
    IncidentDecision.objects.create(
        project=project, report=Report.objects.get(run=run), word=IncidentDecision.Word.REJECTED
    )
    assert "need you" in lead_of(page, run)
    assert ended(text_of(page, at("runs")))[0] == "regression"


def test_what_came_to_a_run_after_its_analysis_counts(page: Client, project: Project, send: Send) -> None:
    """A second upload of a run, with a bulk of failures, that the analysis has not seen."""
    for hour in range(6):
        sent(send, hour, {}, " ".join(["steady calm", *MANY]))
    run = sent(send, 20, {"steady": "no"}, "calm", commit="0005" + "c" * 36)
    analysis_refresh(project=project)
    assert ended(text_of(page, at("runs")))[0] == "flaky only", "it passed at this commit before"
    assert bulk(send, 20).pk == run.pk
    assert "infrastructure incident" in lead_of(page, run)
    assert ended(text_of(page, at("runs")))[0] == "incident"


@pytest.mark.parametrize("broken", [False, True], ids=["never before", "on main before"])
def test_results_that_the_analysis_leaves_out_were_not_broken_before_for_that(
    page: Client, project: Project, send: Send, *, broken: bool
) -> None:
    """Two results of one name, of which nobody says whether they are attempts: in list and page alike."""
    for hour in range(4):
        sent(send, hour, {"calm": "no"} if broken else {}, "steady" if broken else "steady calm")
    twice = report(failing("calm"), passing("calm"), passing("steady"))
    began = BEGAN + timedelta(hours=20)
    run = Run.objects.get(pk=send(twice, build_id="twice", branch="topic", commit="e" * 40, started_at=began).run_id)
    analysis_refresh(project=project)
    assert ("was broken on main before" in lead_of(page, run)) is broken
    assert ("needs you" in lead_of(page, run)) is not broken
    assert rows_of(text_of(page, at("runs"), end="broken" if broken else "regression"))[0] == run.pk


def test_a_failure_that_a_retry_cleared_does_not_make_a_run_red(page: Client, send: Send) -> None:
    stored = report_of(send((PRODUCERS / "surefire-rerun-flaky.xml").read_bytes()))
    assert ended(text_of(page, at("runs"))) == ["failed" if stored.failed + stored.errored else "passed"]


def test_runs_older_than_the_window_are_not_judged(page: Client, project: Project, send: Send) -> None:
    flaky_history(send)
    analysis_refresh(project=project, chosen=Filter(reports=4))
    assert Counter(ended(text_of(page, at("runs")))) == {"passed": 10, "failed": 2}
    assert len(rows_of(text_of(page, at("runs"), end="failed"))) == 2


def test_ends_are_those_of_the_kernel(demo: Demo) -> None:
    now = page_analysis(demo.project)
    ends = Counter(run.end for run in with_ends(runs_of(demo.project.pk), now.analysis, now.columns))
    expected = {name: demo.analysis.summary["runs"][name] for name in ("passed", "flaky", "regression", "incident")}
    assert {name: ends[name] for name in expected} == expected
    assert sum(ends.values()) == demo.analysis.summary["runs"]["total"]
    assert expected["flaky"] and expected["regression"] and expected["incident"]


def test_of_a_page_of_runs_the_database_is_told_of_these_alone(demo: Demo) -> None:
    now = page_analysis(demo.project)
    every = dict(with_ends(runs_of(demo.project.pk), now.analysis, now.columns).values_list("pk", "end"))
    red = [run for run in runs_of(demo.project.pk) if every[run.pk] != "passed"]
    assert len(red) > 6
    with CaptureQueriesContext(connection) as queries:
        ends = ends_of(red[:3], now.analysis, now.columns)
    assert ends == {run.pk: every[run.pk] for run in red[:3]}
    arrays = re.findall(r"ANY\(ARRAY\[([0-9, ]+)\]", "".join(query["sql"] for query in queries))
    assert sorted(int(number) for array in arrays for number in array.split(",")) == sorted(ends)


def test_the_first_sentence_has_the_numbers_of_the_api(demo: Demo, reader: Client) -> None:
    told = demo.api.read("analyses/current")["summary"]["runs"]
    shown = text_of(reader, demo.at("runs"))
    assert f"{told['flaky']} by flakiness alone" in shown
    assert f"{told['regression']} failed by a regression" in shown
    assert len(rows_of(text_of(reader, demo.at("runs"), end="incident"))) == told["incident"]


def test_a_run_without_reports_says_so(page: Client, send: Send) -> None:
    Report.objects.filter(run=sent(send, 0, {"t": "no"})).delete()
    assert "its report is gone" in text_of(page, at("runs"))


def test_the_whole_filtered_list_is_exported(page: Client, send: Send) -> None:
    for hour in range(60):
        sent(send, hour, {"t": "no"} if hour % 2 else {}, "u", job="=cmd")
    answer = page.get(at("runs"), {"end": "red", "format": "csv"}).getvalue().decode()
    rows = list(csv.DictReader(answer.splitlines()))
    assert len(rows) == 30
    assert {(row["end"], row["failed"], row["job"]) for row in rows} == {("failed", "1", "'=cmd")}
    assert len(json.loads(page.get(at("runs"), {"format": "json"}).getvalue())) == 60


@pytest.mark.parametrize("runs", [2, 10])
def test_queries_do_not_grow_with_runs(page: Client, project: Project, send: Send, runs: int) -> None:
    flaky_history(send)
    for hour in range(20, 20 + runs):
        sent(send, hour, {"steady": "no", "flaky": "the cart is empty"} if hour % 2 else {}, "calm")
    analysis_refresh(project=project)
    text_of(page, at("runs"))
    with CaptureQueriesContext(connection) as queries:
        text_of(page, at("runs"))
    assert len(queries) == 11, [query["sql"][:90] for query in queries]


def test_no_analysis_and_no_column_judge_nothing(project: Project, send: Send) -> None:
    sent(send, 0, {"t": "no"})
    sent(send, 1, {}, "t")
    ends = [run.end for run in with_ends(runs_of(project.pk), None, Columns(b""))]
    assert ends == ["passed", "failed"]
