"""`flakeboard why`: the inquiry on a made laboratory, the recipes that hold and force, and the command itself."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from flakeboard.differences.runs import Interned, run_of
from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Token, Trace, TraceFile
from flakeboard.why.answer import as_json, first_sentence, forced_recipe, lines, reproduction
from flakeboard.why.chances import fisher_greater, upper_bound
from flakeboard.why.controls import Control
from flakeboard.why.inquiry import Findings, Inquiry
from flakeboard.why.laboratory import BudgetSpent, Execution
from flakeboard.why.parameters import Parameters
from flakeboard.why.trials import Trial

from tests.client.commands import environ_with
from tests.client.starter import start

TEST = "test_it.py::test"
WAIT = Site("test_it.py", "test", "threading.Event.wait", 1, 7)
DRAW = Site("test_it.py", "test", "random.random", 1, 5)
Outcome = "Callable[[Mapping[str, Any]], tuple[bool, list[Any]]]"


class MadeLaboratory:
    """Answers as a test of known cause would: `outcome` says of a recipe whether it fails, and what was called."""

    def __init__(self, outcome: Outcome, runs: int = 10_000, neighbours: tuple[str, ...] = ()) -> None:
        self.test = TEST
        self.neighbours = list(neighbours)
        self._outcome = outcome
        self._runs = runs
        self._interned = Interned()
        self.recipes: list[Mapping[str, Any]] = []

    left = 20_000.0

    def run(self, recipe: Mapping[str, Any]) -> Execution:
        if len(self.recipes) >= self._runs:
            raise BudgetSpent
        self.recipes.append(recipe)
        failed, calls = self._outcome(recipe)
        sites = [site for site, *_ in calls]
        events = tuple(
            Event(
                number,
                0,
                None if isinstance(value, Token) else value,
                100 * number,
                took,
                value if isinstance(value, Token) else None,
            )
            for number, (_, value, took) in enumerate(calls)
        )
        trace = Trace(TEST, 1, FAILED if failed else PASSED, "E" if failed else "", 10**6 if failed else None, ("main",), events,
                      facts={"hash": recipe.get("hash", len(self.recipes) * 977)}, recipe=recipe)  # fmt: skip
        run = run_of(TraceFile("calls", "", "", {}, sites, [], []), trace, self._interned)
        return Execution(failed, recipe, run, ("E", "no") if failed else ("", ""))


def inquire(
    outcome: Outcome, lab_runs: int = 10_000, neighbours: tuple[str, ...] = (), **how: Any
) -> tuple[Findings, MadeLaboratory]:
    lab = MadeLaboratory(outcome, lab_runs, neighbours)
    parameters = Parameters(TEST, ("pytest",), **{"budget": 20_000.0, **how})
    inquiry = Inquiry(parameters, lab, lambda text: None)  # type: ignore[arg-type]
    inquiry.run()
    return inquiry.findings, lab


def rule_of(recipe: Mapping[str, Any], site: Site) -> dict[str, Any]:
    return next((rule for rule in recipe.get("calls", ()) if tuple(rule["site"]) == site.key), {})


def waiting(seed: int, rate: float = 0.4) -> Outcome:
    """An event that comes too late in some runs, unless its limit is raised."""
    draw = random.Random(seed)

    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        rule = rule_of(recipe, WAIT)
        late = draw.random() < rate
        if rule.get("do") == "bound":
            late = False
        if rule.get("do") == "answer":
            late = not rule["value"]
        return late, [(DRAW, draw.random(), 1), (WAIT, not late, 50_000 if late else 10)]

    return outcome


def test_a_cause_is_shown_by_holding_and_forcing_it() -> None:
    findings, _ = inquire(waiting(1))
    (shown,) = [trial for _, trial in findings.trials if trial.is_shown]
    assert (shown.held_failures, shown.held, shown.forced_failures, shown.forced) == (0, 10, 10, 10)
    assert first_sentence(findings) == (
        "It fails by async wait: `Event.wait` (test_it.py:7, call 1). Held: 0 of 10 failed. Forced: 10 of 10."
    )
    recipe = forced_recipe(findings)
    assert recipe is not None and recipe["calls"][0]["do"] == "answer"
    assert (
        lines(findings, TEST, "why.json")[-1] == "To see it fail: pytest test_it.py::test --flakeboard-recipe=why.json"
    )


def test_looking_ends_when_there_is_enough_to_compare() -> None:
    findings, _ = inquire(waiting(2), tries=False)
    assert findings.count(True) >= 5 and findings.count(False) >= 20
    assert len(findings.executions) < 60


def test_what_makes_no_difference_is_not_shown() -> None:
    """The wait differs, but neither raising its limit nor giving up changes anything: another thing decides both."""
    draw = random.Random(5)

    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        late = draw.random() < 0.4
        return late, [(WAIT, not late, 50_000 if late else 10)]

    findings, _ = inquire(outcome)
    assert findings.trials and not any(trial.is_shown for _, trial in findings.trials)
    assert first_sentence(findings).startswith("In all ")


def by_hash(seed: int) -> Outcome:
    draw = random.Random(seed)

    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        fails = draw.random() < 0.5 if recipe.get("hash") is None else recipe["hash"] % 3 == 0
        return fails, [(DRAW, 0.5, 1)]

    return outcome


def test_a_category_is_tried_as_a_whole() -> None:
    findings, _ = inquire(by_hash(6))
    assert [kind for kind, trial in findings.depends_on if trial.is_shown] == ["hash"]
    assert first_sentence(findings).startswith(
        "It fails by unordered collections: it depends on the hash seed of strings."
    )
    recipe = forced_recipe(findings)
    assert recipe is not None and recipe["hash"] % 3 == 0
    assert reproduction(findings, TEST, "w.json").startswith(f"PYTHONHASHSEED={recipe['hash']} pytest")


def test_stirring_reproduces_what_plain_runs_do_not() -> None:
    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        return "test_it.py::test_other" in recipe.get("before", ()), [(DRAW, 0.5, 1)]

    findings, lab = inquire(
        outcome,
        neighbours=("test_it.py::test_other", "test_it.py::test_a", "test_it.py::test_b", "test_it.py::c"),
        runs=20,
    )
    assert findings.count(True, plain=True) == 0 < findings.count(True)
    assert [kind for kind, trial in findings.depends_on if trial.is_shown] == ["order"]
    assert {recipe.get("stir") for recipe in lab.recipes} >= {"order", "hash", None}
    assert "test_it.py::test_other" in reproduction(findings, TEST, "w.json")


def test_a_rare_failure_is_looked_for_with_more_seeds_than_a_pool_has() -> None:
    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        return recipe.get("seed", 0) % 60 == 59, [(DRAW, 0.5, 1)]

    findings, _ = inquire(outcome, runs=40, stir=("random",))
    assert [kind for kind, trial in findings.depends_on if trial.is_shown] == ["random"]
    recipe = forced_recipe(findings)
    assert recipe is not None and recipe["seed"] == 59


NEIGHBOURS = tuple(f"test_it.py::test_{letter}" for letter in "abcd")


def stirs(lab: MadeLaboratory) -> list[str | None]:
    return [recipe.get("stir") for recipe in lab.recipes]


def test_where_the_seed_is_fixed_plain_runs_end_early_and_half_of_the_stirred_ones_draw_others() -> None:
    """As in RandomFileTree, whose tests set the seed when they are imported: of other seeds one in 83 fails."""

    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        seed = recipe.get("seed", 0)
        return seed == 126, [(DRAW, random.Random(seed).random(), 1)]

    findings, lab = inquire(outcome, runs=300, neighbours=NEIGHBOURS, tries=False)
    assert findings.is_reproduced and stirs(lab).count(None) == 20
    until = next(place for place, recipe in enumerate(lab.recipes) if recipe.get("seed") == 126)
    assert until < 300
    assert {kind: stirs(lab)[20:until].count(kind) for kind in ("random", "hash", "order")} == {
        "random": 126,
        "hash": 68,
        "order": 68,
    }


@pytest.mark.parametrize(
    "value",
    [lambda number: number / 1_000, lambda number: Token("Card"), lambda number: None],
    ids=["other numbers", "told by type alone", "nothing"],
)
def test_plain_runs_go_on_where_they_may_draw_other_numbers(value: Callable[[int], Any]) -> None:
    numbers = iter(range(1_000))
    _, lab = inquire(lambda recipe: (False, [(DRAW, value(next(numbers)), 1)]), runs=60)
    assert stirs(lab).count(None) == 60


def test_what_to_stir_may_be_asked_for_and_plain_runs_are_all_made() -> None:
    _, lab = inquire(lambda recipe: (False, [(DRAW, 0.5, 1)]), runs=60, stir=("hash",))
    assert stirs(lab).count(None) == 60


def test_a_test_that_never_fails_is_not_reproduced() -> None:
    findings, _ = inquire(lambda recipe: (False, [(WAIT, True, 5)]), runs=100)
    assert not findings.is_reproduced
    runs = len(findings.executions)
    assert (
        first_sentence(findings)
        == f"Not reproduced: none of {runs} runs failed (at most {upper_bound(runs):.1%} of runs would)."
    )
    assert "--flakeboard-trace=flaky" in lines(findings, TEST, "")[-1]


def test_a_test_that_always_fails_is_broken() -> None:
    findings, _ = inquire(lambda recipe: (True, [(WAIT, False, 5)]), runs=12, tries=False, stir=())
    assert first_sentence(findings) == "It failed in all 12 runs: it is broken, and there is nothing to compare."


def test_when_the_time_is_up_what_is_known_is_told() -> None:
    findings, _ = inquire(waiting(3), lab_runs=32)
    assert findings.ended == "budget" and findings.comparison.differences
    assert json.loads(json.dumps(as_json(findings, TEST)))["verdict"] == "explained"


def test_an_interruption_is_no_end() -> None:
    calls = iter(range(100))

    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        if next(calls) == 10:
            raise KeyboardInterrupt
        return waiting_once(recipe)

    waiting_once = waiting(4)
    findings, _ = inquire(outcome)
    assert findings.ended == "interrupted" and len(findings.executions) == 10


def test_errors_of_sources_are_raised_and_answered() -> None:
    connect = Site("test_it.py", "test", "socket.socket.connect", 1, 9)
    draw = random.Random(8)

    def outcome(recipe: Mapping[str, Any]) -> tuple[bool, list[Any]]:
        rule = rule_of(recipe, connect)
        refused = rule["do"] == "raise" if rule else draw.random() < 0.3
        return refused, [(connect, Token("ConnectionRefusedError", None, "0", "ECONNREFUSED") if refused else None, 5)]

    findings, _ = inquire(outcome)
    (shown,) = [trial for _, trial in findings.trials if trial.is_shown]
    assert shown.control.force["calls"][0]["errno"] == "ECONNREFUSED"
    assert shown.control.hold["calls"][0]["do"] == "answer"


@pytest.mark.parametrize(
    ("counts", "is_shown"),
    [
        ((0, 10, 10, 10), True),
        ((1, 10, 9, 10), True),
        ((2, 10, 10, 10), False),
        ((0, 10, 4, 10), False),
        ((0, 9, 9, 9), False),
    ],
    ids=["clear", "nearly", "held fails", "forced passes", "cut short"],
)
def test_what_counts_as_shown(counts: tuple[int, int, int, int], is_shown: bool) -> None:
    assert Trial(Control({}, {}, ""), *counts).is_shown is is_shown


def test_fishers_chance_and_the_bound() -> None:
    assert fisher_greater(10, 10, 0, 10) == pytest.approx(1 / 184_756)
    assert fisher_greater(5, 10, 5, 10) == pytest.approx(0.6719, abs=1e-4)
    assert upper_bound(100) == pytest.approx(0.0362, abs=1e-4)


# -- the command -------------------------------------------------------------------------------------------------


def why(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return start("flakeboard", "why", *arguments, cwd=folder, environ=environ_with(), apart=True)


EVERY_OTHER = """
import os, random, pathlib
def test():
    path = pathlib.Path(__file__).with_name("count")
    count = int(path.read_text()) if path.exists() else 0
    path.write_text(str(count + 1))
    assert random.random() < 2 and count % 2 == 0
"""


@pytest.mark.processes
def test_the_command_tells_what_differs(tmp_path: Path) -> None:
    """Every other run fails, so that eight are enough."""
    (tmp_path / "test_it.py").write_text(EVERY_OTHER)
    done = why(tmp_path, "test_it.py::test", "--offline", "--json", "--stir", "none", "--no-try", "--runs", "8")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["runs"]["failing"], answer["runs"]["passing"]) == (0, 4, 4), done.stderr
    assert answer["test"] == "test_it.py::test" and answer["sources"]["randomness"] == 1
    assert answer["features"] > 10


def test_what_is_not_reproduced_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test():\n    pass\n")
    done = why(tmp_path, "test_it.py::test", "--offline", "--runs", "2", "--stir", "none")
    assert (done.returncode, "Not reproduced: none of 2 runs failed" in done.stdout) == (3, True), done.stderr


def test_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_a():\n    pass\n")
    assert why(tmp_path, "test_it.py::test_a", "--", "make", "check").returncode == 2
    assert why(tmp_path, "test_it.py::test_a", "--stir", "luck").returncode == 2
    missing = why(tmp_path, "test_it.py::a", "--offline")
    assert missing.returncode == 1 and "is not among the 1 tests" in missing.stderr
