"""`flakeboard waits`: the inquiry on a made laboratory, its answer, and the command on a real test."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from flakeboard.commands.waits import _elsewhere, _printed, _share
from flakeboard.differences.runs import Interned, run_of
from flakeboard.problems import Problem
from flakeboard.traces.trace import FAILED, PASSED, Event, Site, Trace, TraceFile
from flakeboard.waits.answer import Elsewhere, as_json, lines, time_of
from flakeboard.waits.inquiry import Findings, Inquiry
from flakeboard.waits.parameters import Parameters
from flakeboard.why.laboratory import BudgetSpent, Execution

from tests.client.commands import flakeboard

TEST = "test_it.py::test"
SOURCE = """import time

def test():
    worker = start()
    time.sleep(0.5)
    assert worker.event.is_set()
    other.join(2)
"""
SLEEP = Site("test_it.py", "test", "time.sleep", 1, 5)
JOIN = Site("test_it.py", "test", "threading.Thread.join", 1, 7)
SET = Site("test_it.py", "run", "threading.Event.set", 1, 2)


class MadeLaboratory:
    """A test whose worker needs `needed` seconds: its sleep must be as long, and its join never waits."""

    def __init__(self, folder: Path, needed: float = 0.05, runs: int = 10_000, broke: str = "") -> None:
        self.test = TEST
        self.root = str(folder)
        (folder / "test_it.py").write_text(SOURCE)
        self.recipes: list[Mapping[str, Any]] = []
        self._needed, self._runs, self._broke = needed, runs, broke
        self._draw = random.Random(3)
        self._interned = Interned()

    @property
    def left(self) -> float:
        return float(self._runs - len(self.recipes))

    def run(self, recipe: Mapping[str, Any], slower_by: float = 0.0) -> Execution:
        if len(self.recipes) >= self._runs:
            raise BudgetSpent
        self.recipes.append(recipe)
        values = {SLEEP.key: 0.5, JOIN.key: 2.0}
        for rule in recipe.get("calls", ()):
            values[tuple(rule["site"])] *= rule["factor"]
        needed = self._needed * self._draw.uniform(0.9, 1.1)
        slept = values[SLEEP.key]
        failed = slept < needed
        polled = [] if self._broke else [round(needed, 6) if needed <= slept else None]
        told = [{"site": list(site), "values": [values[site.key]]} for site in (SLEEP, JOIN)]
        waits = {"values": told, "needed": polled if recipe["waits"].get("poll") else [], "broke": self._broke}
        events = (Event(0, 0, None, 0, round(slept * 1e6)), Event(1, 0, None, 1, 100), Event(2, 0, None, 2, 1))
        trace = Trace(
            TEST, 1, FAILED if failed else PASSED, "", 1 if failed else None, ("main",), events, recipe={"waits": waits}
        )
        file = TraceFile("sources", "", "", {}, [SLEEP, JOIN, SET], [], [])
        return Execution(failed, recipe, run_of(file, trace, self._interned), seconds=0.01 + slept)


def inquire(lab: MadeLaboratory, **how: Any) -> Findings:
    inquiry = Inquiry(Parameters(TEST, ("pytest",), **how), lab, lambda text: None)  # type: ignore[arg-type]
    inquiry.run()
    return inquiry.findings


def test_the_longest_wait_is_searched_first_and_each_alone(tmp_path: Path) -> None:
    lab = MadeLaboratory(tmp_path)
    findings = inquire(lab)
    body = as_json(findings, TEST, Elsewhere())
    sleep, join = body["searched"]
    assert (sleep["place"], sleep["kind"], sleep["verdict"]) == ("test_it.py:5", "sleep", "smaller")
    assert (join["place"], join["kind"], join["verdict"]) == ("test_it.py:7", "timeout", "no effect")
    assert sleep["smallest_good"] == 0.0625 and sleep["proposal"] == 0.2, "twice, on a machine that nobody knows"
    assert join["proposal"] is None, "a timeout stays"
    assert all(len(recipe.get("calls", ())) <= 1 for recipe in lab.recipes), "one value at a time"
    assert body["runs"] == len(lab.recipes)
    assert body["sentence"].startswith("62.5 ms is enough in test_it.py:5 here: 0 of 200 failed (at most 1.8%); ")
    assert json.loads(json.dumps(body)) == body


def test_the_table_has_all_that_ran(tmp_path: Path) -> None:
    lab = MadeLaboratory(tmp_path)
    table = as_json(inquire(lab, value="test_it.py:5", polls=False), TEST, Elsewhere())["searched"][0]["table"]
    assert [row["value"] for row in table] == sorted(row["value"] for row in table)
    assert table[0]["failed"] == table[0]["runs"] == 10 and table[0]["verdict"] == "bad"
    assert table[-1]["mean"] == pytest.approx(0.51) and table[-1]["verdict"] == "good"
    assert sum(row["runs"] for row in table) == len(lab.recipes) - 3
    assert all(row["low"] <= row["failed"] / row["runs"] <= row["high"] for row in table)


def test_polling_says_when_the_condition_held_and_what_to_write(tmp_path: Path) -> None:
    findings = inquire(MadeLaboratory(tmp_path), value="test_it.py:5")
    polling = as_json(findings, TEST, Elsewhere(slowest=0.51, runs_a_day=150))["searched"][0]["polling"]
    assert (polling["runs"], polling["never"], polling["condition"]) == (30, 0, "worker.event.is_set()")
    assert 0.045 <= polling["median"] <= polling["p99"] <= polling["longest"] <= 0.055
    assert polling["deadline"] == pytest.approx(10 * polling["p99"], abs=0.001)
    assert polling["text"] == f"    assert worker.event.wait({polling['deadline']:g})", "the trace shows who sets it"


def test_a_condition_that_cannot_be_asked_early(tmp_path: Path) -> None:
    findings = inquire(MadeLaboratory(tmp_path, broke="AttributeError"), value="test_it.py:5")
    polling = as_json(findings, TEST, Elsewhere())["searched"][0]["polling"]
    assert polling["broke"] == "AttributeError" and "text" not in polling
    assert any(
        "cannot be asked earlier: it raised AttributeError" in line for line in lines(findings, TEST, Elsewhere())
    )


def test_without_polling_nothing_is_asked_early(tmp_path: Path) -> None:
    lab = MadeLaboratory(tmp_path)
    assert inquire(lab, polls=False).searched[0].polling is None
    assert not any(recipe["waits"] for recipe in lab.recipes)


def test_a_flaky_value_is_raised_with_what_that_costs(tmp_path: Path) -> None:
    findings = inquire(MadeLaboratory(tmp_path, needed=0.5), value="test_it.py:5")
    body = as_json(findings, TEST, Elsewhere(slowest=0.1))["searched"][0]
    assert body["verdict"] == "raise" and 0.5 <= body["smallest_good"] <= 0.75
    assert body["proposal"] == 1.0 and body["sentence"].startswith("Raise 500 ms in test_it.py:5 to 1 s: ")
    assert "which costs" in body["sentence"]


def test_the_time_saved_is_told_where_the_server_knows_how_often_it_runs(tmp_path: Path) -> None:
    findings = inquire(MadeLaboratory(tmp_path), value="test_it.py:5")
    sentence = as_json(findings, TEST, Elsewhere(0.51, 150.0))["sentence"]
    assert sentence.endswith("500 ms takes 438 ms longer a run, 33 minutes a month at 150 runs a day.")


def test_when_the_time_is_up_what_is_known_is_told(tmp_path: Path) -> None:
    findings = inquire(MadeLaboratory(tmp_path, runs=40), value="test_it.py:5", polls=False)
    assert findings.ended == "budget" and findings.runs == 40
    assert "not enough runs to tell" in as_json(findings, TEST, Elsewhere())["sentence"]


def test_a_value_that_cannot_be_varied(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"test_it.py:1 is no time value .*test_it.py:5, test_it.py:7"):
        inquire(MadeLaboratory(tmp_path), value="test_it.py:1")


def test_lines_for_people(tmp_path: Path) -> None:
    text = lines(inquire(MadeLaboratory(tmp_path), value="test_it.py:5"), TEST, Elsewhere())
    assert text[0] == TEST and text[1].startswith("62.5 ms is enough")
    assert "test_it.py:5  time.sleep, a sleep of 500 ms" in text
    assert any(line.split()[:2] == ["0", "ms"] and "10 of 10" in line and line.endswith("bad") for line in text)
    assert "Write 200 ms: CI is taken to be 2 times as slow as this machine." in text
    assert text[-1] == "  test_it.py:7  threading.Thread.join, timeout 2 s (written there)"


def test_what_the_server_says_is_believed_as_far_as_it_makes_sense() -> None:
    assert _elsewhere({"slowest": 2, "runs_a_day": 10.5}) == Elsewhere(2.0, 10.5)
    assert _elsewhere({"slowest": True, "runs_a_day": "x"}) == _elsewhere({}) == Elsewhere()
    assert Elsewhere(2.0).factor(0.5) == 4.0 and Elsewhere(0.1).factor(0.5) == 1.0 and Elsewhere().factor(0.5) == 2.0


def test_shares_and_lines() -> None:
    assert (_share("3%"), _share("0.5")) == (0.03, 0.5)
    for wrong in ("x", "100%", "-1", "1.0"):
        with pytest.raises(Exception, match="share"):
            _share(wrong)
    assert _printed("  a  b\x1b[0m ##vso[x") == "  a  b\N{REPLACEMENT CHARACTER}[0m # #vso[x" and _printed("") == ""
    assert [time_of(seconds) for seconds in (0, 0.0625, 1.5)] == ["0 ms", "62.5 ms", "1.5 s"]


@pytest.mark.processes
def test_the_command_on_a_real_test(tmp_path: Path) -> None:
    """Few runs, which prove nothing: that values arrive in fresh processes and come back."""
    (tmp_path / "test_it.py").write_text(
        "import threading, time\n\n\ndef test():\n    event = threading.Event()\n    event.set()\n"
        "    time.sleep(0.01)\n    assert event.is_set()\n"
    )
    words = ["--runs", "2", "--offline", "--json", "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = flakeboard("waits", "test_it.py::test", *words, cwd=tmp_path, environ={})
    assert done.returncode == 0, done.stdout
    body = json.loads(done.stdout)
    (searched,) = body["searched"]
    assert {(row["value"], row["runs"]) for row in searched["table"]} == {(0.0, 2), (0.01, 2)}
    assert (searched["verdict"], searched["polling"]["runs"]) == ("no effect", 2)
