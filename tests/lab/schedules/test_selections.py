"""What is selected for a build is kept, and a run of it is measured by that list."""

from typing import Any

import numpy as np
import pytest

from analytics.lab.schedules.models import SELECT, Split
from analytics.lab.schedules.split_check import split_check
from dashboard.quarantine.gate.expected_size import RUNS, norm_of
from dashboard.quarantine.services import Terms, quarantine_create
from dashboard.quarantine.states import Action
from ingest.models import Project, Run, Test, Upload
from tests.api_client import Program, code
from tests.conftest import Send
from tests.lab.schedules.coverages import COVERED, keep_coverage
from tests.lab.schedules.suites import document, names_of
from tests.lab.schedules.test_gate import codes, decide
from tests.quarantine.conftest import ANNA

NAMES = names_of(40)
FLAKY = NAMES[0][1]
CHOSEN = [0, 1, 3]
LINES = {"src.py": [[2, 2]], "more.py": [[3, 3]]}


@pytest.fixture
def coverage(upload_token: str) -> int:
    unconcerned = {place: {"src.py": (9,)} for place in range(4, len(NAMES))}
    return keep_coverage(upload_token, NAMES, {**COVERED, **unconcerned})


def select(ci: Program, coverage: int, names: Any = NAMES, lines: Any = LINES, **more: Any) -> Any:
    changed = {"coverage": coverage, "lines": lines}
    return ci.post("schedules", kind="select", tests=names, changed=changed, **{"build": "77", "job": "test", **more})


@pytest.fixture
def earlier(ci: Program, coverage: int, project: Project, send: Send) -> None:
    """Three builds of which the selections are known, and a test in quarantine."""
    for build in ("1", "2", "3"):
        select(ci, coverage, build=build)
    send(document(NAMES), build_id="0", job="all")
    tests = list(Test.objects.filter(name=FLAKY))
    quarantine_create(project=project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)


def ran(send: Send, places: list[int], **metadata: Any) -> Upload:
    tests = [NAMES[place] for place in places]
    return send(document(tests, failing=[FLAKY]), **{"build_id": "77", "job": "test", **metadata})


def test_a_selection_for_a_build_is_kept_by_names(ci: Program, coverage: int) -> None:
    response = select(ci, coverage)
    answer = response.json()
    assert (response.status_code, answer["order"]) == (201, CHOSEN)
    kept = ci.get(f"schedules/{answer['id']}").json()
    assert (kept["kind"], kept["build"], kept["total"], kept["tests"]) == ("select", "77", 1, 40)
    assert kept["shards"] == [[NAMES[place] for place in CHOSEN]]


def test_the_newest_selection_from_the_same_tests_counts(ci: Program, coverage: int) -> None:
    first = select(ci, coverage).json()["id"]
    again = select(ci, coverage, lines={"src.py": [[4, 4]]})
    assert (again.status_code, again.json()["id"]) == (200, first)
    assert ci.get(f"schedules/{first}").json()["shards"] == [[NAMES[1]]]
    select(ci, coverage, names=NAMES[:4])
    assert Split.objects.filter(kind=SELECT, build="77").count() == 2


def test_without_a_build_nothing_is_kept(ci: Program, coverage: int) -> None:
    response = select(ci, coverage, build="")
    assert (response.status_code, response.json()["id"], Split.objects.count()) == (200, None, 0)


def test_an_order_takes_no_build(ci: Program) -> None:
    assert code(ci.post("schedules", kind="order", tests=NAMES, build="77")) == (422, "invalid")


def test_a_run_of_what_was_selected_may_pass(ci: Program, coverage: int, send: Send, earlier: None) -> None:
    select(ci, coverage)
    decision = decide(ran(send, CHOSEN))
    assert (decision.passed, codes(decision)) == (True, [])


def test_without_a_selection_the_same_run_is_held(send: Send, earlier: None) -> None:
    assert "too_few_tests" in codes(decide(ran(send, CHOSEN)))


def test_a_selected_test_that_did_not_run_holds_the_gate(ci: Program, coverage: int, send: Send, earlier: None) -> None:
    select(ci, coverage)
    decision = decide(ran(send, CHOSEN[:-1]))
    assert codes(decision) == ["selection_incomplete"]
    named = f"{NAMES[3][0]}: {NAMES[3][1]}"
    assert decision.reasons[0]["sentence"] == f"1 test that the selection chose did not run: {named}."
    green = decide(ran(send, CHOSEN[:-1], attempt=2), exit_code=0)
    assert (green.passed, "selection_incomplete" in [note["code"] for note in green.notes]) == (True, True)


