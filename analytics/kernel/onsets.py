"""Since when a test is flaky: the two reports between which it became so. See docs/concepts.md#since-when."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.flakiness import Evidence
from analytics.kernel.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class Onsets:
    """By test; reports, -1 where there is none."""

    last_clean: Ints
    """The last report before the first contradiction in which it only passed."""
    first: Ints
    """The first report with a failure in a contradiction or recovery."""
    last: Ints
    """The last such report."""
    last_failure: Ints
    before: Ints
    """Executions before the first contradiction."""
    new: Flags
    """It was added within the window and contradicted itself within its first executions."""


def onsets(executions: Executions, found: Evidence, parameters: Parameters = DEFAULTS) -> Onsets:
    ran = executions.where(executions.executed)
    earlier = ran.report < found.first.astype(ran.report.dtype)[ran.test]
    clean, last_failure, came = np.full((3, ran.tests), -1, dtype=np.int64)
    passed = np.flatnonzero(ran.last_attempt)[~ran.any_attempt(ran.failing)]
    passed = passed[earlier[passed]]
    clean[ran.test[passed]] = ran.report[passed]  # reports rise within a test, so the last one wins
    failed = np.flatnonzero(ran.failing)
    last_failure[ran.test[failed]] = ran.report[failed]
    before = np.bincount(ran.test[earlier], minlength=ran.tests).astype(np.int64)
    bounds = ran.bounds
    known = np.flatnonzero(bounds[1:] > bounds[:-1])
    came[known] = ran.report[bounds[known]]
    new = (found.first >= 0) & (before < parameters.new_executions) & (came >= parameters.new_executions)
    return Onsets(clean, found.first, found.last, last_failure, before, new)
