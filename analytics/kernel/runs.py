"""How each run ended, and by whose fault: the tests', the change's or the machines'."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from analytics.kernel.executions import Flags, Floats, Ints
from analytics.kernel.window import Reports


class RunEnd(IntEnum):
    """The numbers are stored: never renumber."""

    PASSED = 0
    FLAKY = 1
    """Every failing test of it is flaky."""
    REGRESSION = 2
    """A test that is not flaky failed, or something besides tests."""
    INCIDENT = 3


@dataclass(frozen=True, slots=True)
class Runs:
    """By run."""

    end: Ints
    started: Floats
    default_branch: Flags
    seconds: Floats
    """What its tests took."""
    excused: Flags
    """Failed for another reason than its tests: part of an incident, or something besides tests went wrong."""


def run_ends(reports: Reports, incident: Flags, test: Ints, run: Ints, flaky: Flags) -> Runs:
    """Judge every run from its cells (test, run) that failed at their last attempt (`incident` by report)."""
    count = int(reports.run.max(initial=-1)) + 1
    started, main = np.full(count, np.inf), np.zeros(count, dtype=bool)
    np.minimum.at(started, reports.run, reports.started)
    main[reports.run[reports.default_branch]] = True
    hit, errors = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    hit[reports.run[incident]] = True
    errors[reports.run[reports.errors]] = True
    failing, by_flaky = np.bincount(run, minlength=count), np.bincount(run[flaky[test]], minlength=count)
    end = np.full(count, int(RunEnd.PASSED), dtype=np.int64)
    end[failing > 0] = RunEnd.FLAKY
    end[(failing > by_flaky) | errors] = RunEnd.REGRESSION
    end[hit] = RunEnd.INCIDENT
    seconds = np.bincount(reports.run, weights=reports.seconds, minlength=count).astype(np.float64)
    return Runs(end, started, main, seconds, hit | errors)
