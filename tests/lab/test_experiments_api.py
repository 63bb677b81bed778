"""Experiments and dependencies as programs send and read them; every answer is as the OpenAPI schema says."""

import json
from typing import Any

import pytest
from django.test import Client

from analytics.lab.models import Dependency
from analytics.services import analysis_refresh
from dashboard.quarantine.models import Notification
from dashboard.tasks import process_upload
from ingest.lab.probes import MOST_PROBES
from ingest.models import Experiment, ExperimentOrder, Project, Report, Run, Upload
from ingest.processing import upload_process
from tests.api_client import Program, code
from tests.conftest import Send
from tests.dashboard.openapi import Schema
from tests.lab.experiments import begin, junit, order_file, probes, send_orders
from tests.lab.test_conclusions import C, P, V, group, victim

NEW: dict[str, Any] = {
    "key": "e1",
    "protocol": "orders",
    "parameters": {"command": ["pytest", "-q"], "orders": 3, "how": ["pairs"]},
    "seed": "a b",
    "revision": {"commit": "a" * 40, "branch": "main"},
    "environment": {"os": "Linux"},
    "host": "ci-1",
}


@pytest.fixture
def program(upload_token: str) -> Program:
    return Program(upload_token)


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema()


def test_an_experiment_is_announced_once(program: Program, project: Project, schema: Schema) -> None:
    first = program.post("experiments", **NEW)
    assert first.status_code == 201
    schema.check("experiments_create", 201, first.json())
    again = program.post("experiments", **{**NEW, "host": "ci-2"})
    assert again.status_code == 200 and again.json()["hosts"] == ["ci-1", "ci-2"]
    assert again.json()["command"] == "flakeboard detect --how pairs --orders 3 --seed 'a b' -- pytest -q"
    assert again.json()["url"].endswith("/projects/shop/experiments/e1") and again.json()["state"] == "running"
    assert Experiment.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ({"seed": "other"}, (409, "experiment_conflict")),
        ({"parameters": {}}, (409, "experiment_conflict")),
        ({"key": "due"}, (422, "invalid")),
        ({"key": "a/b"}, (422, "invalid")),
        ({"key": ""}, (422, "invalid")),
        ({"key": "x" * 65}, (422, "invalid")),
        ({"protocol": "luck"}, (422, "invalid")),
        ({"parameters": []}, (422, "invalid")),
        ({"parameters": {"a": "\0"}}, (422, "invalid")),
        ({"parameters": {"a": "x" * 70_000}}, (422, "invalid")),
        ({"revision": {"commit": "x" * 65}}, (422, "invalid")),
        ({"more": 1}, (422, "unknown_field")),
    ],
)
def test_what_cannot_be_announced(program: Program, values: dict[str, Any], answer: tuple[int, str]) -> None:
    assert program.post("experiments", **NEW).status_code == 201
    assert code(program.post("experiments", **{**NEW, **values})) == answer


def test_too_many_experiments_have_to_wait(program: Program, settings: Any) -> None:
    settings.EXPERIMENTS_PER_HOUR = 1
    assert program.post("experiments", **NEW).status_code == 201
    refused = program.post("experiments", **{**NEW, "key": "e2"})
    assert code(refused) == (429, "too_many_experiments") and int(refused.headers["Retry-After"]) > 0


# -- uploads -----------------------------------------------------------------------------------------------------


def upload(token: str, experiment: Experiment, *, address: str = "uploads", **metadata: Any) -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    files = [SimpleUploadedFile("1.xml", order_file(experiment, 1, [V, P], [V]))]
    data = {"metadata": json.dumps({"experiment": experiment.key, **metadata}), "file": files}
    return Client().post(f"/api/v1/projects/shop/{address}", data, headers={"authorization": f"Bearer {token}"})


