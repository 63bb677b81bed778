"""A project's predictor: it earns its word or is silent, keeps what it says, and is no evidence."""

from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from django.test import Client

from analytics.columns.codec import columns_of
from analytics.columns.query import Choice, chosen_rows
from analytics.kernel.likeness.backtest import backtest
from analytics.kernel.parameters import Demands
from analytics.likeness import predictor
from analytics.likeness.models import Prediction
from analytics.likeness.predictor import Predictor
from analytics.likeness.selectors import track_record
from analytics.models import Analysis, TestFinding
from analytics.services import analysis_refresh
from dashboard.quarantine.gate.service import gate_ask
from dashboard.quarantine.policy.service import policy_ground
from dashboard.quarantine.policy.settings import DEFAULTS
from ingest.models import Project, Run, Test, Upload
from tests.api_client import Program
from tests.conftest import Send
from tests.likeness.units import drawn
from tests.likeness.worlds import (
    BEGIN,
    OFTEN,
    TESTS,
    earning,
    few_executions,
    grown,
    new_tests,
    project,
    report,
    run_again,
    silent_world,
)
from tests.likeness.worlds import names as all_names

__all__ = ["earning", "few_executions", "grown", "project"]
SHELTERED, EXPOSED = ("shop.test_11", "test_new"), ("shop.test_00", "test_new")
ADDED = [EXPOSED, SHELTERED]


def number_of(project: Project, name: tuple[str, str]) -> int:
    return Test.objects.get(project=project, classname=name[0], name=name[1]).number


def likely_numbers(analysis: Analysis) -> list[int]:
    columns = columns_of(analysis)
    return columns["number"][chosen_rows(columns, Choice(prediction="likely"))].tolist()


# -- the right to speak ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("earning")
def test_a_predictor_that_was_right_before_speaks_of_new_tests(project: Project, send: Send, read_token: str) -> None:
    before = analysis_refresh(project=project)
    kept = before.summary["prediction"]
    assert kept["why"] == "" and kept["level"] == 0.5 and not kept["live"]
    assert kept["record"]["right"] / kept["record"]["of"] > 0.8 and kept["record"]["low"] >= 0.5
    assert (kept["flaky"], kept["stable"], kept["open"]) == (40, 80, 0)
    assert likely_numbers(before) == [] and not Prediction.objects.exists()

    new_tests(send, ADDED)
    now = analysis_refresh(project=project)
    assert likely_numbers(now) == [number_of(project, EXPOSED)]
    (made,) = Prediction.objects.filter(word="likely")
    assert made.number == number_of(project, EXPOSED) and made.right is None and made.level == 0.5

    program = Program(read_token)
    shown = program.read(f"tests/{made.number}")
    assert shown["prediction"]["word"] == "likely" and shown["prediction"]["right"] is None
    assert shown["likeness"]["beside"] == {"flaky": TESTS, "of": TESTS} and shown["likeness"]["like"] is None
    assert shown["test"]["state"] == "stable", "a prediction is never evidence"
    sheltered = program.read(f"tests/{number_of(project, SHELTERED)}")
    assert sheltered["prediction"] is None and sheltered["likeness"]["beside"]["flaky"] == 0
    listed = program.read("predictions?settled=open")
    assert [row["test"]["name"] for row in listed["results"]] == ["test_new"]
    assert listed["speaks"] and listed["settled"] is None and listed["record"] == kept["record"]
    assert [row["number"] for row in program.read("tests?prediction=likely")["results"]] == [made.number]


@pytest.mark.usefixtures("few_executions")
def test_a_predictor_that_is_no_better_than_chance_is_silent(project: Project, send: Send, read_token: str) -> None:
    kept = silent_world(project, send).summary["prediction"]
    assert kept["level"] is None and kept["record"] is None
    assert kept["why"].startswith(("earlier predictions were right too seldom", "fewer than 10 earlier cases"))
    new_tests(send, ADDED)
    assert likely_numbers(analysis_refresh(project=project)) == []
    answer = Program(read_token).read("predictions")
    assert not answer["speaks"] and answer["why"] == kept["why"] and answer["results"] == []


def test_of_a_very_large_project_the_newest_tests_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictor, "_MOST_JUDGED", 40)
    monkeypatch.setattr(predictor, "_EARLIER", {})
    units, flaky = drawn(3, 90)
    source = np.random.default_rng(3)
    written, is_labelled = source.permutation(90).astype(np.float64), source.random(90) < 0.8
    examples = SimpleNamespace(
        labels=SimpleNamespace(known=is_labelled, flaky=flaky), known=SimpleNamespace(units=units, written=written)
    )
    newest = np.argsort(written)[-40:]
    judged = newest[is_labelled[newest]]
    expected = backtest(units.take(judged), flaky[judged])
    found = predictor._backtest(1, examples)  # type: ignore[arg-type]
    assert found.score == pytest.approx(expected.score, rel=1e-12)
    assert found.flaky.tolist() == expected.flaky.tolist()


