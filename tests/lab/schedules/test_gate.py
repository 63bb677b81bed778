"""The gate measures a shard by its part of the stored split: what is missing of it holds the gate."""

from typing import Any

import pytest

from dashboard.quarantine.gate.service import gate_ask, gate_decide
from dashboard.quarantine.models import GateDecision
from dashboard.quarantine.services import Terms, quarantine_create
from dashboard.quarantine.states import Action
from ingest.models import Project, Test, Upload
from tests.api_client import Program
from tests.conftest import Send
from tests.lab.schedules.suites import Names, document, names_of, shard
from tests.quarantine.conftest import ANNA

NAMES = names_of(12)
FLAKY = NAMES[0][1]


@pytest.fixture
def earlier(ci: Program, project: Project, send: Send) -> None:
    """Three builds of which the splits are known, and a test in quarantine."""
    for build in ("1", "2", "3"):
        shard(ci, NAMES, 1, 2, build=build)
    send(document(NAMES), build_id="0", job="all")
    tests = list(Test.objects.filter(name=FLAKY))
    quarantine_create(project=project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)


def ran(send: Send, names: Names, index: int = 1, **metadata: Any) -> Upload:
    """What a shard sends of a red run: the quarantined test fails, before others."""
    failing_first = sorted(names, key=lambda name: name[1] != FLAKY)
    sent = {"build_id": "77", "job": "test", "shard": f"{index}/2", **metadata}
    return send(document(failing_first, failing=[FLAKY]), **sent)


def decide(upload: Upload, exit_code: int = 1) -> GateDecision:
    return gate_decide(decision=gate_ask(upload=upload, exit_code=exit_code, runner="pytest"))


def codes(decision: GateDecision) -> list[str]:
    return [reason["code"] for reason in decision.reasons]


def own_part(ci: Program) -> tuple[int, Names]:
    """The shard of the quarantined test, and all of its tests."""
    parts = shard(ci, NAMES, 1, 2)["shards"]
    index = next(number for number, part in enumerate(parts, start=1) if 0 in part)
    return index, [NAMES[place] for place in parts[index - 1]]


def test_a_shard_that_ran_its_part_may_pass_without_runs_like_it(ci: Program, send: Send, earlier: None) -> None:
    index, part = own_part(ci)
    decision = decide(ran(send, part, index))
    assert (decision.passed, codes(decision)) == (True, [])


def test_a_test_of_the_part_that_did_not_run_holds_the_gate(ci: Program, send: Send, earlier: None) -> None:
    index, part = own_part(ci)
    assert part[-1][1] != FLAKY
    decision = decide(ran(send, part[:-1], index))
    assert codes(decision) == ["split_incomplete"]
    named = f"{part[-1][0]}: {part[-1][1]}"
    assert decision.reasons[0]["sentence"] == f"1 test that the split gives to this shard did not run: {named}."


def test_the_norm_of_shards_does_not_count_where_a_split_says_what_runs(ci: Program, send: Send, earlier: None) -> None:
    """Runs of this shard had more tests, since earlier splits were others."""
    index, part = own_part(ci)
    for build in ("1", "2", "3"):
        ran(send, NAMES, index, build_id=build)
    assert decide(ran(send, part, index)).passed


def test_tests_of_the_part_that_are_skipped_and_ran_of_late_hold_the_gate(
    ci: Program, send: Send, earlier: None
) -> None:
    """A runner that stops early may tell the rest as skipped."""
    index, part = own_part(ci)
    others = [name for _, name, _ in part if name != FLAKY]
    upload = send(document(part, failing=[FLAKY], skipped=others), build_id="77", job="test", shard=f"{index}/2")
    decision = decide(upload)
    assert codes(decision) == ["too_few_tests"]
    told = f"{len(others)} of {len(part)} tests of this run were skipped; of late they ran."
    assert decision.reasons[0]["sentence"] == told


