"""The truth about a simulated project: its flaky tests, its real breakages and its incidents."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    INDEPENDENT = "independent"
    """Fails with a fixed probability."""
    BURSTY = "bursty"
    """A two-state chain."""
    VICTIM = "victim"
    """Fails when a polluter ran before it (and no cleaner between)."""
    BRITTLE = "brittle"
    """Fails unless a state-setter ran before it."""
    CLUSTER = "cluster"
    """Fails together with others: a shared cause."""
    TIME_OF_DAY = "time of day"
    ASYNC = "async wait"
    """Slow when failing."""
    ENVIRONMENT = "environment"
    """Flaky in one environment only."""


@dataclass(frozen=True, slots=True)
class Flake:
    """The truth about a flaky test."""

    number: int
    """The test's number (as in Window)."""
    kind: Kind
    onset: float
    """P(fail | the execution before passed), the true chain (for independent: the rate)."""
    again: float
    """P(fail | the execution before failed) at once after."""
    since: int = 0
    """The first report (index into the window's reports) in which it could fail."""
    until: int = -1
    """The report in which it was fixed; -1 never."""
    partners: tuple[int, ...] = ()
    """Polluters or setters (numbers)."""
    cleaners: tuple[int, ...] = ()
    group: int = -1
    """Which shared cause (CLUSTER), -1 none."""


@dataclass(frozen=True, slots=True)
class Regression:
    """A test that broke for real: it fails at every revision with the bad commit."""

    number: int
    first: int
    """Report index in which it began to fail for real."""
    fixed: int
    """Report index in which it passed again; -1 never."""
    default_branch: bool
    """False: broken on a pull request's branch only."""
    environment: int = -1
    """The only environment in which it is broken; -1 for all."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The whole truth about a history."""

    flakes: Mapping[int, Flake]
    regressions: tuple[Regression, ...]
    incidents: frozenset[int]
    """Report indices."""
    renames: Mapping[int, int]
    """Old number -> new number."""
    members: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """For incidents that hit only a few tests: report -> their numbers. The others explain all failures."""
