"""A policy's dry run over what was known at past days."""

from datetime import timedelta

import pytest
from django.utils import timezone

from analytics.services import analysis_refresh
from ingest.models import Project, Test, Token
from ingest.services import token_create
from tests.api_client import Program
from tests.dashboard.openapi import Schema
from tests.quarantine.conftest import report


@pytest.fixture
def bot_token(project: Project) -> str:
    return token_create(project=project, name="bot", scope=Token.Scope.QUARANTINE)[1]


def test_the_past_is_tried_day_by_day(project: Project, bot_token: str, send) -> None:
    """A test that flaked for 60 days would have been quarantined after the first of them, and its runs have passed."""
    now = timezone.now()
    for run in range(60):
        for attempt, verdict in enumerate(["fail", ""] if run % 5 == 0 else [""]):
            started = now - timedelta(days=60 - run, hours=-attempt)
            send(
                report(test_03=verdict),
                build_id=f"{run}.{attempt}",
                branch="main",
                commit=f"c{run}",
                started_at=started,
            )
    analysis_refresh(project=project)
    answer = Program(bot_token).post("policy/dry-run", settings={"mode": "quarantine"}).json()
    Schema().check("policy_dry_run", 200, answer)
    number = Test.objects.get(project=project, name="test_03").number
    begun = [
        row["at"]
        for row in answer["past"]
        for step in row["steps"]
        if step["tests"] == [number] and step["action"] == "quarantine"
    ]
    assert begun and begun[0] < (now - timedelta(days=35)).isoformat()
    assert answer["meant"]["flaky"] >= 5
    assert 0 < answer["meant"]["flaky_passed"] <= answer["meant"]["flaky"]
    assert answer["meant"]["others_passed"] == 0
    assert answer["complete"] is True


def test_a_project_without_reports_has_nothing_to_try(project: Project, bot_token: str) -> None:
    answer = Program(bot_token).post("policy/dry-run").json()
    Schema().check("policy_dry_run", 200, answer)
    assert (answer["today"], answer["past"]) == (None, [])
