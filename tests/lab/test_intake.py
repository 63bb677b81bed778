"""What an experiment's upload makes: orders and probes of its own, each once, and nothing that counts."""

import pytest

from ingest import selectors
from ingest.lab.probes import MOST_PROBES, unpacked
from ingest.models import Experiment, ExperimentOrder, ProbeBatch, Project, Report, Run, Test, Upload
from ingest.processing import upload_process
from ingest.selectors import report_order, uploads_of
from ingest.services import upload_reprocess
from tests.conftest import Send
from tests.lab.experiments import begin, junit, order_file, probes, send_orders

A, B, C = "tests/test_a.py::test_a", "tests/test_a.py::test_b", "tests/test_c.py::TestC::test_c"


@pytest.fixture
def experiment(project: Project) -> Experiment:
    return begin(project)


def orders_of(experiment: Experiment) -> list[tuple[int, str, list[str]]]:
    found = ExperimentOrder.objects.filter(experiment=experiment).order_by("round").select_related("report__roster")
    name = dict(Test.objects.filter(project=experiment.project).values_list("number", "name"))
    return [
        (order.round, order.how, [name[number] for number in report_order(order.report).tolist()]) for order in found
    ]


def test_each_file_is_a_whole_order_of_its_own(experiment: Experiment) -> None:
    upload = send_orders(
        experiment,
        order_file(experiment, 0, [A, B, C]),
        order_file(experiment, 1, [C, B, A], [A], how="reverse-class-method"),
    )
    assert upload.state == Upload.State.PROCESSED, upload.error
    assert orders_of(experiment) == [
        (0, "original-order", ["test_a", "test_b", "test_c"]),
        (1, "reverse-class-method", ["test_c", "test_b", "test_a"]),
    ]
    assert [report.failed for report in Report.all_objects.order_by("experimentorder__round")] == [0, 1]


def test_nothing_of_it_is_among_what_ci_sent(experiment: Experiment) -> None:
    send_orders(experiment, order_file(experiment, 1, [A, B], [A]))
    assert not Run.objects.exists() and not Run.counted.exists() and Run.all_objects.count() == 1
    assert not Report.objects.exists() and not Report.counted.exists() and Report.all_objects.count() == 1
    assert not uploads_of(experiment.project_id).exists()
    assert not Test.in_ci.exists() and Test.objects.count() == 2
    assert len(selectors.test_history(Test.objects.get(name="test_a"))) == 0


def test_a_round_counts_once_whoever_sends_it_again(experiment: Experiment) -> None:
    first = order_file(experiment, 1, [A, B], [B])
    send_orders(experiment, first)
    again = send_orders(experiment, first, order_file(experiment, 2, [B, A]))
    other = send_orders(experiment, order_file(experiment, 1, [B, A], [A]))
    assert [order[0] for order in orders_of(experiment)] == [1, 2]
    assert Report.all_objects.get(experimentorder__round=1).failed == 1
    warnings = [
        warning["code"] for upload in (again, other) for file in upload.files for warning in file.get("warnings", ())
    ]
    assert [code for code in warnings if code.startswith("known_")] == ["known_file", "known_round"]


def test_an_order_that_is_processed_again_keeps_its_report(experiment: Experiment) -> None:
    upload = send_orders(experiment, order_file(experiment, 1, [A, B], [B]), probes("e1", [A, B], [_probe(1)]))
    before = list(ExperimentOrder.objects.values_list("report_id", "round"))
    assert upload_reprocess(upload=upload)
    upload_process(upload_id=upload.pk)
    assert list(ExperimentOrder.objects.values_list("report_id", "round")) == before
    experiment.refresh_from_db()
    assert (experiment.probes, experiment.probes_left_out) == (1, 0)


def test_a_file_of_another_experiment_or_of_none_is_not_understood(experiment: Experiment) -> None:
    files = [
        junit([A], experiment="other", round=1),
        junit([A], experiment="e1"),
        junit([A], experiment="e1", round="two"),
        junit([A]),
    ]
    upload = send_orders(experiment, order_file(experiment, 1, [A]), *files)
    codes = sorted(file["error"]["code"] for file in upload.files if "error" in file)
    assert codes == ["no_round", "no_round", "other_experiment", "other_experiment"]
    assert [order[0] for order in orders_of(experiment)] == [1]