@pytest.mark.usefixtures("grown")
def test_with_its_real_demands_it_speaks_where_it_was_right(project: Project, send: Send) -> None:
    """A hundred executions and more of each test, as a project has them after some days."""
    run_again(send, 100 - OFTEN)
    kept = analysis_refresh(project=project).summary["prediction"]
    assert (kept["flaky"], kept["stable"], kept["open"], kept["why"]) == (40, 80, 0, "")
    assert kept["level"] == 0.5 and kept["record"]["right"] / kept["record"]["of"] > 0.8
    new_tests(send, ADDED)
    assert likely_numbers(analysis_refresh(project=project)) == [number_of(project, EXPOSED)]


def test_with_its_real_demands_it_is_silent_where_flaky_tests_lie_anywhere(project: Project, send: Send) -> None:
    kept = silent_world(project, send, often=100).summary["prediction"]
    assert kept["flaky"] >= 7 and kept["stable"] >= 80 and kept["open"] == 0
    assert kept["level"] is None and kept["why"]
    new_tests(send, ADDED)
    assert likely_numbers(analysis_refresh(project=project)) == []


@pytest.mark.usefixtures("earning")
def test_a_demand_that_nobody_meets_keeps_it_silent(project: Project) -> None:
    analysis_refresh(project=project)
    project.least_right = 0.97
    project.save(update_fields=("least_right",))
    assert analysis_refresh(project=project).summary["prediction"]["why"].startswith("earlier predictions")


@pytest.mark.usefixtures("grown")
def test_where_few_tests_ran_often_flaky_ones_alone_are_no_examples(project: Project) -> None:
    """Without this every test of a young project would look like a flaky one."""
    kept = analysis_refresh(project=project).summary["prediction"]
    assert (kept["flaky"], kept["stable"]) == (40, 0)
    assert kept["why"] == "most tests have run fewer than 100 times" and kept["level"] is None


def test_an_empty_project_is_silent(project: Project) -> None:
    kept = analysis_refresh(project=project).summary["prediction"]
    assert kept["why"] == "fewer than 7 flaky tests to learn from" and kept["runs_advised"] == 59


# -- right or wrong ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("earning")
def test_predictions_are_settled_by_evidence(project: Project, send: Send, read_token: str) -> None:
    analysis_refresh(project=project)
    other = ("shop.test_01", "test_new")
    new_tests(send, [EXPOSED, other])
    analysis_refresh(project=project)
    assert {row.right for row in Prediction.objects.all()} == {None}
    for build in range(4):
        failing = [EXPOSED] if build == 0 else []
        new_tests(send, [EXPOSED, other], failing, build_id=f"again-{build}")
    analysis_refresh(project=project)
    settled = {row.number: row.right for row in Prediction.objects.all()}
    assert settled == {number_of(project, EXPOSED): True, number_of(project, other): False}
    record = track_record(project.pk)
    assert record is not None and (record.right, record.of) == (1, 2) and record.low < 0.5 < record.high
    program = Program(read_token)
    for word, name in (("right", EXPOSED), ("wrong", other)):
        (row,) = program.read(f"predictions?settled={word}")["results"]
        assert row["test"]["classname"] == name[0] and row["settled_at"]


def settled(project: Project, count: int, right: int, score: float = 0.7, word: str = "likely") -> None:
    for place in range(count):
        Prediction.objects.create(
            project=project,
            unit=f"{word}{score}{place}".encode(),
            number=0,
            score=score,
            word=word,
            right=place < right,
        )


@pytest.mark.usefixtures("earning")
def test_thirty_real_predictions_take_the_place_of_the_backtest(project: Project) -> None:
    analysis_refresh(project=project)
    settled(project, 29, 5)
    assert not analysis_refresh(project=project).summary["prediction"]["live"]
    settled(project, 1, 0, score=0.8)
    kept = analysis_refresh(project=project).summary["prediction"]
    assert kept["live"] and kept["why"] == "earlier predictions were right too seldom (5 of 30)"