def test_orders_come_the_ordinary_way(project: Project, upload_token: str, schema: Schema) -> None:
    experiment = begin(project)
    told = {"build_id": "7", "job": "nightly", "pull_request": "5", "default_branch": "trunk", "commit": "c" * 40}
    response = upload(upload_token, experiment, **told)
    assert response.status_code == 202
    schema.check("uploads_create", 202, response.json())
    stored = Upload.objects.get(pk=response.json()["id"])
    assert stored.metadata == {"experiment": "e1", "commit": "c" * 40}
    upload_process(upload_id=stored.pk)
    again = upload(upload_token, experiment, **told)
    assert (again.status_code, again.json()["id"]) == (200, stored.pk)
    assert ExperimentOrder.objects.get().round == 1 and Run.all_objects.get().experiment == experiment
    project.refresh_from_db()
    assert project.default_branch == "main"


def test_an_upload_of_an_unknown_experiment_or_of_a_fork_is_refused(project: Project, upload_token: str) -> None:
    experiment = begin(project)
    assert code(upload(upload_token, experiment, fork=True, pull_request="1")) == (403, "fork_experiment")
    experiment.key = "other"
    assert code(upload(upload_token, experiment)) == (422, "unknown_experiment")
    assert not Upload.objects.exists()


def test_the_gate_is_not_asked_about_an_experiment(project: Project, upload_token: str) -> None:
    answer = upload(upload_token, begin(project), address="gate", exit_code=1)
    assert code(answer) == (422, "experiment_at_gate") and not Upload.objects.exists()


def test_a_worker_concludes_what_arrives_after_the_end(project: Project, program: Program, upload_token: str) -> None:
    experiment = begin(project)
    told = program.post("experiments/e1/finish", ended="orders", found=[victim(V, group(P))]).json()
    assert told["unknown"] == sorted([P, V]) and told["dependencies"] == []
    process_upload(upload(upload_token, experiment).json()["id"])
    assert Dependency.objects.get().last_experiment == experiment
    assert Notification.objects.get().payload["experiment"] == "e1"


# -- the end -----------------------------------------------------------------------------------------------------


@pytest.fixture
def experiment(project: Project) -> Experiment:
    experiment = begin(project)
    send_orders(
        experiment,
        order_file(experiment, 0, [V, C, P]),
        order_file(experiment, 1, [P, C, V]),
        order_file(experiment, 2, [C, P, V], [V], seed="s"),
        probes("e1", [P, V], [{"n": 1, "order": [0, 1], "verdict": "F"}]),
    )
    return experiment


