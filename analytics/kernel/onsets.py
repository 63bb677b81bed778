"""Since when a test is flaky, and between which two reports it became so."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Executions, Flags, Ints
from analytics.kernel.flakiness import Evidence
from analytics.kernel.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class Onsets:
    """By test; reports, -1 where there is none."""

    last_clean: Ints
    """The last report before the first contradiction in which it passed and did not fail."""
    first: Ints
    """The first report with a failure that is part of a contradiction or recovery."""
    last: Ints
    """The last such report."""
    last_failure: Ints
    before: Ints
    """Executions before the first contradiction."""
    new: Flags
    """It had hardly run when it first contradicted itself, and it came while the window was open."""


def onsets(executions: Executions, found: Evidence, parameters: Parameters = DEFAULTS) -> Onsets:
    ran = executions.where(executions.executed)
    earlier = ran.report < found.first[ran.test]
    clean = np.full(ran.tests, -1, dtype=np.int64)
    passed = np.flatnonzero(ran.last_attempt)[~ran.any_attempt(ran.failing)]
    passed = passed[earlier[passed]]
    clean[ran.test[passed]] = ran.report[passed]  # reports rise within a test: the last one written stays
    last_failure = np.full(ran.tests, -1, dtype=np.int64)
    last_failure[ran.test[ran.failing]] = ran.report[ran.failing]
    before = np.bincount(ran.test[earlier], minlength=ran.tests).astype(np.int64)
    came = np.full(ran.tests, -1, dtype=np.int64)
    came[ran.test[::-1]] = ran.report[::-1]  # backwards: the first one is written last
    new = (found.first >= 0) & (before < parameters.new_executions) & (came >= parameters.new_executions)
    return Onsets(clean, found.first, found.last, last_failure, before, new)
