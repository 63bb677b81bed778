"""The kit of tests with known causes: how often `flakeboard why` names the truth."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.outcome import Outcome
from tests.lab.kit.truth import KIT, Truth, categories, names
from tests.paths import ROOT

BUDGET = "6m"
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Score:
    truth: Truth
    is_first: bool
    is_in_three: bool
    has_category: bool
    is_shown: bool
    shows_wrong: bool
    sentence: str


def run() -> Iterable[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        scores = scored(Path(folder))
    for score in scores:
        place = "first" if score.is_first else "in the first three" if score.is_in_three else "not named"
        shown = ", shown" if score.is_shown else ""
        print(f"    {score.truth.number:2} {score.truth.test}: {place}{shown}. {score.sentence}", flush=True)
    yield Outcome("kit: truth first, of 26", sum(score.is_first for score in scores), least=20)
    yield Outcome("kit: truth among the first three, of 26", sum(score.is_in_three for score in scores), least=23)
    yield Outcome("kit: category right, of 26", sum(score.has_category for score in scores), least=24)
    yield Outcome("kit: cause shown by trial, of 26", sum(score.is_shown for score in scores), least=18)
    yield Outcome("kit: another cause shown by trial", sum(score.shows_wrong for score in scores), most=0)


def scored(folder: Path, chosen: Iterable[Truth] = KIT) -> list[Score]:
    """Each test in a copy of the kit, two at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda truth: score_of(truth, answer_of(truth, folder)), chosen))


def answer_of(truth: Truth, folder: Path) -> dict[str, Any]:
    own = folder / str(truth.number)
    shutil.copytree(ROOT / "tests" / "lab" / "kit", own, ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "flakeboard", "why", truth.test, "--offline", "--json", "--budget", BUDGET]
    done = subprocess.run(command, cwd=own, env=environ, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"differences": [], "verdict": "", "sentence": done.stderr.strip()[-300:]}


def score_of(truth: Truth, answer: dict[str, Any]) -> Score:
    differences = answer["differences"]
    right = [names(truth, difference) for difference in differences]
    nothing = truth.or_nothing and answer["verdict"] == "nothing recorded"
    shown = [bool(difference.get("tried") and difference["tried"]["is_shown"]) for difference in differences]
    return Score(
        truth,
        is_first=nothing or right[:1] == [True],
        is_in_three=nothing or any(right[:3]),
        has_category=nothing or any(difference["category"] in categories(truth) for difference in differences[:1]),
        is_shown=any(tried and named for tried, named in zip(shown, right, strict=True)),
        shows_wrong=any(tried and not named for tried, named in zip(shown, right, strict=True)),
        sentence=answer["sentence"],
    )
