"""New and changed tests: what git says of them, and the steps that look at each."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flakeboard.detection import reference
from flakeboard.detection.changed.changes import CHANGED, NEW, TestChanges, changes_since, functions_in
from flakeboard.detection.changed.targets import STEPS, Target, TargetSteps
from flakeboard.detection.findings import ID, NOD, OD, VICTIM
from flakeboard.detection.laboratory import Laboratory
from flakeboard.detection.parameters import Parameters
from flakeboard.detection.procedure import Procedure
from flakeboard.detection.search.dependencies import find_dependencies
from flakeboard.detection.search.suspects import Suspects
from flakeboard.problems import Problem

from tests.lab.detect.commands import Command
from tests.lab.detect.worlds import World, suite

TESTS = suite(4, 5)
Build = Callable[..., Laboratory]


def git(*words: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A commit with two files of tests, and another branch that went on."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    (tmp_path / "tests" / "test_a.py").write_text("def test_one(): pass\nclass TestB:\n    def test_two(self): pass\n")
    (tmp_path / "tests" / "test_b.py").write_text("def test_three(): pass\n" * 20)
    (tmp_path / "tests" / "deep" / "test_c.py").write_text("def test_four(): pass\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    return tmp_path


def statuses(folder: Path, *tests: str) -> list[str]:
    changes = TestChanges(changes_since("main"), str(folder))
    return [changes.status(test) for test in tests]


ONE, TWO = "tests/test_a.py::test_one", "tests/test_a.py::TestB::test_two[x]"


def test_nothing_is_new_in_a_clean_checkout(checkout: Path) -> None:
    assert statuses(checkout, ONE, TWO, "tests/deep/test_c.py::test_four") == ["", "", ""]


def test_a_function_that_the_commit_lacks_is_new_and_its_neighbours_are_changed(checkout: Path) -> None:
    with open(checkout / "tests" / "test_a.py", "a") as file:
        file.write("    def test_new(self): pass\n")
    assert statuses(checkout, ONE, TWO, "tests/test_a.py::TestB::test_new") == [CHANGED, CHANGED, NEW]


def test_a_file_that_is_not_committed_is_new(checkout: Path) -> None:
    (checkout / "tests" / "test_d.py").write_text("def test_five(): pass\n")
    assert statuses(checkout, "tests/test_d.py::test_five", ONE) == [NEW, ""]


def test_a_conftest_changes_the_tests_below_it(checkout: Path) -> None:
    (checkout / "tests" / "deep" / "conftest.py").write_text("")
    assert statuses(checkout, "tests/deep/test_c.py::test_four", ONE) == [CHANGED, ""]


def test_a_rename_is_neither_new_nor_changed(checkout: Path) -> None:
    git("mv", "tests/test_b.py", "tests/test_renamed.py")
    assert statuses(checkout, "tests/test_renamed.py::test_three") == [""]
    with open(checkout / "tests" / "test_renamed.py", "a") as file:
        file.write("def test_new(): pass\n")
    assert statuses(checkout, "tests/test_renamed.py::test_three", "tests/test_renamed.py::test_new") == [CHANGED, NEW]


def test_what_others_did_meanwhile_is_not_ours(checkout: Path) -> None:
    git("checkout", "-qb", "ours")
    git("checkout", "-q", "main")
    (checkout / "tests" / "test_a.py").write_text("def test_theirs(): pass\n")
    git("commit", "-qam", "two")
    git("checkout", "-q", "ours")
    assert statuses(checkout, ONE, TWO) == ["", ""]


def test_a_rootdir_below_the_top_of_the_checkout_is_no_obstacle(checkout: Path) -> None:
    (checkout / "tests" / "test_a.py").write_text("def test_one(): assert 1\n")
    changes = TestChanges(changes_since("main"), str(checkout / "tests"))
    assert [changes.status("test_a.py::test_one"), changes.status("deep/test_c.py::test_four")] == [CHANGED, ""]


def test_a_reference_that_is_not_there_is_a_problem(checkout: Path) -> None:
    with pytest.raises(Problem, match="there is no commit nowhere"):
        changes_since("nowhere")


def test_without_a_checkout_it_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(Problem, match="needs a git checkout"):
        changes_since("main")


def test_functions_are_named_as_in_node_ids() -> None:
    source = "if True:\n    def test_a(): pass\nclass B:\n    class C:\n        async def test_d(self): pass\n"
    assert sorted(functions_in(source)) == ["B::C::test_d", "test_a"]
    assert list(functions_in("def broken(")) == []


def test_a_checkout_without_changes_has_nothing_to_do(detect: Command, checkout: Path) -> None:
    call = detect("--changed-since", "main")
    assert (call.code, "nothing to do" in call.printed) == (0, True)
    assert list((checkout / ".flakeboard").glob("*.jsonl")) == []


# -- the steps ---------------------------------------------------------------------------------------------------


def looked_at(lab: Laboratory, *places: int, **parameters: Any) -> tuple[Procedure, list[Target]]:
    chosen = Parameters(**{"seed": "s", "budget": 10_000.0, **parameters})
    found = reference.establish(lab, 3, True, lambda line: None, 1e9)
    procedure = Procedure(lab, chosen, found, lambda line: None)
    steps = TargetSteps(procedure, [Target(place, NEW) for place in places], {})
    steps.run(STEPS)
    find_dependencies(procedure, Suspects(None, lab.journal))
    return procedure, steps.targets


def kinds(procedure: Procedure) -> dict[str, tuple[str, str]]:
    return {TESTS[test]: (finding.kind, finding.role) for test, finding in procedure.known.items()}


def test_a_new_victim_a_new_brittle_and_a_new_polluter_are_found(laboratory: Build) -> None:
    world = World(TESTS, brittles={TESTS[12]: [TESTS[3]]}).victim(TESTS[2], TESTS[17]).victim(TESTS[7], TESTS[11])
    procedure, targets = looked_at(laboratory(world), 2, 12, 11)
    assert kinds(procedure) == {TESTS[2]: (OD, VICTIM), TESTS[12]: (OD, "brittle"), TESTS[7]: (OD, VICTIM)}
    assert [procedure.known[test].groups[0].tests for test in (2, 12, 7)] == [(17,), (3,), (11,)]
    assert all(target.done == list(STEPS) for target in targets)


def test_a_victim_behind_cleaners_is_found_by_its_pair(laboratory: Build) -> None:
    """All others, then the target: a cleaner is among them, so only pairs show it."""
    world = World(TESTS).victim(TESTS[2], TESTS[10], cleaners=[TESTS[15], TESTS[0]])
    procedure, _ = looked_at(laboratory(world), 2)
    assert kinds(procedure) == {TESTS[2]: (OD, VICTIM)}


def test_a_polluter_of_tests_that_are_cleaned_is_found_by_its_pairs(laboratory: Build) -> None:
    world = World(TESTS).victim(TESTS[9], TESTS[12], cleaners=[TESTS[0]])
    procedure, _ = looked_at(laboratory(world), 12)
    assert kinds(procedure) == {TESTS[9]: (OD, VICTIM)}


def test_a_new_test_that_fails_at_random_is_told_with_its_counts(laboratory: Build) -> None:
    procedure, _ = looked_at(laboratory(World(TESTS, rates={TESTS[4]: 0.2}), seed=9), 4)
    assert procedure.known[4].kind == NOD
    assert "of 100 runs" in procedure.known[4].why or "of the original order" in procedure.known[4].why


def test_a_new_test_that_looks_flaky_is_run_as_often_as_advised(laboratory: Build) -> None:
    lab = laboratory(World(TESTS))
    found = reference.establish(lab, 1, False, lambda line: None, 1e9)
    procedure = Procedure(lab, Parameters(seed="s", budget=10_000.0), found, lambda line: None)
    counts = {}
    for runs in (0, 7, 140):
        before = lab.spent
        TargetSteps(procedure, [Target(4, NEW, runs=runs)], {}).run(STEPS[:1])
        counts[runs] = lab.spent - before
    assert counts[7] / counts[0] == pytest.approx(0.07, abs=0.001)
    assert counts[140] / counts[0] == pytest.approx(1.4, abs=0.001)


def test_a_test_that_depends_on_the_hash_seed_is_told_with_the_seed(laboratory: Build) -> None:
    procedure, _ = looked_at(laboratory(World(TESTS, hash_seeds={TESTS[4]: ["3", "7"]})), 4)
    assert (procedure.known[4].kind, procedure.known[4].hash_seed) == (ID, 3)


def test_whole_orders_go_before_new_processes_where_starting_costs_more_than_the_tests(laboratory: Build) -> None:
    lab = laboratory(World(TESTS))
    found = reference.establish(lab, 1, False, lambda line: None, 1e9)
    found.seconds += 5.0
    procedure = Procedure(lab, Parameters(seed="s", budget=10_000.0), found, lambda line: None)
    steps = TargetSteps(procedure, [Target(4, NEW)], {})
    steps.run(STEPS)
    alone, hash_seeds, ends, *pairs = STEPS
    assert steps.targets[0].done == [alone, ends, hash_seeds, *pairs]


def test_what_the_budget_did_not_allow_is_told(laboratory: Build) -> None:
    procedure, targets = looked_at(laboratory(World(TESTS)), 4, 5, budget=130 / 60)
    assert procedure.ended == "budget"
    assert 0 < len(targets[0].done) < len(STEPS)
    assert procedure.known == {}


def test_nothing_is_found_where_nothing_is(laboratory: Build) -> None:
    procedure, targets = looked_at(laboratory(World(TESTS)), 4)
    assert procedure.known == {}
    assert targets[0].pairs == 2 * (len(TESTS) - 1)
