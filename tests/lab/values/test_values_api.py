"""Values as `flakeboard bounds` sends them: what follows from them, what is kept, and what is refused."""

import json
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from analytics.services import analysis_refresh
from dashboard.ci_trust.admission import run_admit
from dashboard.retention.ages import Cutoffs
from dashboard.retention.steps import STEPS
from ingest.lab import values as value_store
from ingest.metadata import RunMetadata
from ingest.models import ForkValues, Project, Report, Run, ValueSeries
from ingest.processing import upload_process
from ingest.services import upload_receive
from tests.api_client import Program, code
from tests.conftest import Send, body_of
from tests.dashboard.openapi import Schema

TEST = "tests/test_a.py::test_random"
NORMAL = np.random.default_rng(1).normal(size=1_000).round(6).tolist()
SITE: dict[str, Any] = {
    "file": "tests/test_a.py",
    "line": 6,
    "ordinal": 0,
    "kind": "upper",
    "op": "<",
    "bound": 1.645,
    "values": NORMAL[:120],
}
BODY: dict[str, Any] = {
    "form": 1,
    "test": TEST,
    "commit": "c" * 40,
    "environment": {"os": "Linux"},
    "seeds": "varied",
    "runs": 120,
    "failed": 6,
    "sites": [SITE],
}
REPORT = (
    b'<testsuites><testsuite name="pytest" tests="1">'
    b'<testcase classname="tests.test_a" name="test_random" time="0.1">%s</testcase></testsuite></testsuites>'
)


def report(*values: str) -> bytes:
    tags = "".join(f'<property name="flakeboard.value" value="{value}"/>' for value in values)
    return REPORT % (f"<properties>{tags.replace('<<', '')}</properties>".encode() if values else b"")


def valued(value: float, bound: str = "0.5", place: str = "tests/test_a.py:6:0") -> str:
    return f"1 {place} upper &lt; {bound} {value!r}"


def values_of(series: ValueSeries) -> list[float]:
    return value_store.floats(series.values).tolist()


@pytest.fixture
def program(upload_token: str) -> Program:
    return Program(upload_token)


def test_bounds_of_a_known_test_are_answered_and_kept(program: Program, send: Send) -> None:
    send(report())
    answer = program.post("values", **{**BODY, "runs": 1_000, "failed": 50, "sites": [{**SITE, "values": NORMAL}]})
    assert answer.status_code == 200, answer.content
    body = answer.json()
    Schema().check("values_create", 200, body)
    conclusion = body["sites"][0]["conclusion"]
    assert body["stored"] == 1 and body["url"].endswith("/tests/0")
    assert conclusion["present"]["low"] < 0.05 < conclusion["present"]["high"]
    assert conclusion["proposal"]["word"] == "write" and 3.1 <= conclusion["proposal"]["bound"] <= 5
    assert conclusion["advice"].startswith("Write ") and "1 of 1,000 runs" in conclusion["sentence"]
    (series,) = program.read("tests/0/values")["results"]
    Schema().check("tests_values", 200, {"results": [series]})
    assert series["values"] == NORMAL and series["conclusion"] == conclusion
    assert (series["origin"], series["seeds"], series["runs"]) == ("bounds", "varied", 1_000)


def test_an_experiment_replaces_the_one_before_and_enters_no_rate(
    program: Program, send: Send, project: Project
) -> None:
    send(report())
    program.post("values", **BODY)
    program.post("values", **{**BODY, "sites": [{**SITE, "values": NORMAL[120:240]}]})
    assert ValueSeries.objects.count() == 1
    assert Run.all_objects.count() == Report.all_objects.count() == 1
    analysis = analysis_refresh(project=project)
    assert (analysis.runs, analysis.results) == (1, 1)


