"""The procedure on planted suites whose outcomes are known without running anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flakeboard.detection import reference
from flakeboard.detection.experiment import Result
from flakeboard.detection.findings import BRITTLE, NOD, OD, UNKNOWN, VICTIM
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.report import summary
from flakeboard.detection.search.dependencies import find_dependencies
from flakeboard.detection.search.suspects import Suspects
from flakeboard.problems import Problem

from tests.lab.detect.worlds import World, suite

Build = Callable[..., Laboratory]
TESTS = suite(4, 5)


def detect(lab: Laboratory, **parameters: Any) -> Procedure:
    chosen = Parameters(**{"seed": "s", "budget": 1_000.0, **parameters})
    found = reference.establish(lab, chosen.tries, chosen.without_failing, lambda line: None, 1e9)
    procedure = Procedure(lab, chosen, found, lambda line: None)
    procedure.run_rounds()
    find_dependencies(procedure, Suspects(None, lab.journal))
    return procedure


def found(procedure: Procedure) -> dict[str, tuple[str, str]]:
    return {TESTS[test]: (finding.kind, finding.role) for test, finding in procedure.known.items()}


def groups(procedure: Procedure, test: str) -> list[tuple[list[str], list[str]]]:
    finding = procedure.known[TESTS.index(test)]
    names = procedure.lab.suite.names
    return [(names(group.tests), names(group.cleaners)) for group in finding.groups]


def test_a_victim_is_found_with_its_polluter_and_a_cleaner(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[2], TESTS[17], cleaners=[TESTS[9]])
    procedure = detect(laboratory(world))
    assert found(procedure) == {TESTS[2]: (OD, VICTIM)}
    assert groups(procedure, TESTS[2]) == [([TESTS[17]], [TESTS[9]])]
    assert procedure.known[2].alone == (10, 10)
    group = procedure.known[2].groups[0]
    assert (group.shown, group.of, group.is_shown) == (3, 3, True)
    verified = [entry["order"] for entry in procedure.lab.journal.entries if entry.get("why") == "verify"]
    assert verified == [[2]] * 3 + [[17, 2]] * 3 + [[17, 9, 2]] * 3


def test_all_partners_and_all_cleaners_are_found(laboratory: Build) -> None:
    cleaners = [TESTS[9], TESTS[12]]
    world = World(TESTS).victim(TESTS[2], TESTS[17], TESTS[5], TESTS[19], cleaners=cleaners)
    procedure = detect(laboratory(world), minimize="all", cleaners="all")
    assert {polluter[0]: sorted(by) for polluter, by in groups(procedure, TESTS[2])} == {
        TESTS[5]: cleaners,
        TESTS[17]: cleaners,
        TESTS[19]: cleaners,
    }


def test_a_brittle_test_is_found_with_its_setters(laboratory: Build) -> None:
    world = World(TESTS, brittles={TESTS[12]: [TESTS[3], TESTS[7]]})
    procedure = detect(laboratory(world), minimize="all")
    assert found(procedure) == {TESTS[12]: (OD, BRITTLE)}
    assert groups(procedure, TESTS[12]) == [([TESTS[3]], []), ([TESTS[7]], [])]


def test_a_group_that_pollutes_together_is_kept_whole_and_in_order(laboratory: Build) -> None:
    world = World(TESTS, victims={TESTS[2]: [([TESTS[17], TESTS[6]], [])]})
    procedure = detect(laboratory(world), minimize="all")
    assert groups(procedure, TESTS[2]) == [([TESTS[17], TESTS[6]], [])]


def test_two_groups_are_both_found(laboratory: Build) -> None:
    world = World(TESTS, victims={TESTS[2]: [([TESTS[17], TESTS[6]], []), ([TESTS[19]], [])]})
    procedure = detect(laboratory(world), minimize="all")
    assert ([TESTS[19]], []) in groups(procedure, TESTS[2])
    assert ([TESTS[17], TESTS[6]], []) in groups(procedure, TESTS[2])


def test_reversing_finds_every_victim_of_one_polluter_at_once(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[0], TESTS[1]).victim(TESTS[6], TESTS[18])
    procedure = detect(laboratory(world), orders=1, minimize="no")
    assert set(found(procedure)) == {TESTS[0], TESTS[6]}
    assert procedure.lab.process.orders[1] == TESTS[::-1]


@pytest.mark.parametrize("rate", [0.5, 0.2])
def test_a_test_that_fails_at_random_is_not_called_order_dependent(laboratory: Build, rate: float) -> None:
    """By chance three reruns in a row may fail, and then alone, verified in new processes, it is mixed."""
    kinds = []
    for seed in range(20):
        world = World(TESTS, rates={TESTS[8]: rate})
        kinds += [finding.kind for finding in detect(laboratory(world, seed), without_failing=True).known.values()]
    assert kinds.count(NOD) >= 15
    assert OD not in kinds


def test_no_stable_test_is_reported(laboratory: Build) -> None:
    assert found(detect(laboratory(World(TESTS)))) == {}


def test_what_failed_only_because_another_did_is_marked(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[0], TESTS[10]).victim(TESTS[5], TESTS[10])
    procedure = detect(laboratory(world), orders=1, minimize="no")
    assert [procedure.known[test].after_failure for test in (5, 0)] == [False, True]


def test_a_skip_in_a_rerun_is_not_enough_data(laboratory: Build) -> None:
    lab = laboratory(World(TESTS).victim(TESTS[3], TESTS[10]))
    run = lab.process.run

    def skipping(order: Any, limit: float, **how: Any) -> Any:
        outcome = run(order, limit, **how)
        skipped = len(order) < len(TESTS) and order[-1] == TESTS[3]
        return outcome._replace(verdicts=outcome.verdicts[:-1] + "S") if skipped else outcome

    lab.process.run = skipping
    procedure = detect(lab, orders=1)
    assert procedure.known[3].kind == UNKNOWN


@pytest.mark.parametrize("letter", ["S", "-"], ids=["skipped", "not run"])
def test_a_verification_that_shows_nothing_reports_no_partner_and_calls_nothing_flaky(
    laboratory: Build, letter: str
) -> None:
    lab = laboratory(World(TESTS).victim(TESTS[3], TESTS[10]))
    probe = lab.probe

    def showing_nothing(order: Any, why: str, **how: Any) -> Any:
        outcome = probe(order, why, **how)
        is_pair = why == "verify" and len(order) == 2
        return outcome._replace(verdicts=outcome.verdicts[:-1] + letter) if is_pair else outcome

    lab.probe = showing_nothing  # type: ignore[method-assign]
    finding = detect(lab, orders=1).known[3]
    assert (finding.kind, finding.role, finding.groups) == (OD, VICTIM, [])
    assert finding.notes == ["was skipped or not run when its partners were verified"]


def test_a_random_order_that_was_clean_is_followed_by_its_reverse(laboratory: Build) -> None:
    lab = laboratory(World(TESTS))
    detect(lab, orders=5)
    whole = lab.process.orders[1:]
    assert whole[0] == TESTS[::-1]
    assert whole[2] == whole[1][::-1]
    assert whole[4] == whole[3][::-1]
    lab = laboratory(World(TESTS))
    detect(lab, orders=3, reverses=False)
    assert lab.process.orders[3] != lab.process.orders[2][::-1]


def test_the_rounds_leave_half_of_the_budget_to_minimization(laboratory: Build) -> None:
    lab = laboratory(World(TESTS).victim(TESTS[2], TESTS[17]))
    procedure = detect(lab, orders=20, budget=300 / 60)
    last = max(place for place, entry in enumerate(lab.journal.entries) if entry["kind"] == "order")
    assert procedure.ended == "budget"
    assert sum(entry["took"] for entry in lab.journal.entries[:last]) <= 150
    assert groups(procedure, TESTS[2]) == [([TESTS[17]], [])]


def test_a_budget_that_ends_is_told_and_nothing_half_done_is_reported(laboratory: Build) -> None:
    lab = laboratory(World(TESTS).victim(TESTS[2], TESTS[17]))
    procedure = detect(lab, orders=2, budget=200 / 60)
    finding = procedure.known[2]
    assert procedure.ended == "budget"
    assert finding.kind == OD and finding.groups == []
    assert "the budget ended before all of it was found out" in finding.notes


def test_a_summary_says_whether_any_other_order_was_run(laboratory: Build) -> None:
    lab = laboratory(World(TESTS))
    reference.establish(lab, 1, False, lambda line: None, 1e9)
    assert list(summary.lines(Result("interrupted", lab))) == [
        "no other order was run, so nothing is known of the tests."
    ]
    lab = laboratory(World(TESTS))
    detect(lab, orders=1)
    assert list(summary.lines(Result("orders", lab))) == ["no test is found to depend on the order."]


def test_a_budget_below_one_run_is_refused_with_both_numbers(laboratory: Build) -> None:
    with pytest.raises(Problem, match="budget of 30 s leaves no time .* took 20.0 s, and 20.0 s are spent"):
        detect(laboratory(World(TESTS)), budget=0.5)


def test_an_original_order_that_fails_is_refused_with_the_tests(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[5], TESTS[1])
    with pytest.raises(Problem, match=r"did not pass in 3 tries.*: test_01.py::test_00\. Use --without-failing"):
        detect(laboratory(world))
    world = World(TESTS)
    for test in TESTS[5:17]:
        world = world.victim(test, TESTS[1])
    with pytest.raises(Problem, match=r"did not pass in 3 tries.* and 2 more\. Use --without-failing"):
        detect(laboratory(world))


def test_what_always_fails_can_be_left_out(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[5], TESTS[1]).victim(TESTS[2], TESTS[17])
    procedure = detect(laboratory(world), without_failing=True)
    assert found(procedure) == {TESTS[2]: (OD, VICTIM)}
    assert procedure.lab.not_run == {TESTS[5]: "failed in all 3 runs of the original order"}


def test_a_test_that_ends_both_ways_in_one_order_is_flaky_at_once(laboratory: Build) -> None:
    procedure = detect(laboratory(World(TESTS, rates={TESTS[8]: 0.6}), seed=1), orders=1)
    assert found(procedure)[TESTS[8]] == (NOD, "")
    assert "runs of the original order" in procedure.known[8].why


@pytest.mark.parametrize(
    ("planted", "words"), [("crashes", "killed the process"), ("hangs", "ran into the time limit")]
)
def test_a_test_that_ends_the_process_is_named_and_left_out(laboratory: Build, planted: str, words: str) -> None:
    world = World(TESTS, **{planted: [TESTS[8]]}).victim(TESTS[2], TESTS[17])
    procedure = detect(laboratory(world), orders=3)
    assert found(procedure) == {TESTS[2]: (OD, VICTIM)}
    assert procedure.lab.not_run[TESTS[8]].startswith(words)
    orders = [entry["order"] for entry in procedure.lab.journal.entries if entry["kind"] == "order"]
    assert all(8 not in order for order in orders)


def test_only_some_tests_are_looked_at(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[2], TESTS[17]).victim(TESTS[6], TESTS[18])
    assert set(found(detect(laboratory(world), only=("test_01.py::*",)))) == {TESTS[6]}


def test_no_recheck_runs_the_failing_order_no_more(laboratory: Build) -> None:
    def confirmations(recheck: float) -> int:
        lab = laboratory(World(TESTS).victim(TESTS[2], TESTS[17]))
        detect(lab, recheck=recheck, orders=10)
        return sum(entry.get("why") == "confirm" for entry in lab.journal.entries)

    assert confirmations(0.0) == 3
    assert confirmations(100.0) > 6


@pytest.mark.parametrize(
    ("how", "test"), [("isolation", 12), ("one-by-one", 2), ("pairs", 2), ("pairs", 12)], ids=lambda value: str(value)
)
def test_configurations_of_parts_find_what_they_are_for(laboratory: Build, how: str, test: int) -> None:
    world = World(TESTS, brittles={TESTS[12]: [TESTS[3], TESTS[7]]}).victim(TESTS[2], TESTS[17])
    procedure = detect(laboratory(world), how=(how,), minimize="no")
    assert TESTS[test] in found(procedure)
    assert set(found(procedure)) <= {TESTS[2], TESTS[12]}


def test_a_test_that_is_left_out_costs_no_other_pair(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[5], TESTS[1]).victim(TESTS[2], TESTS[17])
    lab = laboratory(world)
    detect(lab, how=("pairs",), minimize="no", without_failing=True)
    orders = [entry["order"] for entry in lab.journal.entries if entry["kind"] == "order"]
    seen = {pair for order in orders for pair in zip(order, order[1:], strict=False)}
    others = [place for place in range(len(TESTS)) if place != 5]
    assert {(one, other) for one in others for other in others if one != other} <= seen
    assert not any(5 in order for order in orders)


def test_the_original_order_shows_flaky_tests_without_any_classification(laboratory: Build) -> None:
    lab = laboratory(World(TESTS, rates={TESTS[8]: 0.2}), seed=5)
    procedure = detect(lab, how=("original-order",))
    assert found(procedure) == {TESTS[8]: (NOD, "")}
    assert not [entry for entry in lab.journal.entries if entry.get("why") == "confirm"]