def test_the_end_makes_dependencies_and_says_what_is_new(
    program: Program, experiment: Experiment, schema: Schema
) -> None:
    found = [victim(V, group(P, cleaners=(C,))), {"test": C, "kind": "NOD", "role": None}]
    not_run = [{"test": "a::b", "why": "kills the process"}, "c::d"]
    response = program.post(
        "experiments/e1/finish",
        experiment="e1",
        ended="budget",
        tests=3,
        found=found,
        not_run=not_run,
        pairs={"seen": 4, "of": 6},
    )
    assert response.status_code == 200, response.content
    body = response.json()
    schema.check("experiments_finish", 200, body)
    (dependency,) = body["dependencies"]
    assert dependency["test"]["node_id"] == V and [test["node_id"] for test in dependency["before"]] == [P]
    assert [test["node_id"] for test in dependency["cleaners"]] == [C]
    assert dependency["together"] == {"failed": 3, "of": 3} and dependency["alone"] == {"passed": 10, "of": 10}
    assert dependency["random_orders"]["value"] == pytest.approx(1 / 3)
    assert [test["node_id"] for test in body["new"]] == [V, C] or [test["node_id"] for test in body["new"]] == [C, V]
    again = program.post("experiments/e1/finish", ended="budget", tests=3, found=found, not_run=not_run).json()
    assert again["new"] == body["new"] and len(Dependency.objects.all()) == 1
    detail = program.read("experiments/e1")
    schema.check("experiments_retrieve", 200, detail)
    assert detail["counts"] == {
        "tests": 3,
        "orders": 3,
        "od": 1,
        "nod": 1,
        "other": 0,
        "not_run": 2,
        "probes": 1,
        "probes_left_out": 0,
    }
    assert [(one["round"], [test["node_id"] for test in one["failed"]]) for one in detail["orders"]] == [
        (0, []),
        (1, []),
        (2, [V]),
    ]
    assert detail["not_run"] == [{"test": "a::b", "why": "kills the process"}, {"test": "c::d", "why": ""}]
    assert detail["sentence"] == "3 whole orders showed 1 order-dependent test and 1 test that fails by chance."
    assert (detail["state"], detail["how"]) == ("finished", "budget")


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ({"ended": "well"}, (422, "invalid")),
        ({"experiment": "e2"}, (422, "invalid")),
        ({"iteration": -1}, (422, "invalid")),
        ({"iteration": True}, (422, "invalid")),
        ({"found": [{"test": "\0"}]}, (422, "invalid")),
        ({"probes": {"sent": MOST_PROBES + 1}}, (413, "limit_probes")),
    ],
)
def test_an_end_that_cannot_be(
    program: Program, experiment: Experiment, values: dict[str, Any], answer: tuple[int, str]
) -> None:
    assert code(program.post("experiments/e1/finish", **{"ended": "orders", **values})) == answer
    assert not Experiment.objects.get().is_finished


def test_an_end_that_is_too_large_is_refused_unread(program: Program, experiment: Experiment) -> None:
    body = json.dumps({"ended": "orders", "found": [], "more": "x" * 5_000_000})
    assert program.post_raw("experiments/e1/finish", body).status_code == 200
    body = json.dumps({"ended": "orders", "found": [], "more": "x" * 17_000_000})
    assert code(program.post_raw("experiments/e1/finish", body)) == (413, "limit_body")


@pytest.mark.parametrize(
    "found",
    [
        "text",
        [1, None, [], {}],
        [{"test": V}],
        [{"test": V, "kind": "BAD"}],
        [{"test": "x" * 5_000, "kind": "OD"}],
        [victim(V, {"role": "polluter", "tests": [P], "failed": "3", "of": 3})],
        [victim(V, {"role": "friend", "tests": [P], "failed": 3, "of": 3})],
        [victim(V, {"role": "polluter", "tests": [], "failed": 3, "of": 3})],
        [victim(V, group(V))],
        [victim(V, group(P), alone="x", random_orders={"value": "1/0"}, order={"a": 1}, state=[1])],
    ],
)
def test_what_is_found_is_believed_as_far_as_it_makes_sense(
    program: Program, experiment: Experiment, found: Any
) -> None:
    """Hostile or broken findings make no dependency, and no error either."""
    response = program.post("experiments/e1/finish", ended="orders", found=found)
    assert response.status_code == 200, response.content
    whole = isinstance(found, list) and isinstance(found[0], dict) and found[0].get("random_orders")
    assert Dependency.objects.count() == (1 if whole else 0)
    assert program.get("experiments/e1").status_code == 200


# -- experiments on one test -------------------------------------------------------------------------------------


def test_an_experiment_on_one_test_ends_with_its_answer(program: Program, project: Project, send: Send) -> None:
    send(junit([V, P]), build_id="1")
    stated = {"test": V, "runs": 50, "value": "", "command": ["pytest", "-q"]}
    new = {**NEW, "protocol": "why", "parameters": stated, "seed": "", "whole": False}
    assert program.post("experiments", **new).status_code == 201
    first = {"ended": "done", "test": V, "sentence": "It fails by time."}
    assert program.post("experiments/e1/finish", **first).status_code == 200
    again = program.post("experiments/e1/finish", **{**first, "ended": "budget", "sentence": "It fails by chance."})
    assert again.json()["unknown"] == [] and again.json()["experiment"]["sentence"] == "It fails by chance."
    detail = program.read("experiments/e1")
    assert [(each["test"]["node_id"], each["kind"]) for each in detail["found"]] == [(V, "why")]
    assert detail["command"] == f"flakeboard why {V} --runs 50 -- pytest -q" and detail["how"] == "budget"
    assert detail["counts"]["other"] == 0 and not Dependency.objects.exists()


