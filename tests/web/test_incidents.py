"""Incidents: was it us or the machines? And a person's word on it."""

import pytest
from django.test import Client
from django.urls import reverse

from analytics.models import IncidentDecision, Refresh
from analytics.services import analysis_refresh
from dashboard.web.insights.incident_charts import weeks_of
from ingest.models import Project, Report
from tests.web.analysed_project import Demo
from tests.web.listing import new_project, queries_of, rows_of, source_of, words_of


def incident(demo: Demo) -> int:
    """The report of one that the rules found."""
    return demo.api.read("incidents")["results"][0]["report"]["report"]


def say(reader: Client, demo: Demo, report: int, word: str, **more: str):
    return reader.post(demo.at("incident_decide", report), {"word": word, **more})


def test_the_list_says_what_the_api_says(demo: Demo, reader: Client) -> None:
    told = demo.api.read("incidents?page_size=500")["results"]
    rows = rows_of(reader, demo.at("incidents"))
    assert len(rows) == len(told) > 0
    for row, one in zip(rows, told, strict=True):
        assert (row["report"], row["run"]) == (one["report"]["report"], one["report"]["run"])
        for name in ("host", "incident", "failing", "executed", "expected", "p_value", "why", "signature_failures"):
            assert row[name] == one[name]
        assert row["signature"] == one["signature"]


def test_the_first_sentence_counts_runs_and_failures(demo: Demo, reader: Client) -> None:
    summary = demo.analysis.summary
    lead = words_of(reader, demo.at("incidents"))
    assert f"hit infrastructure incidents, in {summary['incidents']} report" in lead
    assert f"{demo.analysis.excluded['failures inside incidents']:,} failure" in lead
    assert f"{summary['runs']['incident']} of {summary['runs']['total']} run" in lead


def test_weeks_without_an_incident_are_weeks_too(demo: Demo) -> None:
    moments = Report.objects.filter(pk=incident(demo)).values_list("started_at", flat=True)
    weeks = weeks_of(demo.analysis, moments)
    assert sum(week.incidents for week in weeks) == 1
    assert sum(week.runs for week in weeks) == demo.analysis.runs
    assert all((later.monday - week.monday).days == 7 for week, later in zip(weeks, weeks[1:], strict=False))
    assert {week.monday.weekday() for week in weeks} == {0}


@pytest.mark.parametrize(
    ("word", "said"), [("confirmed", "Confirmed as an infrastructure incident"), ("rejected", "Rejected: its failures")]
)
def test_a_word_is_kept_with_who_said_it_and_an_analysis_is_asked_for(
    demo: Demo, reader: Client, monkeypatch: pytest.MonkeyPatch, word: str, said: str
) -> None:
    woken: list[int] = []
    monkeypatch.setattr("dashboard.tasks.refresh_analysis.delay", woken.append)
    report = incident(demo)
    response = say(reader, demo, report, word)
    assert response.url == f"{demo.at('incidents')}?#report-{report}"
    decision = IncidentDecision.objects.get(report=report)
    assert (decision.word, decision.decided_by.username) == (word, "robin")
    assert Refresh.objects.get(project=demo.project).due_at is not None
    assert woken == [demo.project.pk]
    page = words_of(reader, demo.at("incidents"))
    assert said in page and f"{word} by robin," in page
    assert "The next analysis applies it." in page


def test_the_next_analysis_applies_it_and_the_page_says_so_no_more(demo: Demo, reader: Client) -> None:
    report = incident(demo)
    say(reader, demo, report, "rejected")
    analysis_refresh(project=demo.project)
    row = next(row for row in rows_of(reader, demo.at("incidents")) if row["report"] == report)
    assert (row["incident"], row["decided"], row["decided_by"]) == (False, "rejected", "robin")
    assert "The next analysis applies it." not in words_of(reader, demo.at("incidents"))


def test_a_word_can_be_taken_back(demo: Demo, reader: Client) -> None:
    report = incident(demo)
    assert ">Take back</button>" not in source_of(reader, demo.at("incidents"))
    say(reader, demo, report, "confirmed")
    assert ">Take back</button>" in source_of(reader, demo.at("incidents"))
    say(reader, demo, report, "")
    assert not IncidentDecision.objects.exists()


def test_one_comes_back_to_the_list_as_it_was(demo: Demo, reader: Client) -> None:
    report = incident(demo)
    kept = "decided=open&host=h%26x&next=//evil.example&page=2"
    response = say(reader, demo, report, "confirmed", kept=kept)
    assert response.url == f"{demo.at('incidents')}?decided=open&host=h%26x&page=2#report-{report}"


def test_filters(demo: Demo, reader: Client) -> None:
    every = rows_of(reader, demo.at("incidents"))
    assert rows_of(reader, demo.at("incidents"), decided="open") == every
    assert rows_of(reader, demo.at("incidents"), decided="confirmed") == []
    why, host = every[0]["why"][0], every[0]["host"]
    assert every[0] in rows_of(reader, demo.at("incidents"), why=why, host=host)
    assert "No matching incidents." in words_of(reader, demo.at("incidents"), host="no such host")


def test_who_may_not_decide(demo: Demo, reader: Client, client: Client) -> None:
    report, other = incident(demo), Project.objects.create(slug="other", name="Other")
    assert say(client, demo, report, "confirmed").url.startswith("/sign-in?next=")
    assert reader.post(reverse("incident_decide", args=(other.slug, report)), {"word": "confirmed"}).status_code == 404
    assert say(reader, demo, 2**62, "confirmed").status_code == 404
    assert say(reader, demo, report, "perhaps").status_code == 404
    assert reader.get(demo.at("incident_decide", report)).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = reader.cookies
    assert say(strict, demo, report, "confirmed").status_code == 403
    assert not IncidentDecision.objects.exists()


def test_the_database_is_asked_as_often_for_one_as_for_all(demo: Demo, reader: Client) -> None:
    assert queries_of(reader, demo.at("incidents")) == 15


def test_before_the_first_analysis(reader: Client) -> None:
    address = reverse("incidents", args=(new_project().slug,))
    assert "No analysis yet" in words_of(reader, address)
    assert rows_of(reader, address) == []
