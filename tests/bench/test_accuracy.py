"""A simulated history judged as a whole: what is concluded rightly counts, and what is not is seen."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from analytics.kernel.analysis import Analysis, analyse
from analytics.kernel.flakiness import State
from analytics.kernel.reruns import NEVER
from analytics.simulation import History, Settings, simulate
from bench import accuracy, ground_truth
from bench.accuracy import OURS
from bench.rules import RULES


@cache
def history() -> tuple[History, Analysis]:
    made = simulate(Settings(seed=5, days=15, shuffled_share=0.5))
    return made, analyse(made.window())


def with_state(state: State, numbers: np.ndarray) -> Analysis:
    """The same analysis, had it concluded that of these tests."""
    analysis = history()[1]
    concluded = analysis.state.copy()
    concluded[numbers] = state
    return replace(analysis, state=concluded)


def test_every_flaky_test_is_either_found_or_missed_by_every_rule() -> None:
    made, analysis = history()
    judged = accuracy.judge(made, analysis)
    assert set(judged.every) == {OURS, *RULES}
    for tally in judged.every.values():
        assert tally.right[0] + tally.missed[0] == len(made.truth.flakes)


def test_a_regression_called_flaky_is_counted() -> None:
    made, analysis = history()
    broken = np.flatnonzero(ground_truth.plain_regressions(analysis.window, made.truth))
    assert accuracy.judge(made, with_state(State.STABLE, broken)).regressions_called == 0
    called = accuracy.judge(made, with_state(State.FLAKY, broken))
    assert called.regressions_called == len(broken) > 0
    assert called.every[OURS].wrong[0] >= len(broken)


def test_flaky_tests_that_recovered_were_flaky_and_are_so_no_more() -> None:
    made, analysis = history()
    flaky = np.array(sorted(made.truth.flakes))
    judged = accuracy.judge(made, with_state(State.RECOVERED, flaky))
    assert judged.every[OURS].recall.value == 1.0
    assert judged.at_end[OURS].recall.value == 0.0


def test_what_is_known_of_nothing_is_found_of_nothing() -> None:
    made, analysis = history()
    judged = accuracy.judge(made, with_state(State.STABLE, np.arange(len(analysis.state))))
    assert judged.every[OURS].recall.value == 0.0
    assert np.isinf(judged.days[OURS]).all()


def test_every_test_that_failed_has_a_place_among_the_kinds() -> None:
    made, analysis = history()
    table = accuracy.judge(made, analysis).kinds
    assert table.sum() == len(analysis.window.failing)
    assert table[ground_truth.TrueKind.NOTHING].sum() == 0
    broken = np.flatnonzero(ground_truth.plain_regressions(analysis.window, made.truth))
    wrong = accuracy.confusion(analysis.window, made.truth, with_state(State.SUSPECT, broken))
    assert wrong[ground_truth.TrueKind.BROKEN, accuracy.CONCLUDED.index("suspect")] == len(broken)


def test_advice_is_judged_on_flaky_tests_that_were_called_so() -> None:
    made, analysis = history()
    advice = accuracy.advice_of(made, analysis)
    called = np.isin(sorted(made.truth.flakes), np.flatnonzero(np.isin(analysis.state, [1, 5])))
    assert len(advice.again) == np.count_nonzero(called) > 0
    silent = replace(
        analysis, failed=replace(analysis.failed, to_get_past=np.full(len(analysis.window.failing), NEVER))
    )
    assert not accuracy.advice_of(made, silent).given.any()


def test_the_top_ten_hold_no_more_than_there_is() -> None:
    made, analysis = history()
    first, best, total = accuracy.judge(made, analysis).top
    assert 0 < first <= total + 1e-9 and 0 < best <= total + 1e-9
    assert total == pytest.approx(round(total))


@pytest.mark.parametrize("settings", accuracy.MIX)
def test_the_mix_is_of_projects_that_can_be_made(settings: Settings) -> None:
    assert simulate(replace(settings, seed=1, days=min(settings.days, 30))).truth.flakes
