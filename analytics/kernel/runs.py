"""How each run ended, and why: flaky tests, a change or the infrastructure. See docs/concepts.md#how-runs-end."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from analytics.kernel.executions import Executions, Flags, Floats, Ints, distinct
from analytics.kernel.priority import LastFailures
from analytics.kernel.window import Reports


class RunEnd(IntEnum):
    """The numbers are stored: never renumber."""

    PASSED = 0
    FLAKY = 1
    """All its failing tests are flaky."""
    REGRESSION = 2
    """A test that is neither flaky nor broken before failed, or something other than a test failed."""
    INCIDENT = 3
    BROKEN = 4
    """An earlier change had broken its failing tests that are not flaky."""


@dataclass(frozen=True, slots=True)
class Runs:
    """By run."""

    end: Ints
    started: Floats
    default_branch: Flags
    seconds: Floats
    """The time of its tests."""
    excused: Flags
    """Failed for a reason other than its tests: an incident, or something other than a test failed."""


@dataclass(frozen=True, slots=True)
class NewFailures:
    """Cells (test, run): the test is not flaky, and was not broken before the run."""

    test: Ints
    run: Ints


@dataclass(frozen=True, slots=True)
class FlakyCells:
    """Cells (test, run): a test that is or was flaky failed at its last attempt."""

    test: Ints
    run: Ints
    masked: Flags
    """A quarantine kept it from blocking."""


def is_new(executions: Executions, ends: LastFailures, reports: Reports, incident: Flags, known: Flags) -> Flags:
    """By cell of `ends`: the test's last attempt failed in a report outside incidents, and it was not broken before.

    `known` by execution: it was broken before."""
    failed = np.flatnonzero(executions.failing & ~known)
    rows = failed[executions.last_attempt[failed] & ~incident[executions.report[failed]]]
    size = int(reports.run.max(initial=0)) + 1
    new = distinct(executions.test[rows].astype(np.int64) * size + reports.run[executions.report[rows]])
    return np.isin(ends.test * size + ends.run, new)


def run_ends(reports: Reports, incident: Flags, test: Ints, run: Ints, flaky: Flags, known: Flags) -> Runs:
    """Judge every run from its cells (test, run) that failed at their last attempt (`incident` by report).

    `known` cells were broken before."""
    count = int(reports.run.max(initial=-1)) + 1
    started, main = np.full(count, np.inf), np.zeros(count, dtype=bool)
    np.minimum.at(started, reports.run, reports.started)
    main[reports.run[reports.default_branch]] = True
    hit, errors = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    hit[reports.run[incident]] = True
    errors[reports.run[reports.errors]] = True
    by_flaky = flaky[test]
    failing, explained, others = (
        np.bincount(run[chosen], minlength=count) for chosen in (by_flaky | True, by_flaky | known, ~by_flaky)
    )
    end = np.full(count, int(RunEnd.PASSED), dtype=np.int64)
    end[failing > 0] = RunEnd.FLAKY
    end[others > 0] = RunEnd.BROKEN
    end[(failing > explained) | errors] = RunEnd.REGRESSION
    end[hit] = RunEnd.INCIDENT
    seconds = np.bincount(reports.run, weights=reports.seconds, minlength=count).astype(np.float64)
    return Runs(end, started, main, seconds, hit | errors)
