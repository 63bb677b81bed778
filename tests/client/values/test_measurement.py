"""How many runs are made, in how many processes, and when they end; the runs are made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from flakeboard.bounds.measurement import measure
from flakeboard.bounds.parameters import Parameters
from flakeboard.bounds.series import Measurement
from flakeboard.values.sites import Site

SITE = Site("t.py", 3, 0)


class Draws:
    """Runs whose values are given by number and process."""

    def __init__(self, by_process: bool = False, budget: int = 10_000, reaches: int = 1) -> None:
        self.by_process, self.budget, self.reaches = by_process, budget, reaches
        self.asked: list[tuple[int, int]] = []
        self.number = 0

    @property
    def left(self) -> float:
        return float(self.budget - self.number)

    def run(self, test: str, count: int, per_process: int) -> list[Measurement]:
        self.asked.append((count, per_process))
        found = []
        for each in range(min(count, self.budget - self.number)):
            self.number += 1
            process = each // per_process
            value = (self.number * 37 % 101) / 101 + (10.0 * process if self.by_process and per_process > 1 else 0.0)
            sites = {SITE: ("upper", "<", 1_000.0, value)} if self.number % self.reaches == 0 else {}
            found.append(Measurement(self.number, process, test, "passed", sites, ()))
        return found


def measured(lab: Draws, precise_after: int = 10_000, **how: Any) -> tuple[Any, list[tuple[int, bool]]]:
    questions: list[tuple[int, bool]] = []

    def conclude(series: object, runs: int, failed: int, keep: bool) -> Mapping[str, Any]:
        questions.append((runs, keep))
        return {"sites": [{"conclusion": {"is_precise": runs >= precise_after, "obstacle": ""}}]}

    parameters = Parameters("t.py::t", ("pytest",), **how)
    return measure(lab, parameters, "t.py::t", conclude, lambda text: None), questions  # type: ignore[arg-type]


def test_a_hundred_runs_then_fifty_at_a_time_and_only_the_last_answer_is_kept() -> None:
    lab = Draws()
    found, questions = measured(lab, runs=220)
    assert lab.asked == [(100, 25), (50, 25), (50, 25), (20, 25)] and len(found.runs) == 220
    assert questions == [(100, False), (150, False), (200, False), (220, True)]


def test_it_ends_as_soon_as_bounds_are_sure_enough() -> None:
    lab = Draws()
    found, questions = measured(lab, precise_after=150, runs=3_000)
    assert len(found.runs) == 150 and questions[-1] == (150, True)


def test_fresh_gives_each_run_a_process() -> None:
    lab = Draws(by_process=True)
    found, _ = measured(lab, runs=100, fresh=True)
    assert lab.asked == [(100, 1)] and found.notes == []


def test_runs_of_one_process_that_are_alike_do_not_count() -> None:
    lab = Draws(by_process=True)
    found, _ = measured(lab, runs=150)
    assert lab.asked == [(100, 25), (100, 1), (50, 1)] and len(found.runs) == 150
    assert found.notes == ["Runs of one process are more alike than those of different ones: each run has its own now."]
    assert {run.number for run in found.runs} == set(range(101, 251))


def test_the_budget_ends_it_and_what_was_measured_counts() -> None:
    found, questions = measured(Draws(budget=130), runs=3_000)
    assert len(found.runs) == 130 and questions[-1] == (130, True)
    assert found.notes == ["The budget ended it after 130 runs."]


def test_runs_that_did_not_come_to_the_assertion_are_told() -> None:
    found, _ = measured(Draws(reaches=2), runs=100)
    assert found.notes == ["50 runs did not come to t.py:3."]


@pytest.mark.parametrize(("site", "counted"), [("t.py:3", 100), ("t.py:4", 0)])
def test_only_the_assertion_that_is_asked_for_counts(site: str, counted: int) -> None:
    found, questions = measured(Draws(), runs=100, site=site)
    assert sum(len(series.values) for series in found.series) == counted
    assert bool(questions) == bool(counted)