def test_tests_that_are_always_skipped_hold_nothing(ci: Program, project: Project, send: Send) -> None:
    for build in ("1", "2", "3"):
        shard(ci, NAMES, 1, 2, build=build)
    always = [name for _, name, _ in NAMES[6:]]
    send(document(NAMES, skipped=always), build_id="0", job="all")
    tests = list(Test.objects.filter(name=FLAKY))
    quarantine_create(project=project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)
    index, part = own_part(ci)
    failing_first = sorted(part, key=lambda name: name[1] != FLAKY)
    sent = {"build_id": "77", "job": "test", "shard": f"{index}/2"}
    assert decide(send(document(failing_first, failing=[FLAKY], skipped=always), **sent)).passed


def test_a_split_of_fewer_tests_than_earlier_ones_holds_the_gate(ci: Program, send: Send, earlier: None) -> None:
    half = NAMES[:6]
    parts = shard(ci, half, 1, 2)["shards"]
    index = next(number for number, part in enumerate(parts, start=1) if 0 in part)
    decision = decide(ran(send, [half[place] for place in parts[index - 1]], index))
    assert codes(decision) == ["too_few_tests"]
    assert decision.reasons[0]["sentence"] == "The split is of 6 tests; earlier ones of this job were of 12."


def test_a_whole_part_that_ends_with_a_failure_was_not_cut_short(ci: Program, send: Send, earlier: None) -> None:
    """The suite is a little smaller than it was."""
    names = names_of(40)
    for build in ("4", "5", "6", "7", "8"):
        shard(ci, names, 1, 2, build=build)
    parts = shard(ci, names[:39], 1, 2)["shards"]
    index = next(number for number, part in enumerate(parts, start=1) if 0 in part)
    tests = [*(names[place] for place in parts[index - 1] if place), names[0]]
    upload = send(document(tests, failing=[FLAKY]), build_id="77", job="test", shard=f"{index}/2")
    assert decide(upload).passed


def test_the_first_splits_of_a_job_are_measured_by_runs_as_before(ci: Program, project: Project, send: Send) -> None:
    send(document(NAMES), build_id="0", job="all")
    tests = list(Test.objects.filter(name=FLAKY))
    quarantine_create(project=project, tests=tests, actor=ANNA, terms=Terms(), action=Action.QUARANTINE)
    index, part = own_part(ci)
    assert "first_of_its_kind" in codes(decide(ran(send, part, index)))
    assert "split_incomplete" in codes(decide(ran(send, part[:-1], index, attempt=2)))


def test_a_fork_is_measured_by_the_norm_too(ci: Program, send: Send, earlier: None) -> None:
    """It may have made the split itself."""
    index, part = own_part(ci)
    upload = ran(send, part, index)
    Upload.objects.update(untrusted=True)
    assert "first_of_its_kind" in codes(decide(Upload.objects.get(pk=upload.pk)))


def test_a_green_shard_that_lacks_tests_passes_with_a_note(ci: Program, send: Send, earlier: None) -> None:
    index, part = own_part(ci)
    decision = decide(ran(send, part[:-1], index), exit_code=0)
    assert decision.passed
    assert "split_incomplete" in [note["code"] for note in decision.notes]


def test_what_another_shard_took_over_is_not_missing_here(ci: Program, send: Send, earlier: None) -> None:
    """The shard lacks a test of its part; the other one asks later, has it, and runs it."""
    index, part = own_part(ci)
    other, lost = 3 - index, part[-1]
    fewer = [name for name in NAMES if name != lost]
    answer = shard(ci, fewer, index, 2)
    assert "1 of them was to run here: the next shard that asks and has them runs them." in answer["warnings"][0]
    mine = [fewer[place] for place in answer["shards"][index - 1]]
    assert "split_incomplete" in codes(decide(ran(send, mine, index)))
    theirs = [NAMES[place] for place in shard(ci, NAMES, other, 2)["shards"][other - 1]]
    assert lost in theirs
    assert decide(ran(send, mine, index, attempt=2)).passed
    without = ran(send, [name for name in theirs if name != lost], other)
    assert "split_incomplete" in codes(decide(without))