@pytest.mark.parametrize("result", [{"test": 1}, {"test": ""}, {"test": "x" * 5_000}, {"sentence": 3}])
def test_an_answer_without_a_test_makes_no_finding(program: Program, project: Project, result: Any) -> None:
    program.post("experiments", **{**NEW, "protocol": "waits", "whole": False})
    assert program.post("experiments/e1/finish", ended="done", **result).status_code == 200
    assert program.read("experiments/e1")["sentence"] == "It ended without an answer."


def test_an_answer_of_a_test_that_no_report_names(program: Program, project: Project) -> None:
    program.post("experiments", **{**NEW, "protocol": "verify", "whole": False})
    told = program.post("experiments/e1/finish", ended="done", test=V, sentence="The fix holds.").json()
    assert told["unknown"] == [V] and program.read("experiments/e1")["found"] == []


def test_an_answer_has_a_limit_of_its_own(program: Program, project: Project) -> None:
    program.post("experiments", **{**NEW, "protocol": "why", "whole": False})
    answer = {"ended": "done", "test": V, "sentence": "x"}
    assert code(program.post("experiments/e1/finish", **answer, more="x" * 1_100_000)) == (413, "limit_answer")
    assert not Experiment.objects.get().is_finished


def test_lists_are_paged_and_known_answers_are_not_sent_again(
    program: Program, project: Project, schema: Schema
) -> None:
    for number in range(5):
        begin(project, f"e{number}", protocol="reruns" if number == 2 else "orders")
    pages = list(program.pages("experiments?page_size=2"))
    assert [len(page["results"]) for page in pages] == [2, 2, 1]
    assert [one["key"] for page in pages for one in page["results"]] == [f"e{number}" for number in (4, 3, 2, 1, 0)]
    schema.check("experiments_list", 200, pages[0])
    assert [one["key"] for one in program.read("experiments?protocol=reruns")["results"]] == ["e2"]
    etag = program.get("experiments").headers["ETag"]
    assert program.get("experiments", **{"If-None-Match": etag}).status_code == 304
    begin(project, "e9")
    assert program.get("experiments", **{"If-None-Match": etag}).status_code == 200
    assert program.get("experiments/nothing").status_code == 404
    assert code(program.get("experiments?protocol=x")) == (422, "invalid")


def test_due(program: Program, project: Project, send: Send, schema: Schema) -> None:
    due = program.read("experiments/due")
    schema.check("experiments_due", 200, due)
    assert (due["due"], due["limits"]) == (False, {"commits": 150, "days": 30})
    send(junit([P, V]), build_id="1")
    assert program.read("experiments/due")["why"] == "no whole experiment yet"


# -- dependencies ------------------------------------------------------------------------------------------------


@pytest.fixture
def dependencies(program: Program, experiment: Experiment) -> Program:
    program.post("experiments/e1/finish", ended="orders", found=[victim(V, group(P, cleaners=(C,)))])
    stated = {"before": P, "after": C, "sign": "positive", "reason": "=by design"}
    assert program.post("dependencies", **stated).status_code == 201
    assert program.post("dependencies", **stated).status_code == 200
    return program


def named(answer: Any) -> list[tuple[str, str, str]]:
    return [(one["ground"], one["role"], one["test"]["node_id"]) for one in answer["results"]]


