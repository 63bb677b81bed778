"""POST rerun-set and POST detection-plan: what is asked, what is answered, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics.services import analysis_refresh
from ingest.models import Project, Test
from ingest.services import token_create
from tests.api_client import Program
from tests.lab.experiments import junit
from tests.lab.reach.uploads import CART, TAX, change_file, reach_file
from tests.lab.why.uploads import send


@pytest.fixture
def program(project: Project) -> Program:
    return Program(token_create(project=project, name="ci", scope="upload")[1], project.slug)


@pytest.fixture
def red(project: Project) -> int:
    """A run in which both tests fail; one of them touches the change."""
    now = timezone.now()
    for build in range(3):
        send(project, junit([CART, TAX], at=now), build_id=f"before {build}", at=now - timedelta(hours=5 - build))
    analysis_refresh(project=project)
    upload = send(project, junit([CART, TAX], [CART, TAX], at=now), reach_file(), change_file("shop/price.py", "Cart.total"), build_id="red", at=now)  # fmt: skip
    assert upload.run_id is not None
    return upload.run_id


def test_what_touches_the_change_is_left_to_people(project: Project, program: Program, red: int) -> None:
    body = program.post("rerun-set", run=red, budget_seconds=60).json()
    (chosen,), (left,) = body["tests"], body["left_out"]
    assert (chosen["name"], chosen["touches_change"]) == ("test_rate", "no") and chosen["chance_flaky"] > 0.9
    assert chosen["times"] >= 1 and body["seconds"] <= 60
    assert (left["name"], left["touches_change"]) == ("test_total", "yes") and left["chance_flaky"] < 0.05
    assert left["why"].startswith("look at the change")


def test_single_tests_are_asked_about_without_a_run(project: Project, program: Program, red: int) -> None:
    number = Test.objects.get(project=project, name="test_total").number
    body = program.post("rerun-set", tests=[number, 10**6]).json()
    assert [row["touches_change"] for row in (*body["tests"], *body["left_out"])] == ["unknown"]
    only = program.post("rerun-set", run=red, tests=[number], budget_seconds=60).json()
    assert [row["name"] for row in (*only["tests"], *only["left_out"])] == ["test_total"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"tests": []}, 422),
        ({"run": 10**9}, 404),
        ({"run": "x"}, 422),
        ({"run": 1, "budget_seconds": -1}, 422),
        ({"run": 1, "budget_seconds": 86_401}, 422),
        ({"tests": list(range(501))}, 422),
        ({"tests": [-1]}, 422),
        ({"run": 1, "other": 1}, 422),
    ],
)
def test_what_is_no_question_about_reruns(program: Program, body: dict[str, Any], status: int) -> None:
    assert program.post("rerun-set", **body).status_code == status


def test_a_plan_leaves_out_nothing_that_is_stable_and_keeps_its_budget(
    project: Project, program: Program, red: int
) -> None:
    body = program.post("detection-plan", budget_seconds=1).json()
    assert body["total"] == 2 and body["seconds"] <= 1 and body["own_rates"] is False and body["traced"] == 2
    assert all(row["executions"] >= 2 for row in body["tests"])
    assert body["expected"]["low"] <= body["expected"]["value"] <= body["expected"]["high"]
    one = Test.objects.get(project=project, name="test_rate").number
    assert [row["number"] for row in program.post("detection-plan", tests=[one], budget_seconds=1).json()["tests"]] == [
        one
    ]
    assert program.post("detection-plan", budget_seconds="x").status_code == 422


def test_without_an_analysis_there_is_no_plan(program: Program) -> None:
    body = program.post("detection-plan").json()
    assert (body["total"], body["tests"], body["expected"]["value"]) == (0, [], 0.0)
