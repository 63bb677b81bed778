"""How often each test was the first to show a regression, from the current analysis."""

import numpy as np

from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.kernel.runs import RunEnd
from analytics.selectors import current_tests
from ingest.models import Project


def regressions_of(project: Project, numbers: Ints) -> tuple[Ints, Ints]:
    """By test number (-1 for unknown ones): runs that ended as a regression in which its failure was new, and all runs
    that executed it; -1 runs where the analysis does not know it.

    New failures are those of no flaky, masked or incident test; of a test that is flaky by now none counts."""
    _, columns = current_tests(project.pk)
    found, runs = np.zeros(len(numbers), dtype=np.int64), np.full(len(numbers), -1, dtype=np.int64)
    if not len(columns):
        return found, runs
    place = np.minimum(np.searchsorted(columns["number"], numbers), len(columns) - 1)
    known = (numbers >= 0) & (columns["number"][place] == numbers)
    runs[known] = columns["executed"][place[known]]
    if "new_test" in columns and len(columns["new_test"]):
        regressed = columns["run_id"][columns["run_end"] == RunEnd.REGRESSION]
        tests = columns["new_test"][np.isin(columns["new_run"], regressed)]
        count = np.bincount(tests, minlength=int(numbers.max(initial=0)) + 1)
        found[known] = count[numbers[known]]
    found[known & (columns["state"][place] == State.FLAKY)] = 0
    return found, runs