@pytest.mark.usefixtures("earning")
def test_scores_about_which_nothing_was_said_keep_the_level_from_falling(project: Project) -> None:
    analysis_refresh(project=project)
    settled(project, 40, 36, score=0.75)
    settled(project, 60, 3, score=0.55, word="")
    assert analysis_refresh(project=project).summary["prediction"]["level"] == 0.6


# -- never evidence ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("earning")
def test_nothing_else_changes_with_predictions(project: Project, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    """States, rates, findings, the gate's answer and quarantines are the same with a predictor and without one."""
    analysis_refresh(project=project)
    new_tests(send, ADDED, [EXPOSED], build_id="red", commit="red", pull_request="7", branch="feature")

    def concluded() -> tuple[object, ...]:
        analysis = analysis_refresh(project=project)
        columns = columns_of(analysis)
        numbers = {name: columns[name].tolist() for name in columns._archive.files if name != "prediction"}
        summary = {name: value for name, value in analysis.summary.items() if name != "prediction"}
        findings = list(TestFinding.objects.filter(analysis=analysis).order_by("number").values_list("number", "data"))
        upload = Upload.objects.get(run=Run.objects.get(project=project, build_id="red"))
        gate = gate_ask(upload=upload, exit_code=1, runner="")
        ground = policy_ground(project, DEFAULTS, now=BEGIN + timedelta(days=9))
        assert ground is not None and ground.candidates
        return repr(numbers), repr(summary), findings, gate.passed, gate.sentence, gate.failing, repr(ground)

    with_predictor = concluded()
    assert analysis_refresh(project=project).summary["prediction"]["level"] is not None

    def silent(project: Project, columns: object) -> Predictor:
        raise_no_word = Demands(stable_executions=4, least_flaky=10**6)
        with monkeypatch.context() as patched:
            patched.setattr(predictor, "DEMANDS", raise_no_word)
            return predictor.learn(project, columns)  # type: ignore[arg-type]

    monkeypatch.setattr("analytics.services.learn", silent)
    assert concluded() == with_predictor
    assert analysis_refresh(project=project).summary["prediction"]["level"] is None


def test_only_pages_and_the_api_read_predictions() -> None:
    """The gate, quarantine and policies cannot know them: they import nothing of them."""
    from tests.test_architecture import imports, modules, name_of

    read = [path for folder in ("dashboard/quarantine", "dashboard/notify", "ingest") for path in modules(folder)]
    read += [path for path in modules("analytics/kernel") if "likeness" not in path.parts]
    found = [(name_of(path), name) for path in read for name in imports(path) if "likeness" in name]
    assert found == []


# -- pages -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("earning")
def test_pages_show_a_prediction_with_its_record(project: Project, send: Send, admin_client: Client) -> None:
    analysis_refresh(project=project)
    new_tests(send, ADDED, build_id="pull", commit="pull", branch="feature", pull_request="12")
    record = analysis_refresh(project=project).summary["prediction"]["record"]
    right = f"of {record['of']} such predictions {record['right']} were right"

    def page(address: str) -> str:
        return " ".join(admin_client.get(f"/projects/{project.slug}/{address}").content.decode().split())

    test = page(f"tests/{number_of(project, EXPOSED)}")
    assert "10 of the 10 beside it are flaky." in test and "<strong>Likely flaky</strong>" in test and right in test
    sheltered = page(f"tests/{number_of(project, SHELTERED)}")
    assert "0 of the 10 beside it are flaky." in sheltered and "Likely flaky" not in sheltered
    run = page(f"runs/{Run.objects.get(project=project, build_id='pull').pk}")
    assert "New tests" in run and "1 of them is likely flaky" in run and right in run
    assert run.index("shop.test_00") < run.index("shop.test_11", run.index("New tests")), "likely flaky ones first"
    overview = page("")
    assert "No prediction of a new test is settled yet." in overview and "?prediction=likely" in overview
    assert "test_new" in page("tests?prediction=likely") and "shop.test_11" not in page("tests?prediction=likely")
    Prediction.objects.filter(word="likely").update(right=True)
    assert "Of 1 settled prediction 1 was right (100 %" in page("")


def test_a_silent_project_says_why(project: Project, send: Send, admin_client: Client) -> None:
    send(report(all_names(range(2), range(2)), set()), build_id="1", commit="a", branch="main")
    analysis_refresh(project=project)
    overview = admin_client.get(f"/projects/{project.slug}/").content.decode()
    assert "New tests are not predicted: most tests have run fewer than 100 times." in overview
    page = admin_client.get(f"/projects/{project.slug}/tests/0").content.decode()
    assert "No test of its class or file is known well enough" in page and "flakeboard sketch" in page
