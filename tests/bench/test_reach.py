"""Slices of the benchmarks of reach: what they measure holds for a small part too."""

from __future__ import annotations

import numpy as np

from analytics.reach.touches import UsedCode
from bench.reach import plans, rerun_sets, touches
from ingest.reach.change_file import Change, ChangedFile
from tests.extent import repeats
from tests.paths import needs_data


def test_a_plan_finds_more_than_uniform_rounds_at_each_budget() -> None:
    totals = plans.compared(suites=3)
    assert all(by_plan >= by_rounds for _, by_plan, by_rounds in totals)
    assert sum(row[1] for row in totals) >= 1.5 * sum(row[2] for row in totals)


def test_the_bench_sees_a_plan_that_runs_the_wrong_tests() -> None:
    suite = plans.made_suite(np.random.default_rng(1))
    stable = np.where(suite.rates == 0, 50, 0)
    assert plans.found(suite, stable) == 0 < plans.found(suite, np.where(suite.rates > 0, 2, 0))


def test_a_rerun_set_clears_more_a_second_and_hides_fewer_regressions() -> None:
    chosen, all_ = rerun_sets.compared(builds=300)
    assert chosen.flaky / chosen.seconds >= 1.3 * all_.flaky / all_.seconds
    assert chosen.flaky > 0.8 * all_.flaky
    assert 0 < chosen.hidden <= 0.25 * all_.hidden, "of those that pass now and then"
    always, _ = rerun_sets.compared(builds=300, intermittent=0.0)
    assert always.hidden == 0


@needs_data
def test_no_test_whose_result_changes_is_told_not_to_touch_the_change() -> None:
    changes = repeats(2, 3)
    judged = touches.judge("pythondi-913e6a60", changes)
    assert judged.changes == changes and judged.missed == judged.missed_by_base == 0
    assert judged.affected and judged.told_no


def test_the_bench_sees_a_missed_test() -> None:
    change = Change("b", "h", (ChangedFile("a.py", "M", frozenset({"f"})),))
    used = UsedCode(frozenset({("a.py", "g")}), frozenset(), frozenset({"a.py"}))
    assert touches._is_no(change, used) and not touches._is_no(change, None)