def test_dependencies_are_listed_by_ground_and_narrowed(dependencies: Program, schema: Schema) -> None:
    shown, stated = ("shown", "polluter", V), ("stated", "state-setter", C)
    answer = dependencies.read("dependencies")
    schema.check("dependencies_list", 200, answer)
    assert named(answer) == [shown, stated]
    number = answer["results"][0]["test"]["number"]
    for query, expected in {
        "role=polluter": [shown],
        "ground=stated": [stated],
        f"test={V}": [shown],
        f"test={number}": [shown],
        "test=nobody": [],
        "test=99999999999999999999": [],
        "stale=yes": [],
        "stale=no": [shown, stated],
        "retired=yes": [],
        "retired=all": [shown, stated],
        "page_size=1": [shown],
    }.items():
        assert named(dependencies.read(f"dependencies?{query}")) == expected, query
    assert code(dependencies.get("dependencies?role=friend")) == (422, "invalid")
    etag = dependencies.get("dependencies").headers["ETag"]
    assert dependencies.get("dependencies", **{"If-None-Match": etag}).status_code == 304


def test_dependencies_as_files(dependencies: Program) -> None:
    text = dependencies.get("dependencies?format=csv")
    assert text.headers["Content-Type"] == "text/csv; charset=utf-8"
    lines = text.content.decode().splitlines()
    assert len(lines) == 3 and f'"{V}","{P}","{C}"' in lines[1] and '"\'=by design"' in lines[2]
    markers = dependencies.get("dependencies?format=pytest-order").content.decode()
    assert f"# {V}\n@pytest.mark.order(before=['{P}'])" in markers
    assert f"# {C}\n@pytest.mark.order(after=['{P}'])" in markers


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"before": P, "after": P, "sign": "negative"}, (422, "dependency_of_itself")),
        ({"before": C, "after": P, "sign": "positive"}, (422, "dependency_cycle")),
        ({"before": "tests/test_x.py::test_x", "after": P, "sign": "positive"}, (422, "unknown_test")),
        ({"before": [], "after": P, "sign": "positive"}, (422, "invalid")),
        ({"before": [P, 3], "after": V, "sign": "positive"}, (422, "invalid")),
        ({"before": P, "after": [V, C], "sign": "positive"}, (422, "invalid")),
        ({"before": P, "after": V, "sign": "maybe"}, (422, "invalid")),
        ({"before": "\0", "after": V, "sign": "positive"}, (422, "invalid")),
        ({"before": P, "after": V, "sign": "positive", "more": 1}, (422, "unknown_field")),
    ],
)
def test_what_cannot_be_stated(dependencies: Program, body: dict[str, Any], answer: tuple[int, str]) -> None:
    assert code(dependencies.post("dependencies", **body)) == answer
    assert Dependency.objects.count() == 2


def test_retired_dependencies_hold_no_more(dependencies: Program, schema: Schema) -> None:
    shown = dependencies.read("dependencies")["results"][0]
    answer = dependencies.post(f"dependencies/{shown['id']}/retire", reason="fixed")
    schema.check("dependencies_retire", 200, answer.json())
    assert answer.json()["retired"]["why"] == "fixed"
    again = dependencies.post(f"dependencies/{shown['id']}/retire", reason="again")
    assert again.status_code == 200 and again.json()["retired"]["why"] == "fixed"
    assert named(dependencies.read("dependencies")) == [("stated", "state-setter", C)]
    assert named(dependencies.read("dependencies?retired=yes")) == [("shown", "polluter", V)]


def test_what_experiments_show_is_among_the_orders(program: Program, experiment: Experiment, project: Project) -> None:
    send_orders(experiment, *(order_file(experiment, at, [C, P, V], [V]) for at in (3, 4)))
    analysis_refresh(project=project)
    (found,) = program.read("orders")["results"]
    assert (found["test"]["name"], found["kind"], found["orders"]) == ("test_victim", "OD", 3)
    assert program.read("tests?page_size=10")["total"] == 0, "CI has seen none of them"
    assert not Report.counted.exists()
