"""Trends: is it better than last month, and of which team is that true? The page, its files, its lists and the API agree."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.people.members import member_add
from dashboard.people.models import Role
from dashboard.quarantine.owners.rules import Pattern
from dashboard.quarantine.owners.store import owner_patterns_set
from ingest.models import Project, Test
from tests.dashboard.openapi import Schema
from tests.people.signed_in import browser_of
from tests.web.analysed_project import Demo
from tests.web.listing import queries_of, rows_of, table_of, words_of


@pytest.fixture
def owned(demo: Demo) -> Demo:
    """The simulated project, whose suites belong to two teams in turn."""
    classes = sorted(set(Test.objects.filter(project=demo.project).values_list("classname", flat=True)))
    patterns = [Pattern("classname", name, f"@team-{place % 2}") for place, name in enumerate(classes)]
    owner_patterns_set(project=demo.project, patterns=patterns)
    return demo


def test_periods_add_up_to_what_the_analysis_says(demo: Demo) -> None:
    body = demo.api.read("trends")
    Schema().check("trends_retrieve", 200, body)
    runs, summary = demo.analysis.summary["runs"], demo.analysis.summary
    for name, count in (("runs", runs["total"]), ("flaky", runs["flaky"]), ("saved", summary["blocked"]["masked"])):
        assert sum(period[name] for period in body["periods"]) == count
    again = summary["rerun_time"]
    seconds = sum(period["rerun_seconds"] for period in body["periods"])
    assert seconds == pytest.approx(again["attempts"] + again["repeated"], rel=1e-4)
    assert body["periods"][-1]["stock"] == summary["states"]["flaky"]
    by_month = demo.api.read("trends?by=month")["periods"]
    assert sum(period["flaky"] for period in by_month) == runs["flaky"] and by_month[0]["title"] == "2026-01"


def test_files_of_charts_have_the_apis_numbers(demo: Demo, reader: Client) -> None:
    periods = demo.api.read("trends")["periods"]
    rows = table_of(reader, demo.at("trends"), chart="flaky-runs")
    told = [(row["period"], int(row["runs"]), int(row["failed_by_flakiness"])) for row in rows]
    assert told == [(period["title"], period["runs"], period["flaky"]) for period in periods]
    assert float(rows[0]["low"]) == pytest.approx(periods[0]["flaky_rate"]["low"])
    tests = rows_of(reader, demo.at("trends"), chart="flaky-tests")
    assert [row["stock"] for row in tests] == [period["stock"] for period in periods]


@pytest.mark.parametrize("what", ["flaky", "blocked", "new", "fixed", "stock"])
def test_a_point_lists_what_it_counts(demo: Demo, reader: Client, what: str) -> None:
    for period in demo.api.read("trends")["periods"]:
        days = {"from": period["first"], "to": period["last"]}
        assert len(rows_of(reader, demo.at("trend_points", what), **days)) == period[what]


def test_a_share_has_one_interval_on_the_page(demo: Demo, reader: Client) -> None:
    page = reader.get(demo.at("trends"), {"compare": "range"})
    shares = {line.title: line.after for line, *_ in page.context["compared_lines"]}
    yardsticks = {row.what: row.here for row in page.context["yardsticks"]}
    assert yardsticks["Failed by flakiness, of all runs"] == shares["Runs failed by flakiness"]


def test_every_point_of_a_chart_leads_to_its_list(demo: Demo, reader: Client) -> None:
    page = reader.get(demo.at("trends"))
    figures = {chart.id: chart.chart.figure for chart in page.context["charts"] if chart.chart.figure}
    assert {"flaky-runs", "flaky-tests", "blocked-runs"} <= figures.keys()
    for name in ("flaky-runs", "flaky-tests"):
        for trace in figures[name]["data"]:
            for address, count in zip(trace["customdata"], trace["y"], strict=True):
                listed = reader.get(address)
                assert listed.status_code == 200
                if name == "flaky-tests":
                    assert listed.context["total"] == count


# -- teams -------------------------------------------------------------------------------------------------------


def test_teams_share_the_runs_that_both_failed(owned: Demo, reader: Client) -> None:
    whole = owned.api.read("trends?compare=range")
    teams = {row["owner"]: row["this"] for row in whole["teams"]}
    assert teams.keys() == {"@team-0", "@team-1"}
    both = {team: owned.api.read(f"trends?compare=range&owner={team}")["comparison"]["this"] for team in teams}
    assert both == teams, "a filter by owner and the table by owner say the same"
    flaky = whole["comparison"]["this"]["flaky"]
    assert max(team["flaky"] for team in teams.values()) < flaky < sum(team["flaky"] for team in teams.values())
    assert sum(team["stock"] for team in teams.values()) == whole["comparison"]["this"]["stock"]
    page = words_of(reader, reverse("team", args=("@TEAM-0",)), compare="range")
    assert f"{teams['@team-0']['flaky']} of {teams['@team-0']['runs']}" in page


def test_filters_by_branch_and_environment_choose_runs(demo: Demo) -> None:
    every = demo.api.read("trends?compare=range")["comparison"]["this"]
    parts = [
        demo.api.read(f"trends?compare=range&environment={name}")["comparison"]["this"]
        for name in ("linux", "macos", "windows")
    ]
    assert sum(part["runs"] for part in parts) == every["runs"] and 0 < parts[0]["runs"] < every["runs"]
    lines = [
        demo.api.read(f"trends?compare=range&branch={name}")["comparison"]["this"] for name in ("~default", "~pulls")
    ]
    assert sum(line["runs"] for line in lines) == every["runs"]
    assert demo.api.read("trends?branch=nosuch")["comparison"]["this"]["runs"] == 0


def test_a_reader_counts_only_the_projects_that_they_may_see(owned: Demo, reader: Client) -> None:
    stranger = browser_of(User.objects.create_user("sam", password="a-long-password"))
    names = [
        reverse("instance_trends"),
        reverse("team", args=("@team-0",)),
        reverse("instance_trend_points", args=("flaky",)),
    ]
    for address in names:
        assert owned.project.name in words_of(reader, address)
        assert owned.project.name not in words_of(stranger, address), address
    unknown, hidden = (words_of(stranger, reverse("team", args=(name,))) for name in ("@nobody", "@team-0"))
    assert hidden.replace("@team-0", "@nobody") == unknown, "nothing tells a hidden team from none"
    member = User.objects.create_user("mia", password="a-long-password")
    member_add(project=owned.project, user=member, role=Role.VIEWER)
    assert owned.project.name in words_of(browser_of(member), reverse("team", args=("@team-0",)))


def test_pages_ask_the_database_as_often_for_many_teams_and_projects(owned: Demo, reader: Client) -> None:
    assert queries_of(reader, owned.at("trends")) <= 16
    few = queries_of(reader, reverse("instance_trends"))
    for place in range(3):
        Project.objects.create(slug=f"more-{place}", name=f"More {place}")
    assert queries_of(reader, reverse("instance_trends")) == few <= 12


def test_before_the_first_analysis_the_page_says_what_to_do(page: Client, project: Project) -> None:
    stranger = browser_of(User.objects.create_user("sam", password="a-long-password"))
    assert "Trends are counted with every analysis" in words_of(page, reverse("trends", args=(project.slug,)))
    assert "No project that you may see has been analysed yet" in words_of(stranger, reverse("instance_trends"))
    assert page.get(reverse("trend_points", args=(project.slug, "nonsense"))).status_code == 404