def test_nothing_is_kept_where_that_is_asked_for_or_the_test_is_unknown(program: Program, send: Send) -> None:
    unknown = program.post("values", **BODY).json()
    assert unknown["stored"] == 0 and "No report has named this test" in unknown["why"]
    assert unknown["sites"][0]["conclusion"]["n"] == 120
    send(report())
    assert program.post("values?keep=0", **BODY).json()["stored"] == 0
    assert not ValueSeries.objects.exists()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"form": 2}, "form"),
    ({"form": True}, "form"),
    ({"more": 1}, "no field"),
    ({"test": ""}, "test"),
    ({"test": "a\0b"}, "test"),
    ({"runs": -1}, "runs"),
    ({"failed": 121}, "failed"),
    ({"seeds": "other"}, "seeds"),
    ({"tolerated": 0.9}, "tolerated"),
    ({"environment": {"a": 1}}, "environment"),
    ({"sites": []}, "sites"),
    ({"sites": [SITE] * 51}, "sites"),
    ({"sites": [SITE, SITE]}, "same"),
    ({"sites": ["x"]}, "Site 0"),
    ({"sites": [{**SITE, "op": ">"}]}, "Site 0 (tests/test_a.py)"),
    ({"sites": [{**SITE, "kind": "other"}]}, "Site 0"),
    ({"sites": [{**SITE, "line": 0}]}, "Site 0"),
    ({"sites": [{**SITE, "file": "x" * 501}]}, "Site 0"),
    ({"sites": [{**SITE, "bound": "much"}]}, "bound"),
    ({"sites": [{**SITE, "values": []}]}, "values"),
    ({"sites": [{**SITE, "values": [0.1] * 5_001}]}, "values"),
    ({"sites": [{**SITE, "values": [0.1, None]}]}, "value 1"),
    ({"sites": [{**SITE, "values": [True]}]}, "value 0"),
    ({"sites": [{**SITE, "values": [10**400]}]}, "value 0"),
]


@pytest.mark.parametrize(("changed", "words"), BAD)
def test_what_is_not_as_it_should_be_is_refused(program: Program, changed: dict[str, Any], words: str) -> None:
    answer = program.post("values", **{**BODY, **changed})
    assert code(answer) == (422, "bad_values")
    assert words in answer.json()["error"]["sentence"]


@pytest.mark.parametrize("body", ["[]", "7", "null"])
def test_a_body_that_is_no_object_is_refused(program: Program, body: str) -> None:
    assert code(program.post_raw("values", body)) == (422, "bad_values")


def test_values_that_json_has_no_number_for_are_text(program: Program) -> None:
    site = {**SITE, "values": [*NORMAL[:120], "nan", "inf"]}
    conclusion = program.post("values", **{**BODY, "sites": [site]}).json()["sites"][0]["conclusion"]
    assert (conclusion["obstacle"], conclusion["not_finite"]) == ("not finite", 2)
    assert (
        program.post_raw("values", json.dumps({**BODY, "sites": [{**SITE, "bound": float("nan")}]})).status_code == 400
    )


def test_a_token_asks_only_so_often(program: Program, settings: Any) -> None:
    settings.VALUES_PER_HOUR = 1
    assert program.post("values", **BODY).status_code == 200
    assert code(program.post("values", **BODY)) == (429, "too_many_values")


# -- what CI's reports bring -------------------------------------------------------------------------------------


def test_values_of_reports_become_a_series_and_are_concluded_with_the_analysis(send: Send, project: Project) -> None:
    for run, value in enumerate((0.25, 0.75, 0.125)):
        send(report(valued(value)), build_id=str(run), environment={"os": "Linux"})
    (series,) = ValueSeries.objects.all()
    assert value_store.floats(series.values).tolist() == [0.25, 0.75, 0.125]
    assert (series.origin, series.environment, series.is_stale) == ("ci", "os=Linux", True)
    analysis_refresh(project=project)
    series.refresh_from_db()
    assert not series.is_stale and series.answer["obstacle"] == "too few"
    assert series.answer["sentence"].startswith("Not enough data: 3 values of at least 100. It fails in 33 % of runs")


def test_environments_stay_apart_and_a_report_counts_once(send: Send) -> None:
    send(report(valued(0.25)), build_id="1", environment={"os": "Linux"})
    send(report(valued(0.25)), build_id="1", environment={"os": "Linux"})
    send(report(valued(0.5)), build_id="1", environment={"os": "Windows"})
    found = {row.environment: value_store.floats(row.values).tolist() for row in ValueSeries.objects.all()}
    assert found == {"os=Linux": [0.25], "os=Windows": [0.5]}


