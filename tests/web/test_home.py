"""Home: which project needs me?"""

import json
import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.models import IncidentDecision
from analytics.services import analysis_refresh
from ingest.models import Project, Report
from ingest.services import project_create
from tests.conftest import Send
from tests.web.analysed_project import Demo

COST = 7
"""Session and user; projects, uploads, runs, analyses, incidents."""


def read(client: Client) -> str:
    response = client.get("/")
    assert response.status_code == 200
    return response.content.decode()


def words(shown: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())


def test_the_project_that_flakiness_hurts_most_is_named_first(demo: Demo, reader: Client, send: Send) -> None:
    calm = Project.objects.get(slug="shop")
    send(b"<testsuite><testcase name='a'/></testsuite>")
    analysis_refresh(project=calm)
    shown = read(reader)
    runs = demo.api.read("analyses/current")["analysis"]["runs"]
    share = f"{runs['flaky'] / runs['total'] * 100:.1f}".removesuffix(".0")
    assert f"Simulated needs you most: flaky tests failed {share} % of its {runs['total']} runs" in words(shown)
    assert re.findall(r'class="fb-name" href="/projects/([\w-]+)/"', shown) == ["sim", "shop"]


def test_a_row_counts_what_the_analysis_says(demo: Demo, reader: Client) -> None:
    states = demo.analysis.summary["states"]
    shown = read(reader)
    assert f'href="{demo.at("tests")}?state=flaky">{states["flaky"]}</a>' in shown
    assert f'href="{demo.at("incidents")}">{demo.analysis.summary["incidents"]}</a>' in shown
    assert 'class="fb-spark"' in shown


def test_a_decided_incident_is_no_longer_open(demo: Demo, reader: Client) -> None:
    for report in Report.objects.filter(incidentfinding__analysis=demo.analysis):
        IncidentDecision.objects.create(project=demo.project, report=report, word="rejected")
    shown = read(reader)
    assert f'href="{demo.at("incidents")}"' not in shown
    assert "open." not in words(shown)


@pytest.fixture
def alone(project: Project) -> Project:
    """The only project."""
    Project.objects.exclude(pk=project.pk).delete()
    return project


def test_projects_without_an_analysis_say_so_and_the_demo_is_offered(page: Client, alone: Project) -> None:
    shown = words(read(page))
    assert "no analysis yet" in shown
    assert "send the first results" in shown
    assert "Load the demo" in shown


def test_nobody_is_needed_where_nothing_failed(page: Client, alone: Project, send: Send) -> None:
    send(b"<testsuite><testcase name='a'/></testsuite>")
    analysis_refresh(project=alone)
    shown = words(read(page))
    assert "No project needs you" in shown
    assert "See it with data first" not in shown
    assert "load the demo" in shown, "quietly, as long as there is none"


def test_where_there_is_a_demo_none_is_offered(page: Client, alone: Project) -> None:
    Project.objects.filter(pk=alone.pk).update(demo=True)
    shown = words(read(page))
    assert "load the demo" not in shown


def test_the_list_is_exported(demo: Demo, reader: Client) -> None:
    rows = json.loads(b"".join(reader.get("/", {"format": "json"}).streaming_content))
    (row,) = [one for one in rows if one["project"] == "sim"]
    assert row["flaky_tests"] == demo.analysis.summary["states"]["flaky"]
    assert row["flaky_runs"] == demo.analysis.summary["runs"]["flaky"]


@pytest.mark.parametrize("more", [1, 20])
def test_queries_do_not_grow_with_projects(demo: Demo, reader: Client, send: Send, more: int) -> None:
    for number in range(more):
        other = project_create(slug=f"p{number}", name=f"P{number}")
        send(b"<testsuite><testcase name='a'/></testsuite>", to=other)
        analysis_refresh(project=other)
    with CaptureQueriesContext(connection) as queries:
        shown = read(reader)
    assert shown.count('<th scope="row"') == more + 2
    assert len(queries) == COST, [query["sql"][:80] for query in queries]
