"""Traces, their differences and what was tried, as programs read them; every answer is as the OpenAPI schema says."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from flakeboard.plugin.advice import traced as traced_by

from analytics.services import analysis_refresh
from analytics.why.services import differences_refresh
from dashboard.api.lab.traced_tests import trace_key
from dashboard.retention.export.archive import Archive
from ingest.models import Experiment, Project, Test, Trace
from ingest.services import project_create, token_create
from tests.api_client import Program, code
from tests.dashboard.openapi import Schema
from tests.lab.why.answers import ANSWER, SHOWN
from tests.lab.why.test_findings import FIRST, number
from tests.lab.why.traced import project, traced
from tests.lab.why.uploads import TEST, send_runs

__all__ = ["project", "traced"]


@pytest.fixture
def program(upload_token: str) -> Program:
    return Program(upload_token)


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema()


@pytest.mark.usefixtures("traced")
def test_the_server_names_its_flaky_tests_and_a_key(project: Project, program: Program, schema: Schema) -> None:
    analysis_refresh(project=project)
    answer = program.read("traced-tests")
    schema.check("traced_tests_list", 200, answer)
    assert [test["node_id"] for test in answer["tests"]] == [TEST]
    assert answer["level"] == "sources" and answer["key"] == trace_key(project)
    other = project_create(slug="other", name="Other")
    assert trace_key(other) != trace_key(project)

    class Api:
        def get(self, path: str) -> Any:
            return program.get(path)

    plan = traced_by(Api())  # type: ignore[arg-type]
    assert plan["tests"] == ["tests.test_cart\ntest_total"] and plan["takes_traces"]


def test_the_key_is_for_those_who_send(project: Project) -> None:
    reader = Program(token_create(project=project, name="r", scope="read")[1])
    assert code(reader.get("traced-tests")) == (403, "forbidden")


def test_before_any_analysis_there_is_nothing_to_trace(project: Project, program: Program) -> None:
    assert program.read("traced-tests")["tests"] == []


@pytest.mark.usefixtures("traced")
def test_why_from_nothing_to_an_answer(project: Project, program: Program, schema: Schema) -> None:
    address = f"tests/{number()}/why"
    waiting = program.read(address)
    schema.check("tests_why", 200, waiting)
    assert (waiting["verdict"], waiting["runs"]["failing"]) == ("being compared", 6)
    differences_refresh(project_id=project.pk)
    answer = program.read(address)
    schema.check("tests_why", 200, answer)
    assert (answer["sentence"], answer["verdict"]) == (FIRST, "explained")
    first = answer["differences"][0]
    assert first["site"]["callee"] == "threading.Event.wait" and first["tried"] is None
    assert (first["failing"], first["passing"], first["tier"]) == ({"x": 6, "of": 6}, {"x": 0, "of": 14}, 1)
    stable = Test.objects.get(name="test_other").number
    untraced = program.read(f"tests/{stable}/why")
    schema.check("tests_why", 200, untraced)
    assert untraced["verdict"] == "not traced" and "--flakeboard-trace=flaky" in untraced["missing"]
    assert program.get("tests/99999/why").status_code == 404


@pytest.mark.usefixtures("traced")
def test_what_an_experiment_showed_is_the_answer(project: Project, program: Program, schema: Schema) -> None:
    differences_refresh(project_id=project.pk)
    announced = {"key": "w1", "protocol": "why", "parameters": {"test": TEST}, "seed": "w1", "whole": False}
    assert program.post("experiments", **announced).status_code == 201
    for _ in range(2):
        assert program.post("experiments/w1/finish", **ANSWER).status_code == 200
    assert Experiment.objects.count() == 1
    answer = program.read(f"tests/{number()}/why")
    schema.check("tests_why", 200, answer)
    assert answer["sentence"] == SHOWN and answer["missing"] == ""
    assert answer["differences"][0]["tried"]["forced"] == {"failed": 10, "of": 10}, "the same call, moved to line 99"
    assert answer["experiment"]["command"].endswith("--flakeboard-recipe=why-test_total.json")
    assert answer["experiment"]["recipe"]["test"] == TEST


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("odd", [None, [], 3, "x", {"held": 3}, [[]], [{}], [{"site": [1, 2, 3, 4, 5]}]], ids=str)
def test_an_answer_that_is_not_as_agreed_harms_nothing(project: Project, program: Program, odd: Any) -> None:
    program.post("experiments", key="w1", protocol="why", parameters={}, whole=False)
    body = {**ANSWER, **dict.fromkeys(("differences", "runs", "recipes", "forced", "symptoms", "verdict"), odd)}
    assert program.post("experiments/w1/finish", **body).status_code == 200
    assert program.read(f"tests/{number()}/why")["experiment"]["key"] == "w1"


def test_traces_of_a_test(project: Project, program: Program, schema: Schema) -> None:
    send_runs(project, failing=2, passing=3)
    listed = program.read(f"tests/{number()}/traces")
    schema.check("traces_list", 200, listed)
    assert [row["outcome"] for row in listed["results"]] == ["passed"] * 3 + ["failed"] * 2
    assert program.read(f"tests/{number()}/traces?outcome=failed")["total"] == 2
    trace = program.read(f"traces/{listed['results'][-1]['id']}")
    schema.check("traces_retrieve", 200, trace)
    assert [call["callee"] for call in trace["calls"]] == ["random.random", "threading.Event.wait"]
    assert trace["calls"][1]["value"] is False and trace["test"]["node_id"] == TEST
    assert program.get("traces/99999999999999999999").status_code == 404


def test_a_trace_of_another_project_is_not_there(project: Project, program: Program) -> None:
    other = project_create(slug="other", name="Other")
    send_runs(other, failing=1, passing=1)
    assert program.get(f"traces/{Trace.objects.get(outcome='failed').pk}").status_code == 404


def test_traces_are_exported(project: Project) -> None:
    send_runs(project, failing=1, passing=1)
    archive = zipfile.ZipFile(io.BytesIO(b"".join(Archive(project, "json"))))
    rows = [json.loads(line) for line in archive.read("traces.jsonl").decode().splitlines()]
    assert [(row["test"], row["outcome"], row["events"]) for row in rows] == [
        (number(), "failed", 2),
        (number(), "passed", 2),
    ]
    assert all(row["content"] for row in rows)
