"""Home: which project needs me?"""

import json
import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.models import IncidentDecision
from analytics.services import analysis_refresh
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.services import Terms, quarantine_create
from dashboard.quarantine.states import Action
from ingest.models import Project, Report, Test
from ingest.services import project_create
from tests.conftest import Send
from tests.web.analysed_project import Demo
from tests.web.quarantining import ANNA

COST = 9
"""Session and user; projects, rates, incidents; uploads, runs, analyses and quarantines of those on the page."""


def read(client: Client, **query: str) -> str:
    response = client.get("/", query)
    assert response.status_code == 200
    return response.content.decode()


def words(shown: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())


def slugs(shown: str) -> list[str]:
    """The projects that are listed."""
    return re.findall(r'class="fb-name" href="/projects/([\w-]+)/"', shown)


def test_the_project_that_flakiness_hurts_most_is_named_first(demo: Demo, reader: Client, send: Send) -> None:
    calm = Project.objects.get(slug="shop")
    send(b"<testsuite><testcase name='a'/></testsuite>")
    analysis_refresh(project=calm)
    shown = read(reader)
    runs = demo.api.read("analyses/current")["analysis"]["runs"]
    share = f"{runs['flaky'] / runs['total'] * 100:.1f}".removesuffix(".0")
    assert f"Simulated needs you most: flaky tests failed {share} % of its {runs['total']} runs" in words(shown)
    assert slugs(shown) == ["sim", "shop"]


def test_a_row_counts_what_the_analysis_says(demo: Demo, reader: Client) -> None:
    states = demo.analysis.summary["states"]
    shown = read(reader)
    assert f'href="{demo.at("tests")}?state=flaky">{states["flaky"]}</a>' in shown
    assert f'href="{demo.at("incidents")}">{demo.analysis.summary["incidents"]}</a>' in shown
    assert 'class="fb-spark"' in shown


def test_a_row_counts_the_tests_that_are_quarantined_now(demo: Demo, reader: Client) -> None:
    tests = list(Test.objects.filter(project=demo.project, alias_of=None)[:4])
    for some, action in ((tests[:2], Action.QUARANTINE), (tests[2:3], Action.QUARANTINE), (tests[3:], Action.PROPOSE)):
        quarantine_create(project=demo.project, tests=some, actor=ANNA, terms=Terms(), action=action)
    assert f'href="{demo.at("quarantines")}">3</a>' in read(reader)
    Quarantine.objects.filter(members__test=tests[2]).update(expires_at=timezone.now())
    assert f'href="{demo.at("quarantines")}">2</a>' in read(reader), "one has expired"


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


@pytest.fixture
def many(demo: Demo) -> Demo:
    """120 projects beside the one that needs somebody."""
    rest = [
        Project(slug=f"{kind}-{number:03}", name=f"{kind.title()} {number:03}") for kind in KINDS for number in ROWS
    ]
    Project.objects.exclude(pk=demo.project.pk).delete()
    Project.objects.bulk_create(rest)
    return demo


KINDS, ROWS = ("api", "web"), range(60)


def test_many_projects_come_page_by_page_each_once(many: Demo, reader: Client) -> None:
    pages = [read(reader, page=str(number)) for number in (1, 2, 3)]
    expected = ["sim", *(f"{kind}-{number:03}" for kind in KINDS for number in ROWS)]
    assert [len(slugs(page)) for page in pages] == [50, 50, 21]
    assert [slug for page in pages for slug in slugs(page)] == expected
    assert all("Simulated needs you most" in words(page) for page in pages)
    assert "51 to 100 of 121" in words(pages[1])


def test_projects_are_found_by_name(many: Demo, reader: Client) -> None:
    shown = read(reader, q="WEB 00")
    assert slugs(shown) == [f"web-{number:03}" for number in range(10)]
    assert slugs(read(reader, q="web", page="2")) == [f"web-{number:03}" for number in range(50, 60)]
    rows = json.loads(b"".join(reader.get("/", {"format": "json", "q": "web"}).streaming_content))
    assert [row["project"] for row in rows] == [f"web-{number:03}" for number in ROWS]
    nothing = words(read(reader, q="none is called so"))
    assert "No matching projects. Show all" in nothing
    assert "Create your first project" not in nothing


def test_a_page_costs_the_same_among_many(many: Demo, reader: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        read(reader)
    assert len(queries) == COST, [query["sql"][:80] for query in queries]


@pytest.mark.parametrize("more", [1, 5])
def test_queries_do_not_grow_with_projects(demo: Demo, reader: Client, send: Send, more: int) -> None:
    for number in range(more):
        other = project_create(slug=f"p{number}", name=f"P{number}")
        send(b"<testsuite><testcase name='a'/></testsuite>", to=other)
        analysis_refresh(project=other)
    with CaptureQueriesContext(connection) as queries:
        shown = read(reader)
    assert shown.count('<th scope="row"') == more + 2
    assert len(queries) == COST, [query["sql"][:80] for query in queries]