def test_values_of_a_fork_are_apart_until_it_is_admitted(project: Project, send: Send) -> None:
    send(report(valued(0.125)), build_id="0")
    metadata = RunMetadata(build_id="1", fork=True, commit="f" * 40)
    body = body_of(report(valued(0.25), "no value", valued(0.75)))
    upload, _ = upload_receive(project=project, body=body, metadata=metadata, untrusted=True)
    for _ in range(2):
        upload_process(upload_id=upload.pk)
    assert values_of(ValueSeries.objects.get()) == [0.125]
    run = Run.objects.get(untrusted=True)
    assert run_admit(run=run)
    series = ValueSeries.objects.get()
    assert (values_of(series), series.commit, series.is_stale) == ([0.125, 0.25], "f" * 40, True)
    assert not ForkValues.objects.exists()


def test_values_of_a_fork_go_with_its_report(project: Project) -> None:
    metadata = RunMetadata(build_id="1", fork=True)
    upload, _ = upload_receive(project=project, body=body_of(report(valued(0.25))), metadata=metadata, untrusted=True)
    upload_process(upload_id=upload.pk)
    assert ForkValues.objects.count() == 1 and not ValueSeries.objects.exists()
    Report.all_objects.all().delete()
    assert not ForkValues.objects.exists()


def test_newest_thousand_values_are_kept(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_store, "KEPT", 2)
    for run, value in enumerate((0.25, 0.75, 0.125)):
        send(report(valued(value)), build_id=str(run))
    (series,) = ValueSeries.objects.all()
    assert value_store.floats(series.values).tolist() == [0.75, 0.125]
    assert len(value_store.numbers(series.reports)) == 2


def test_bound_that_differs_from_run_to_run_makes_differences(send: Send, project: Project) -> None:
    for run, bound in enumerate(("0.5", "0.75")):
        send(report(valued(0.25, bound)), build_id=str(run))
    analysis_refresh(project=project)
    answer = ValueSeries.objects.get().answer
    assert (answer["kind"], answer["bound"], answer["extreme"]) == ("difference", 0.0, -0.25)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "2 t.py:1:0 upper < 1 1",
        "1 t.py:1:0 upper > 1 1",
        "1 t.py:1:0 difference < 1 1",
        "1 t.py:1:0 upper < 1 x",
        "1 t.py:1:0 upper < 1 1e99999",
        "1 t.py:1:0 upper < 0x1 1",
        "1 t.py:-1:0 upper < 1 1",
        "1 t.py:12345678:0 upper < 1 1",
        "1 :1:0 upper < 1 1",
        "1 %00:1:0 upper < 1 1",
        "1 " + "x" * 501 + ":1:0 upper < 1 1",
        "1 t.py:1:0 upper < 1 1 more",
        "1 t.py:1:0 upper < 1 1\n",
        "1 t.py:١:0 upper < 1 1",
    ],
)
def test_properties_that_say_something_else_are_left_out(text: str) -> None:
    assert value_store.read_property(text) is None


def test_properties_are_read_as_the_plugin_writes_them() -> None:
    from flakeboard.values.sites import Site, Value, property_of

    for number in (0.1, -0.0, 5e-324, 1.7976931348623157e308, float("inf"), 3.0, 1e-5):
        site, value = Site("tests/a b:ü.py", 3, 1), Value("lower", ">=", number, -number)
        read = value_store.read_property(property_of(site, value))
        assert read is not None
        assert (read.file, read.line, read.ordinal, read.kind, read.op) == (*site, "lower", ">=")
        assert (repr(read.bound), repr(read.value)) == (repr(number), repr(-number))


def test_old_series_go_and_go_with_their_project(send: Send, project: Project) -> None:
    send(report(valued(0.25)), build_id="1")
    (step,) = [step for step in STEPS if step.name == "values"]
    none = Cutoffs(**dict.fromkeys(Cutoffs.__dataclass_fields__))
    from dataclasses import replace

    ValueSeries.objects.update(updated_at=timezone.now() - timedelta(days=10))
    assert step.old(project.pk, none) is None
    assert not step.old(project.pk, replace(none, reports=timezone.now() - timedelta(days=20))).exists()
    assert step.old(project.pk, replace(none, reports=timezone.now() - timedelta(days=5))).count() == 1
