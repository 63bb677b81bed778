"""Tests that became slower: found where they are, and not where a machine or a kind of run is slow."""

import numpy as np
import pytest
from scipy import stats

from analytics.kernel.trends.slowdowns import DurationChanges, _ranks, duration_changes

REPORTS, TESTS = 120, 40


def suite(seed: int = 1) -> np.ndarray:
    """Seconds by report and test: test k takes about (k + 1) / 10 seconds, with noise of a tenth."""
    noise = np.random.default_rng(seed).normal(0, 0.1, (REPORTS, TESTS))
    return np.exp(np.log(np.arange(1, TESTS + 1) / 10) + noise)


def found_in(seconds: np.ndarray, kind: np.ndarray | None = None) -> DurationChanges:
    return duration_changes(seconds, np.zeros(len(seconds), dtype=np.int64) if kind is None else kind)


def test_a_test_that_became_slower_is_found_with_when_and_by_how_much() -> None:
    seconds = suite()
    seconds[70:, 7] *= 1.8
    seconds[30:, 30] *= 0.5
    found = found_in(seconds)
    assert found.test.tolist() == [30, 7], "what saves or costs most comes first"
    assert abs(found.report[1] - 70) <= 2 and abs(found.report[0] - 30) <= 2
    assert found.low[1] < 1.8 < found.high[1] and found.high[1] / found.low[1] < 1.2
    assert found.ratio[0] == pytest.approx(0.5, rel=0.1) and found.after[1] > 1.5 * found.before[1]
    assert (found.p_value < 0.001).all() and found.tested == TESTS


def test_without_a_change_hardly_any_is_claimed() -> None:
    assert sum(len(found_in(suite(seed))) for seed in range(20)) == 0


def test_a_slow_machine_makes_no_test_slow() -> None:
    seconds = suite()
    seconds[60:] *= 2.0
    assert len(found_in(seconds)) == 0
    seconds[60:, 5] *= 2.0
    assert found_in(seconds).test.tolist() == [5]


def test_a_kind_of_run_that_comes_later_makes_no_test_slow() -> None:
    seconds, kind = suite(), (np.arange(REPORTS) >= 60).astype(np.int64)
    seconds[60:, ::2] *= 3.0
    assert len(found_in(seconds, kind)) == 0 and len(found_in(seconds)) > 0


def test_a_small_change_or_too_few_executions_say_nothing() -> None:
    small = suite()
    small[60:, 3] *= 1.12
    assert len(found_in(small)) == 0
    few = suite()[:18]
    few[9:, 3] *= 5
    assert len(found_in(few)) == 0 and found_in(few).tested == 0
    unknown = np.full((REPORTS, 2), np.nan)
    assert found_in(unknown).tested == 0 and found_in(np.zeros((0, 0))).tested == 0


def test_missing_results_do_not_move_the_report() -> None:
    seconds = suite()
    seconds[70:, 7] *= 1.8
    seconds[::3, 7] = np.nan
    assert abs(int(found_in(seconds).report[0]) - 70) <= 3


def test_ranks_are_those_of_scipy() -> None:
    for values in ([], [3.0], [2.0, 2.0, 1.0, 5.0, 2.0], np.random.default_rng(3).integers(0, 9, 50).astype(float)):
        assert _ranks(np.array(values)).tolist() == stats.rankdata(values).tolist()
