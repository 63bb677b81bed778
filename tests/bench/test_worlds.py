"""A slice of each world held to its bars, and mistakes in one counted."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from analytics.kernel.analysis import Analysis, analyse
from analytics.kernel.flakiness import State
from analytics.kernel.without_incidents import outside
from analytics.simulation import History, simulate
from analytics.simulation.truth import Regression, Truth
from analytics.simulation.worlds import WORLDS
from bench import ground_truth, worlds
from tests.bench.histories import flake, truth, window_of


@cache
def slice_of(name: str) -> tuple[History, Analysis]:
    """A short history of the world with loud incidents."""
    made = WORLDS[name][0]
    history = simulate(replace(made, seed=1, days=10, import_errors=made.import_errors[:2]))
    return history, analyse(history.window())


@pytest.mark.parametrize("name", WORLDS)
def test_a_slice_of_the_world_reaches_its_bars(name: str) -> None:
    judged = worlds.judge(*slice_of(name))
    missed = [str(outcome) for outcome in worlds.outcomes(name, [judged]) if not outcome.good]
    assert not missed
    found, all_of_them = judged.broken
    assert found == all_of_them > 0
    assert judged.incidents[0] >= 3


def test_only_worlds_that_tell_nothing_have_no_bars() -> None:
    assert worlds.UNBARRED.issubset(WORLDS) and len(worlds.UNBARRED) == 2
    for name in worlds.UNBARRED:
        bars = [(outcome.least, outcome.most) for outcome in worlds.outcomes(name, [worlds.judge(*slice_of(name))])]
        assert bars == [(None, None)] * 4


def test_nothing_recovers_where_one_commit_is_run() -> None:
    judged = worlds.judge(*slice_of("one commit run 100 times"))
    assert judged.falsely_recovered == 0


def test_mistakes_miss_the_bars() -> None:
    history, analysis = slice_of("own import errors")
    broken = np.flatnonzero(ground_truth.plain_regressions(analysis.window, history.truth))
    state = analysis.state.copy()
    state[broken] = State.FLAKY
    judged = worlds.judge(history, replace(analysis, state=state))
    assert judged.regressions_flaky == len(broken) > 30
    assert judged.broken[0] == 0
    missed = [outcome.what for outcome in worlds.outcomes("own import errors", [judged]) if not outcome.good]
    assert any("called flaky" in what for what in missed) and any("precision" in what for what in missed)


def test_a_regression_whose_failures_are_taken_out_is_counted() -> None:
    history, analysis = slice_of("own import errors")
    window, report = analysis.window, np.zeros(len(analysis.window.reports), dtype=bool)
    late = next(regression for regression in history.truth.regressions if regression.fixed < 0)
    rows = window.executions.failing & (window.failing[window.executions.test] == late.number)
    report[np.setdiff1d(window.executions.report[rows], sorted(history.truth.incidents))[0]] = True
    kept = outside(window, report)
    wrong = replace(analysis, outside=kept)
    taken = ground_truth.taken_for_incidents(wrong, history.truth)
    assert taken[late.number]
    assert not ground_truth.taken_for_incidents(analysis, history.truth)[late.number]
    assert worlds.judge(history, wrong).regressions_in_incidents > 0


def test_an_incident_of_a_few_tests_explains_their_failures_alone() -> None:
    window = window_of(["P F", "P F", "F F"], revision=[1, 1])
    quiet = Truth({}, (), frozenset({1}), {}, {1: frozenset({0})})
    rows = window.executions
    explained = ground_truth.in_incidents(window, quiet, rows)
    assert window.failing[rows.test[explained]].tolist() == [0]
    assert ground_truth.both_seen(window, quiet).tolist() == [False, True, False]
    loud = truth(incidents=[1])
    assert np.count_nonzero(ground_truth.in_incidents(window, loud, rows)) == 3


def test_what_was_mended_moved_away_or_broke_on_a_pull_request_is_not_broken_at_the_end() -> None:
    window = window_of(["P F", "F P", "F .", "P F"])
    broken = [
        Regression(0, 1, -1, default_branch=True),
        Regression(1, 0, 1, default_branch=True),
        Regression(2, 0, -1, default_branch=True),
        Regression(3, 1, -1, default_branch=False),
    ]
    known = replace(truth([flake(3)], broken), renames={2: 3})
    assert ground_truth.broken_at_end(window, known).tolist() == [True, False, False, False]
