"""`flakeboard verify`: the comparison, how many runs it takes, and the command on two revisions of a real repository."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flakeboard.problems import Problem
from flakeboard.verification.comparison import (
    EFFECTIVE,
    NO_EFFECT,
    NOT_REPRODUCED,
    Comparison,
    least_failures,
    runs_for,
)
from flakeboard.verification.experiment import Verification
from flakeboard.verification.worktrees import Worktrees
from flakeboard.why.laboratory import BudgetSpent, Execution
from scipy import stats

from tests.client.commands import environ_with
from tests.client.starter import start


@pytest.mark.parametrize(
    ("counts", "outcome", "words"),
    [
        ((15, 300, 0, 300), EFFECTIVE, "15 of 300 runs failed before, 0 of 300 after (at most 1.2%; p < 0.0001)"),
        ((15, 300, 12, 300), NO_EFFECT, "A fall by 3.0% of the runs, to 6 of 300, would have been seen."),
        ((3, 100, 0, 100), NO_EFFECT, "too rarely for any effect to show: that takes 5 failures before."),
        ((0, 100, 0, 100), NOT_REPRODUCED, "none of 100 runs before the fix failed (at most 3.6% would)."),
        ((0, 100, 5, 100), NOT_REPRODUCED, "after it, 5 of 100 failed"),
        ((2, 100, 30, 100), NO_EFFECT, "2 of 100 runs failed before, 30 of 100 after"),
        ((0, 0, 0, 0), NOT_REPRODUCED, "none of 0 runs"),
    ],
)
def test_outcomes(counts: tuple[int, int, int, int], outcome: str, words: str) -> None:
    found = Comparison(*counts)
    assert found.outcome == outcome and words in found.sentence
    body = found.as_json()
    assert body["before"] == {"failed": counts[0], "runs": counts[1]} and body["outcome"] == outcome
    assert body["p"] == pytest.approx(found.p_value)


def test_the_smallest_effect_is_the_smallest_that_shows() -> None:
    found = Comparison(40, 200, 35, 150)
    most = found.most_after
    assert most is not None
    p_values = [
        stats.fisher_exact([[40, 160], [failed, 150 - failed]], alternative="greater").pvalue
        for failed in (most, most + 1)
    ]
    assert p_values[0] <= 0.05 < p_values[1]
    assert found.as_json()["smallest_effect"] == pytest.approx(0.2 - most / 150, abs=1e-6)


def test_how_many_runs_it_takes() -> None:
    assert runs_for(None) == 100
    assert runs_for(1) == 20 and runs_for(5_000) == 500
    for to_expose in (14, 59, 150):
        runs = runs_for(to_expose)
        rate = 1 - 0.05 ** (1 / to_expose)
        chance = stats.binom.sf(least_failures(runs, runs) - 1, runs, rate)
        assert runs == 500 or chance >= 0.9, to_expose
    assert least_failures(300, 300) == 5 and least_failures(1, 1) == 2


class MadeSide:
    def __init__(self, name: str, made: list[str], rate: float, most: int = 10**9) -> None:
        self._name, self._made, self._rate, self._most = name, made, rate, most
        self._draw = random.Random(name)

    def run(self, recipe: Any) -> Execution:
        if len(self._made) >= self._most:
            raise BudgetSpent
        self._made.append(self._name)
        return Execution(self._draw.random() < self._rate, recipe, None)


def test_both_sides_run_in_turn_in_random_order() -> None:
    made: list[str] = []
    verification = Verification(MadeSide("b", made, 0.5), MadeSide("a", made, 0.0), 60, lambda text: None)
    verification.run()
    assert verification.comparison.before == verification.comparison.after == 60
    assert verification.comparison.outcome == EFFECTIVE and verification.comparison.after_failed == 0
    pairs = ["".join(made[place : place + 2]) for place in range(0, 120, 2)]
    assert set(pairs) == {"ab", "ba"} and 15 < pairs.count("ab") < 45


def test_when_the_time_is_up_what_is_known_is_told() -> None:
    made: list[str] = []
    verification = Verification(MadeSide("b", made, 1.0, 7), MadeSide("a", made, 1.0, 7), 60, lambda text: None)
    verification.run()
    assert verification.ended == "budget" and len(made) == 7
    assert verification.comparison.outcome == NO_EFFECT


# -- two revisions -----------------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.py").write_text("def total():\n    return 41\n")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_shop.py").write_text(
        "import shop\n\n\ndef test_total():\n    assert shop.total() == 42\n"
    )
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    (folder / "src" / "shop.py").write_text("def total():\n    return 42\n")
    monkeypatch.chdir(folder)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    return folder


def test_worktrees_are_beside_the_checkout_and_leave_nothing_behind(repository: Path) -> None:
    trees = Worktrees()
    try:
        before, after = trees.add(trees.commit_of("HEAD"), "before"), trees.add(trees.present(), "after")
        assert "41" in Path(before, "src/shop.py").read_text() and "42" in Path(after, "src/shop.py").read_text()
        path = f"{repository / 'src'}{os.pathsep}/elsewhere"
        given = trees.environ("before", {"PYTHONPATH": path, "PATH": os.environ["PATH"]}, [sys.executable])
        assert given["PYTHONPATH"].split(os.pathsep) == [str(Path(before, "src")), before, "/elsewhere"]
    finally:
        trees.close()
    assert not Path(before).exists() and git(repository, "worktree", "list").count("\n") == 0
    assert git(repository, "status", "--porcelain").strip() == "M src/shop.py", "the checkout is as it was"


def test_a_revision_that_is_not_there(repository: Path) -> None:
    trees = Worktrees()
    try:
        with pytest.raises(Problem, match="git knows no revision nothing"):
            trees.commit_of("nothing")
        with pytest.raises(Problem, match="no revision --all"):
            trees.commit_of("--all")
    finally:
        trees.close()


def test_without_a_repository_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(Problem, match="needs a git checkout"):
        Worktrees()


@pytest.mark.processes
def test_the_command_on_two_revisions(repository: Path) -> None:
    """The package is found by PYTHONPATH alone, as one that is installed in place: each side has its own."""
    environ = {**environ_with(), "PYTHONPATH": os.pathsep.join([environ_with()["PYTHONPATH"], str(repository / "src")])}
    command = ["verify", "tests/test_shop.py::test_total", "--before", "HEAD"]
    options = ["--runs", "4", "--offline", "--json", "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = start("flakeboard", *command, *options, cwd=repository, environ=environ, apart=True)
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert body["before"] == {"failed": 4, "runs": 4} and body["after"] == {"failed": 0, "runs": 4}
    assert body["outcome"] == EFFECTIVE and body["p"] == pytest.approx(1 / 70)
    assert body["revisions"]["before"] == git(repository, "rev-parse", "HEAD") != body["revisions"]["after"]
