"""What an analysis works on: the reports of a window as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.flakiness import Situation

UNDECIDED, CONFIRMED, REJECTED = 0, 1, -1
"""What a person said of a report that we hold for an incident."""


@dataclass(frozen=True, slots=True)
class Reports:
    """One row a report, by time. -1 stands for "not said"."""

    started: Floats
    """Seconds since 1970."""
    revision: Ints
    environment: Ints
    host: Ints
    run: Ints
    default_branch: Flags
    order: Ints
    """Which of the window's orders; -1 where it is not known to be true."""
    errors: Flags
    """Something besides tests went wrong: a build, a collection, a fixture of a whole class."""
    executed: Ints
    """Tests that ran."""
    seconds: Floats
    """What its tests took, all attempts together."""
    decided: Ints
    """UNDECIDED, CONFIRMED or REJECTED as an incident."""

    def __len__(self) -> int:
        return len(self.started)

    @property
    def situation(self) -> Situation:
        return Situation(self.revision, self.environment, self.run, self.default_branch)


@dataclass(frozen=True, slots=True)
class Window:
    """The executions of a window. Tests go by their numbers; those that failed also by their place in `failing`."""

    reports: Reports
    executed: Ints
    failed: Ints
    skipped: Ints
    """By test number, every attempt counted."""
    extra: Ints
    """Of those executed, attempts after the first in their report; by test number."""
    first: Ints
    last: Ints
    """By test number: the first and the last report that speaks of it; -1 for none."""
    seconds: Floats
    """By test number: the mean of its passing executions; NaN where there is none."""
    suite: Ints
    """By test number."""
    failing: Ints
    """Numbers of the tests that failed at least once, ascending."""
    executions: Executions
    """Of the failing tests, sorted by test, report and ordinal; `test` is the place in `failing`."""
    told: Flags
    """By execution: one of several attempts in its report, and the producer says that they are."""
    signature: Ints
    """By execution: which of `signatures`; -1 where it did not fail."""
    ambiguous: Flags
    """By failing test: it has attempts of unknown relation, which are left out."""
    signatures: tuple[str, ...]
    orders: tuple[Ints, ...]
    """Test numbers in order of execution."""
    excluded: Mapping[str, int]
    """Reason -> how many executions or reports were left out."""
    environments: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """What their numbers stand for, in words."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Rows for tests with several attempts in one report, in any order."""

    number: Ints
    report: Ints
    ordinal: Ints
    verdict: Ints
    duration: Floats
    ambiguous: Flags


def no_attempts() -> Attempts:
    none = np.zeros(0, dtype=np.int64)
    return Attempts(none, none, none, none, np.zeros(0), np.zeros(0, dtype=bool))


@dataclass(frozen=True, slots=True)
class Signed:
    """Rows for failing executions: which signature their failure has, in any order."""

    number: Ints
    report: Ints
    ordinal: Ints
    signature: Ints
