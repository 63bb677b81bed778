"""The input of an analysis: the reports of a window as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.flakiness import Situation

UNDECIDED, CONFIRMED, REJECTED = 0, 1, -1
"""A person's decision on a report that we take for an incident."""


@dataclass(frozen=True, slots=True)
class Reports:
    """A row for each report, ordered by time; -1 means unknown."""

    started: Floats
    """Seconds since 1970."""
    revision: Ints
    environment: Ints
    host: Ints
    run: Ints
    default_branch: Flags
    pull_request: Flags
    branch: Ints
    """The branch or pull request: each has its own number."""
    order: Ints
    """The index of its order in the window's `orders`; -1 if the order is not reliable."""
    errors: Flags
    """Something other than a test failed: a build, a collection, a fixture of a whole class."""
    executed: Ints
    """Tests that ran."""
    seconds: Floats
    """The time of its tests, all attempts together."""
    decided: Ints
    """UNDECIDED, CONFIRMED or REJECTED as an incident."""
    kind: Ints | None = None
    """Runs of the same job, shard and environment are of one kind. None if the environment says it all."""

    def __len__(self) -> int:
        return len(self.started)

    @property
    def mainline(self) -> Flags:
        """Where a failing test counts as broken: the default branch, or any branch if nothing ran on that."""
        return self.default_branch if self.default_branch.any() else ~self.pull_request

    @property
    def hosts_persist(self) -> bool:
        """Whether hosts ran at least two reports on average, so that a host's reports follow each other."""
        known = self.host[self.host >= 0]
        return bool(len(known)) and 2 * len(np.unique(known)) <= len(known)

    @property
    def stream(self) -> Ints:
        """Reports that follow each other: of one environment, and on one host if hosts persist (Lam6). If every run
        has a machine of its own, nothing would ever follow anything."""
        host = self.host if self.hosts_persist else np.zeros_like(self.host)
        codes = self.environment * (int(host.max(initial=-1)) + 2) + host + 1
        return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)

    @property
    def situation(self) -> Situation:
        return Situation(self.revision, self.environment, self.run, self.mainline, self.pull_request)


@dataclass(frozen=True, slots=True)
class Masks:
    """Tests, by number, and the reports in which a quarantine kept their failures from blocking."""

    test: Ints
    report: Ints


NO_MASKS = Masks(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Window:
    """The executions of a window. Tests are identified by number; those that failed also by place in `failing`."""

    reports: Reports
    executed: Ints
    failed: Ints
    skipped: Ints
    """By test number, counting every attempt."""
    extra: Ints
    """By test number: executions after the first attempt in their report."""
    first: Ints
    last: Ints
    """By test number: the first and the last report that mentions it; -1 for none."""
    seconds: Floats
    """By test number: the mean of its passing executions; NaN if there are none."""
    suite: Ints
    """By test number."""
    failing: Ints
    """Numbers of the tests that failed at least once, ascending."""
    executions: Executions
    """Of the failing tests, sorted by test, report and ordinal; `test` is the place in `failing`."""
    retried: Flags
    """By execution: one of several attempts in its report, which the producer marks as attempts."""
    signature: npt.NDArray[np.integer]
    """By execution: the index in `signatures`; -1 if it did not fail."""
    ambiguous: Flags
    """By failing test: it has ambiguous attempts, which are left out."""
    signatures: tuple[str, ...]
    orders: tuple[Ints, ...]
    """Test numbers in order of execution."""
    excluded: Mapping[str, int]
    """Reason -> how many executions or reports were left out."""
    environments: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """The names behind their numbers."""
    packages: frozenset[str] = frozenset()
    """Prefixes of the project's own modules: see `analytics.kernel.packages`."""
    masked: Masks = NO_MASKS
    retry_seconds: Floats = field(default_factory=lambda: np.zeros(0))
    """By report: the time of attempts after the first, over all its tests."""


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
class SignatureRows:
    """Rows for failing executions: which signature their failure has, in any order."""

    number: Ints
    report: Ints
    ordinal: Ints
    signature: Ints
