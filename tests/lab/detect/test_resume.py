"""Resuming: an experiment that was cut short ends as if it had not been, and runs nothing twice."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from flakeboard.detection.journal import Journal
from flakeboard.detection.laboratory import Laboratory
from flakeboard.problems import Problem

from tests.client.commands import environ_with
from tests.client.starter import Started, begin
from tests.lab.detect.commands import PYTEST, Command
from tests.lab.detect.test_procedure import TESTS
from tests.lab.detect.test_procedure import detect as run_procedure
from tests.lab.detect.worlds import Simulated, World, suite, write_project

WORLD = World(TESTS, brittles={TESTS[12]: [TESTS[3]]}).victim(TESTS[2], TESTS[17], cleaners=[TESTS[9]])


def experiment(path: str, resumes: bool = False, seconds: float = 700) -> tuple[list[Any], int]:
    """What a simulated experiment found, and how many orders were run for it now."""
    executor = Simulated(WORLD)
    journal = Journal.open(path, executor.clock) if resumes else Journal.create(path, {"key": "k"}, executor.clock)
    procedure = run_procedure(Laboratory(TESTS, journal, executor), orders=6, budget=seconds / 60)
    found = [
        (each.test, each.kind, each.role, each.order, each.groups, each.notes) for each in procedure.known.values()
    ]
    took = [(entry["n"], entry["order"], entry["took"]) for entry in journal.entries if "order" in entry]
    return [found, procedure.ended, journal.spent, took], len(executor.orders)


def test_a_journal_that_breaks_off_anywhere_leads_to_the_same_end(tmp_path: Path) -> None:
    """Also in the middle of a line; the budget goes on from where it was."""
    whole = tmp_path / "whole.jsonl"
    expected, runs = experiment(str(whole))
    content = whole.read_bytes()
    lines = content.count(b"\n")
    assert runs > 40
    for part in range(20):
        at = len(content) * (part + 1) // 21
        at = max(at, content.index(b"\n") + 1)
        cut = tmp_path / f"cut-{part}.jsonl"
        cut.write_bytes(content[:at])
        kept = content[:at].count(b"\n") - 1
        found, again = experiment(str(cut), resumes=True)
        assert found == expected
        assert again == runs - sum(b'"verdicts"' in line for line in content.split(b"\n")[1 : kept + 1])
        assert cut.read_bytes().count(b"\n") == lines


def test_another_budget_runs_nothing_twice(tmp_path: Path) -> None:
    """An experiment whose budget ended it, resumed with a larger one, ends like one that had it from the beginning."""
    (found, ended, spent, _), runs = experiment(str(tmp_path / "whole.jsonl"), seconds=700)
    path = str(tmp_path / "short.jsonl")
    (few, few_ended, _, _), first = experiment(path, seconds=150)
    (more, more_ended, more_spent, took), then = experiment(path, resumes=True, seconds=700)
    assert few_ended == "budget" and few != found and first > 5
    assert (more, more_ended, more_spent) == (found, ended, spent)
    assert len(took) == first + then < first + runs, "some of what the short one ran was asked for again"
    assert len({number for number, _, _ in took}) == len(took)


@pytest.mark.processes
@pytest.mark.usefixtures("shown_once")
def test_the_command_resumes_with_another_budget(detect: Command) -> None:
    """The new budget counts, also for a later call that names none."""
    write_project(PLANTED, detect.folder)
    assert detect("--no-upload", "--seed", "s", "--experiment", "k", "--orders", "3", "--budget", "0.0001").code == 1
    call = detect("--no-upload", "--resume", "k", "--budget", "5", command=())
    assert (call.code, call.told["ended"]) == (0, "orders")
    assert call.groups(SMALL[1]) == [([SMALL[7]], [])]
    again = detect("--no-upload", "--resume", "k", command=())
    assert again.told == call.told


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    for text in ("hello\n", "1\n2\n"):
        (tmp_path / "text").write_text(text)
        with pytest.raises(Problem, match="is not the journal of an experiment"):
            Journal.open(str(tmp_path / "text"))


SMALL = suite(3, 3)
PLANTED = World(SMALL).victim(SMALL[1], SMALL[7])


def started(folder: Path, output: Path, *options: str) -> Started:
    words = ["detect", *options, "--seed", "s", "--no-upload", "--orders", "3", "--", *PYTEST]
    return begin("flakeboard", *words, cwd=folder, environ=environ_with(), output=output)


def until_said(process: Started, output: Path, words: str) -> None:
    """Wait until it says so."""
    while words not in output.read_text():
        assert process.poll(0.01) is None, output.read_text()


@pytest.mark.processes
@pytest.mark.usefixtures("shown_once")
def test_a_killed_experiment_goes_on_where_it_was(detect: Command, tmp_path: Path) -> None:
    write_project(PLANTED, detect.folder)
    process = started(detect.folder, tmp_path / "output")
    until_said(process, tmp_path / "output", "order 2 of 3")
    assert process.end() == -signal.SIGKILL
    (journal,) = detect.journals
    before = journal.read_bytes().rpartition(b"\n")[0]
    key = json.loads(before.partition(b"\n")[0])["key"]
    call = detect("--resume", key, "--no-upload", command=())
    assert call.code == 0
    assert call.groups(SMALL[1]) == [([SMALL[7]], [])]
    assert [order["round"] for order in call.told["orders"]] == [1, 2, 3]
    assert journal.read_bytes().startswith(before + b"\n{")


@pytest.mark.processes
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_an_interrupted_experiment_tells_what_it_knows(detect: Command, tmp_path: Path, number: int) -> None:
    write_project(PLANTED, detect.folder)
    output = tmp_path / "output"
    process = started(detect.folder, output, "--out", "out.json", "--isolate", "100000", "--budget", "600")
    until_said(process, output, "order 3 of 3")
    process.send_signal(number)
    assert process.wait(60) == 130, output.read_text()
    answer = json.loads((detect.folder / "out.json").read_text())
    assert answer["ended"] == "interrupted"
    assert [(each["test"], each["kind"]) for each in answer["found"]] == [(SMALL[1], "OD")]
    assert SMALL[1] in output.read_text()
    (journal,) = detect.journals
    key = json.loads(journal.read_text().partition("\n")[0])["key"]
    assert f"flakeboard: interrupted; to go on where it was: --resume {key}\n" in output.read_text()