def test_an_order_among_results_of_ci_is_not_understood(send: Send) -> None:
    upload = send(junit([A, B]), junit([B, A], [A], experiment="e1", round=1), build_id="1")
    assert [file["account"] for file in upload.files] == ["read", "not_understood"]
    assert upload.files[1]["error"]["code"] == "experiment_result"
    assert Report.objects.get().failed == 0


def _probe(n: int, **values: object) -> dict[str, object]:
    return {"n": n, "order": [0, 1], "verdict": "F", "seconds": 0.25, "why": "ddmin", "for": 1, **values}


def test_probes_are_kept_each_once(experiment: Experiment) -> None:
    send_orders(experiment, probes("e1", [A, B], [_probe(1), _probe(2, verdict="P", order=[1])]))
    send_orders(experiment, probes("e1", [A, B], [_probe(2), _probe(3, seconds=None)]))
    experiment.refresh_from_db()
    kept = [probe for batch in ProbeBatch.objects.order_by("pk") for probe in unpacked(bytes(batch.content))]
    assert [(probe.number, probe.order, probe.verdict, probe.seconds) for probe in kept] == [
        (1, (0, 1), "F", 0.25),
        (2, (1,), "P", 0.25),
        (3, (0, 1), "F", None),
    ]
    assert experiment.probes == 3


@pytest.mark.parametrize(
    "line",
    [
        {"n": -1},
        {"n": True},
        {"order": []},
        {"order": [2]},
        {"order": "01"},
        {"verdict": "PF"},
        {"verdict": ""},
        {"verdict": None},
    ],
)
def test_a_probe_that_is_not_as_agreed_is_told_with_its_line(experiment: Experiment, line: dict[str, object]) -> None:
    upload = send_orders(
        experiment, order_file(experiment, 1, [A]), probes("e1", [A, B], [_probe(1), {**_probe(2), **line}])
    )
    error = next(file["error"] for file in upload.files if "error" in file)
    assert (error["code"], error["line"]) == ("bad_probes", 3)
    assert upload.state == Upload.State.PROCESSED and not ProbeBatch.objects.exists()


def test_probes_beyond_the_limit_are_refused_in_one_file_and_counted_over_several(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_PROBES == 200_000
    for module in ("probes", "services"):
        monkeypatch.setattr(f"ingest.lab.{module}.MOST_PROBES", 3)
    refused = send_orders(experiment, probes("e1", [A, B], map(_probe, range(4))))
    assert (refused.state, refused.error["code"]) == (Upload.State.REJECTED, "limit_probes")
    send_orders(experiment, probes("e1", [A, B], map(_probe, range(2))))
    send_orders(experiment, probes("e1", [A, B], map(_probe, range(1, 4))))
    experiment.refresh_from_db()
    assert (experiment.probes, experiment.probes_left_out) == (3, 1)


def test_a_test_that_ci_names_after_an_experiment_is_new_then(experiment: Experiment, send: Send) -> None:
    send_orders(experiment, order_file(experiment, 1, [A, B]))
    assert list(Test.objects.values_list("seen_in_ci", flat=True)) == [False, False]
    upload = send(junit([A]), build_id="1")
    seen = {test.name: test for test in Test.objects.all()}
    assert (seen["test_a"].seen_in_ci, seen["test_b"].seen_in_ci) == (True, False)
    assert seen["test_a"].first_seen == upload.run.placed_at != seen["test_b"].first_seen
    assert Test.objects.count() == 2


def test_an_experiment_does_not_decide_which_order_is_usual(experiment: Experiment, send: Send) -> None:
    send_orders(experiment, order_file(experiment, 1, [B, A]))
    send(junit([A, B]), build_id="1")
    report = Report.objects.get()
    assert report.order is None and report.roster.usual_order_digest == report.order_digest
