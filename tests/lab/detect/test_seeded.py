"""Runners that shuffle by their own seeds: how they are told, what they ran, and what repeating a seed shows."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flakeboard import runners
from flakeboard.detection.execution.outcomes import CRASHED, TIMEOUT
from flakeboard.detection.seeded.experiment import SeededExecutor
from flakeboard.detection.seeded.go import GoTest
from flakeboard.detection.seeded.javascript import Jest, Vitest
from flakeboard.detection.seeded.rspec import Rspec, minimal_command
from flakeboard.detection.seeded.runs import Execution, last_words
from flakeboard.detection.seeded.surefire import Surefire
from flakeboard.problems import Problem

from tests.client.provision import is_here, node_program
from tests.lab.detect.commands import Command
from tests.lab.detect.worlds import World, suite, verdict

# -- commands and reports of each --------------------------------------------------------------------------------


def command_of(runner: Any, *words: str, seed: int | None = 7, report: str = "") -> str:
    call = runners.find(words)
    assert call is not None
    return " ".join(runner.command(call, seed, report))


@pytest.mark.parametrize(
    ("runner", "words", "expected"),
    [
        (GoTest(), "go test -failfast -shuffle=on -v ./...", "go test -shuffle=7 -count=1 -p=1 -parallel=1 -v ./..."),
        (Rspec(), "bundle exec rspec --seed 3 --fail-fast spec", "bundle exec rspec spec --order rand:7"),
        (Jest(), "npx jest --bail src", "npx jest src --runInBand --randomize --seed=7"),
        (
            Vitest(),
            "npx vitest --sequence.seed=3 src",
            "npx vitest run src --no-file-parallelism --sequence.shuffle.tests --sequence.seed=7",
        ),
        (
            Surefire(),
            "mvn -q -Dsurefire.runOrder=alphabetical test",
            "mvn -q test -Dsurefire.runOrder=random -Dsurefire.runOrder.random.seed=7",
        ),
    ],
    ids=["go", "rspec", "jest", "vitest", "maven"],
)
def test_a_seed_replaces_what_the_command_says_of_orders(runner: Any, words: str, expected: str) -> None:
    assert command_of(runner, *words.split()) == expected


def test_the_order_that_tests_are_written_in_has_no_seed(tmp_path: Path) -> None:
    report = str(tmp_path / "report")
    assert command_of(GoTest(), "go", "test", seed=None, report=report).split()[2:4] == ["-json", "-shuffle=off"]
    assert command_of(Rspec(), "rspec", seed=None, report=report).startswith("rspec --order defined --format json")
    for runner, words in ((Jest(), "jest"), (Vitest(), "vitest"), (Surefire(), "mvn")):
        command = command_of(runner, words, seed=None, report=report)
        assert "random" not in command and "shuffle" not in command and "seed" not in command


def test_go_tells_top_level_tests_as_they_began() -> None:
    events = [
        {"Action": "run", "Package": "shop", "Test": "TestB"},
        {"Action": "run", "Package": "shop", "Test": "TestB/part"},
        {"Action": "fail", "Package": "shop", "Test": "TestB/part"},
        {"Action": "fail", "Package": "shop", "Test": "TestB", "Elapsed": 0.5},
        {"Action": "run", "Package": "shop", "Test": "TestA"},
        {"Action": "pass", "Package": "shop", "Test": "TestA"},
        {"Action": "run", "Package": "shop", "Test": "TestPanics"},
        {"Action": "fail", "Package": "shop"},
    ]
    output = "\n".join(["# printed by the build", *map(json.dumps, events), "{not json"])
    expected = [("shop::TestB", "F", 0.5), ("shop::TestA", "P", 0.0), ("shop::TestPanics", "F", 0.0)]
    assert GoTest().executions("", output) == expected
    broken = json.dumps({"Action": "fail", "Package": "cart"})
    with pytest.raises(Problem, match="could not be built or set up: cart"):
        GoTest().executions("", output + "\n" + broken)
    nowhere = "pattern ./...: directory prefix . does not contain main module"
    with pytest.raises(Problem, match="go test told nothing: " + re.escape(nowhere)):
        GoTest().executions("", nowhere + "\n")
    assert GoTest().executions("", json.dumps({"Action": "skip", "Package": "cart"})) == []
    assert last_words("\x1b[1;31mERROR\x1b[m no POM\n\n  here \n") == "ERROR no POM / here"


def test_jest_tells_files_by_when_they_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = tmp_path / "report.json"
    ends = [{"fullName": "shop b", "status": "failed", "duration": 20}, {"fullName": "shop a", "status": "pending"}]
    late = {"name": str(tmp_path / "a.test.js"), "startTime": 9, "status": "passed", "assertionResults": ends}
    early = {**late, "name": str(tmp_path / "b.test.js"), "startTime": 3, "assertionResults": ends[:1]}
    report.write_text(json.dumps({"testResults": [late, early]}))
    assert Jest().executions(str(report), "") == [
        ("b.test.js::shop b", "F", 0.02),
        ("a.test.js::shop b", "F", 0.02),
        ("a.test.js::shop a", "S", 0.0),
    ]
    report.write_text(json.dumps({"testResults": [{**late, "status": "failed", "assertionResults": []}]}))
    with pytest.raises(Problem, match=r"could not be loaded: a\.test\.js"):
        Jest().executions(str(report), "")
    with pytest.raises(Problem, match="wrote no report: no such option"):
        Jest().executions(str(tmp_path / "none"), "no such option")


def test_vitest_tells_tests_by_a_reporter_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = tmp_path / "report.json"
    command = command_of(Vitest(), "vitest", report=str(report))
    assert f"--reporter={report}.mjs" in command
    assert json.dumps(str(report)) in Path(f"{report}.mjs").read_text()
    line = {"file": str(tmp_path / "a.test.js"), "name": "shop > b", "state": "failed", "ms": 20}
    report.write_text(json.dumps(line) + "\n")
    assert Vitest().executions(str(report), "") == [("a.test.js::shop > b", "F", 0.02)]
    report.write_text(json.dumps({"broken": str(tmp_path / "c.test.js")}) + "\n")
    with pytest.raises(Problem, match=r"could not be loaded: c\.test\.js"):
        Vitest().executions(str(report), "")
    with pytest.raises(Problem, match="must be version 3 or newer"):
        Vitest().executions(str(tmp_path / "none"), "")


def test_rspec_tells_examples_as_they_ran_and_the_fewest_that_fail(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    examples = [{"id": "./a_spec.rb[1:2]", "status": "failed", "run_time": 0.5}, {"id": "b", "status": "pending"}]
    report.write_text(json.dumps({"examples": examples, "summary": {}}))
    assert Rspec().executions(str(report), "") == [("./a_spec.rb[1:2]", "F", 0.5), ("b", "S", 0.0)]
    broken = {"summary": {"errors_outside_of_examples_count": 1}, "messages": ["cannot load such file"]}
    report.write_text(json.dumps(broken))
    with pytest.raises(Problem, match="could not be loaded: cannot load such file"):
        Rspec().executions(str(report), "")
    output = "Round 2 ...\n\nThe minimal reproduction command is:\n  rspec ./a_spec.rb[1:2,1:4] --seed 7\n"
    assert minimal_command(output) == "rspec ./a_spec.rb[1:2,1:4] --seed 7"
    assert minimal_command("Bisect failed!") == ""


def test_surefire_tells_classes_by_when_their_reports_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "target" / "surefire-reports"
    folder.mkdir(parents=True)
    runner = Surefire()
    command_of(runner, "mvn", "test")
    for name, after in (("B", 1), ("A", 2), ("Old", -3_600)):
        case = f"<testsuite><testcase classname='shop.{name}' name='adds'><failure/></testcase></testsuite>"
        path = folder / f"TEST-shop.{name}.xml"
        path.write_text(case)
        moment = runner._began + after
        os.utime(path, (moment, moment))
    assert runner.executions("", "") == [("shop.B::adds", "F", 0.0), ("shop.A::adds", "F", 0.0)]
    (folder / "TEST-shop.A.xml").unlink()
    (folder / "TEST-shop.B.xml").unlink()
    with pytest.raises(Problem, match="wrote no report: .ERROR. no compiler"):
        runner.executions("", "fine\n[ERROR] no compiler\n")


# -- repeating a seed --------------------------------------------------------------------------------------------

TESTS = suite(2, 4)
Plant = Callable[..., None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """A runner that shuffles by its seed, without processes."""

    def build(world: World, repeats: bool = True, ends: str = "", adds: str = "") -> None:
        chance = random.Random(1)

        def run_seed(self: SeededExecutor, seed: int | None, limit: float) -> tuple[list[Execution], float, str]:
            order = list(world.tests)
            if seed is not None:
                random.Random(seed if repeats else chance.random()).shuffle(order)
            ran: list[Execution] = []
            for test in order:
                passes = verdict(test, [each.test for each in ran], world.victims, world.brittles)
                lucky = chance.random() >= world.rates.get(test, 0.0)
                ran.append(Execution(test, "P" if passes and lucky else "F", 1.0))
            return [*ran, *([Execution(adds, "P", 0.0)] if adds and seed is not None else [])], 8.0, ends

        monkeypatch.setattr(SeededExecutor, "run_seed", run_seed)

    return build


GO = ("go", "test", "./...")


def test_what_fails_whenever_its_seed_is_repeated_depends_on_the_order(detect: Command, plant: Plant) -> None:
    plant(World(TESTS, brittles={TESTS[7]: [TESTS[3]]}).victim(TESTS[1], TESTS[5]))
    call = detect("--no-upload", "--orders", "6", "--fail-on", "any", command=GO)
    assert call.found() == {TESTS[1]: ("OD", None), TESTS[7]: ("OD", None)}
    assert call.code == 3
    failed = {test for order in call.told["orders"] for test in order["failed"]}
    assert (len(call.told["orders"]), failed) == (6, {TESTS[1], TESTS[7]})
    assert "to repeat it: go test -shuffle=" in call.printed


def test_what_passes_in_the_same_order_does_not_depend_on_it(detect: Command, plant: Plant) -> None:
    plant(World(TESTS, rates={TESTS[2]: 0.4}))
    call = detect("--no-upload", "--orders", "20", "--without-failing", command=GO)
    assert call.found() == {TESTS[2]: ("NOD", None)}


def test_a_seed_that_repeats_no_order_shows_nothing(detect: Command, plant: Plant) -> None:
    plant(World(TESTS).victim(TESTS[1], TESTS[5]), repeats=False)
    call = detect("--no-upload", "--orders", "6", command=GO)
    assert call.found() == {TESTS[1]: ("unknown", None)}
    assert "another order when its seed was repeated" in call.printed


def test_nothing_is_sent_and_that_is_said(detect: Command, plant: Plant) -> None:
    plant(World(TESTS), adds="test_new")
    call = detect("--orders", "1", command=GO)
    assert (call.code, call.told["found"]) == (0, [])
    assert "nothing is sent: the dashboard takes experiments with pytest" in call.printed
    assert call.told["not_run"] == [{"test": "test_new", "why": "is not in the original order"}]


def test_it_goes_on_where_it_was(detect: Command, plant: Plant) -> None:
    plant(World(TESTS).victim(TESTS[1], TESTS[5]))
    expected = detect("--no-upload", "--orders", "4", "--experiment", "k", command=GO).told
    (journal,) = detect.journals
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:5]))
    again = detect("--no-upload", "--resume", "k", command=()).told
    assert (again["found"], again["orders"]) == (expected["found"], expected["orders"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--budget", "0.1"), "leaves no time for another order"),
        (("--reset", "false"), "--reset failed twice in a row"),
    ],
    ids=["budget", "reset"],
)
def test_what_cannot_be_done_is_told(detect: Command, plant: Plant, options: tuple[str, ...], words: str) -> None:
    plant(World(TESTS))
    call = detect("--no-upload", "--orders", "2", *options, command=GO)
    assert (call.code, words in call.printed) == (1, True)


def test_an_original_order_that_is_cut_short_is_a_problem(detect: Command, plant: Plant) -> None:
    for ends in (TIMEOUT, CRASHED):
        plant(World(TESTS), ends=ends)
        call = detect("--no-upload", "--orders", "2", command=GO)
        assert call.code == 1


# -- real runners ------------------------------------------------------------------------------------------------

PROJECTS = {
    "go": {
        "go.mod": "module example.com/shop\n\ngo 1.19\n",
        "shop_test.go": (
            'package shop\n\nimport "testing"\n\nvar left = 0\n\n'
            'func TestVictim(t *testing.T) {\n\tif left != 0 {\n\t\tt.Fatal("polluted")\n\t}\n}\n\n'
            "func TestPolluter(t *testing.T) { left = 1 }\n"
        ),
    },
    "rspec": {
        "spec/shop_spec.rb": (
            "LEFT = []\nRSpec.describe 'shop' do\n  it('victim') { expect(LEFT).to be_empty }\n"
            "  it('polluter') { LEFT << 1 }\nend\n"
        ),
    },
    "jest": {
        "package.json": '{"jest": {"transform": {}}}',
        "shop.test.js": (
            "let left = 0\ntest('victim', () => { expect(left).toBe(0) })\ntest('polluter', () => { left = 1 })\n"
        ),
    },
}
VICTIMS = {"go": "example.com/shop::TestVictim", "rspec": "./spec/shop_spec.rb[1:1]", "jest": "shop.test.js::victim"}


@pytest.mark.parametrize("runner", PROJECTS)
def test_a_victim_is_found_by_the_real_runner(detect: Command, runner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")  # RSpec quotes the ids that it prints as the user's shell needs it
    monkeypatch.setenv("GOFLAGS", "-vet=off")  # what go test does besides running tests takes longest
    if not is_here(runner):
        pytest.skip(f"{runner} is not here; `make test` fetches it where it may")
    command = {"go": GO, "rspec": ("rspec",), "jest": ("node", str(node_program("jest")))}[runner]
    for name, content in PROJECTS[runner].items():
        (detect.folder / name).parent.mkdir(exist_ok=True)
        (detect.folder / name).write_text(content)
    call = detect("--no-upload", "--orders", "3", "--confirm", "1", "--recheck", "0", command=command)
    assert call.found() == {VICTIMS[runner]: ("OD", None)}, call.printed
    assert any(order["failed"] == [] for order in call.told["orders"]), "or the seed would make no difference"
    assert runner != "rspec" or "fewest examples that fail: rspec ./spec/shop_spec.rb[1:1,1:2] --seed" in call.printed