def test_a_run_that_names_other_tests_is_measured_by_the_norm(
    ci: Program, coverage: int, send: Send, earlier: None
) -> None:
    """More than the selection ran: a list of three tests does not say how many."""
    select(ci, coverage)
    assert "too_few_tests" in codes(decide(ran(send, [*CHOSEN, 7, 8])))


def test_a_selection_from_fewer_tests_than_earlier_ones_holds_the_gate(
    ci: Program, coverage: int, send: Send, earlier: None
) -> None:
    select(ci, coverage, names=NAMES[:20])
    decision = decide(ran(send, CHOSEN))
    assert codes(decision) == ["too_few_tests"]
    assert decision.reasons[0]["sentence"] == "The selection is of 20 tests; earlier ones of this job were of 40."


def test_a_fork_is_measured_by_the_norm_too(ci: Program, coverage: int, send: Send, earlier: None) -> None:
    """It may have made the selection itself."""
    select(ci, coverage)
    upload = ran(send, CHOSEN)
    Upload.objects.update(untrusted=True)
    assert "too_few_tests" in codes(decide(Upload.objects.get(pk=upload.pk)))


def test_a_job_may_select_from_two_collections(ci: Program, coverage: int, send: Send, earlier: None) -> None:
    """The second, of which nothing ran yet, is not missing; one that was begun has to be whole."""
    select(ci, coverage, names=NAMES[:2])
    select(ci, coverage, names=NAMES[2:])
    assert "selection_incomplete" not in codes(decide(ran(send, [0, 1])))
    assert "selection_incomplete" in codes(decide(ran(send, [0, 3], attempt=2)))
    assert "selection_incomplete" not in codes(decide(ran(send, [0, 1, 3], attempt=3)))


def test_the_run_page_says_whether_all_selected_tests_ran(
    ci: Program, coverage: int, project: Project, send: Send, earlier: None
) -> None:
    select(ci, coverage)
    whole, less = ran(send, CHOSEN), ran(send, CHOSEN[1:], attempt=2)
    assert whole.run is not None
    assert less.run is not None
    checked, lacking = split_check(project, whole.run), split_check(project, less.run)
    assert checked is not None
    assert lacking is not None
    assert checked.sentence == "All 3 selected tests ran."
    assert (lacking.sentence, list(lacking.names)) == (
        "1 of 3 selected tests did not run.",
        [f"{NAMES[0][0]}: {FLAKY}"],
    )


def norm(project: Project, upload: Upload) -> int | None:
    run = Run.objects.get(pk=upload.run_id)
    return norm_of(project, run, np.array(Test.objects.values_list("number", flat=True))).tests


def test_runs_of_selections_do_not_lower_the_norm_of_whole_runs(
    ci: Program, coverage: int, project: Project, send: Send
) -> None:
    for number in range(3):
        send(document(NAMES), build_id=f"whole {number}", job="test")
    for number in range(RUNS):
        select(ci, coverage, build=str(number))
        ran(send, CHOSEN, build_id=str(number))
    assert norm(project, ran(send, [0, 1], build_id="cut short")) == len(NAMES)


def test_a_run_of_more_than_its_selection_counts_in_the_norm(
    ci: Program, coverage: int, project: Project, send: Send
) -> None:
    """Nobody takes whole runs out of the norm by asking for a selection of their build."""
    for number in range(3):
        select(ci, coverage, build=str(number))
        send(document(NAMES), build_id=str(number), job="test")
    assert norm(project, ran(send, [0, 1], build_id="cut short")) == len(NAMES)


def test_a_run_without_a_kind_is_compared_with_whole_runs_rather_than_with_shards(project: Project, send: Send) -> None:
    send(document(NAMES), build_id="1", job="test")
    for index in (1, 2):
        for build in ("1", "2"):
            half = NAMES[index % 2 :: 2]
            send(document(half), build_id=build, job="sharded", shard=f"{index}/2")
    assert norm(project, send(document(NAMES[:20]), build_id="3", job="new")) == len(NAMES)
