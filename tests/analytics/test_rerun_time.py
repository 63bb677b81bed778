"""How much of the time of tests goes to running again what had run. Each execution of these histories takes a second."""

from dataclasses import replace

import numpy as np
import pytest

from analytics.kernel.rerun_time import repeated_runs, rerun_time
from tests.bench.histories import window_of


def test_later_attempts_are_counted_once_and_runs_that_repeat_another_as_a_whole() -> None:
    told = rerun_time(window_of(["FFP FP P", "P P P", "PP P P"], revision=[1, 1, 2]))
    assert (told.attempts, told.repeated, told.total) == (3.0, 4.0, 13.0)
    assert (told.repeated_runs, told.runs, told.share) == (1, 3, 7 / 13)


@pytest.mark.parametrize(
    ("column", "values", "repeated"),
    [
        ("revision", [1, 1, 1], [False, True, True]),
        ("revision", [-1, -1, -1], [False, False, False]),
        ("kind", [0, 1, 0], [False, False, True]),
        ("branch", [0, 1, 1], [False, False, True]),
        ("run", [0, 0, 1], [False, True]),
    ],
)
def test_a_run_repeats_one_of_its_kind_branch_and_revision(
    column: str, values: list[int], repeated: list[bool]
) -> None:
    """Shards are kinds of their own; the reports of one run are no repetition; unknown revisions tell nothing."""
    same = {"revision": np.array([1, 1, 1]), "branch": np.zeros(3, dtype=np.int64), column: np.array(values)}
    assert repeated_runs(replace(window_of(["P P P"]).reports, **same)).tolist() == repeated


def test_a_failing_test_that_ran_again_alone_is_a_later_attempt_in_the_same_run() -> None:
    told = rerun_time(window_of(["F . FP", "P P ."], run=[0, 1, 0]))
    assert (told.attempts, told.repeated, told.total, told.runs) == (2.0, 0.0, 5.0, 2)


def test_without_durations_the_share_is_unknown_and_not_nought() -> None:
    found = window_of(["F P"])
    told = rerun_time(replace(found, reports=replace(found.reports, seconds=np.zeros(2))))
    assert np.isnan(told.share) and told.untimed == 2
