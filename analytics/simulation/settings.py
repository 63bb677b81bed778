"""The settings of a simulated project."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from analytics.simulation.truth import Kind


def _some_of_each() -> dict[Kind, int]:
    return {
        Kind.INDEPENDENT: 8,
        Kind.BURSTY: 6,
        Kind.VICTIM: 3,
        Kind.BRITTLE: 2,
        Kind.CLUSTER: 6,
        Kind.TIME_OF_DAY: 2,
        Kind.ASYNC: 4,
        Kind.ENVIRONMENT: 3,
    }


@dataclass(frozen=True, slots=True)
class Settings:
    """Every knob of the simulator. The same settings give the same history."""

    seed: int = 0
    start: datetime = datetime(2026, 1, 5, tzinfo=UTC)
    """Midnight of the first day."""
    tests: int = 400
    """At the start; new and renamed ones come on top."""
    suites: int = 12
    days: int = 60
    commits_a_day: float = 4.0
    """On average; at most 150 a day."""
    pull_request_share: float = 0.4
    """Of the commits, those pushed to a pull request's branch; each is made on top of the default branch."""
    merge_share: float = 0.6
    """Of the pull requests, those merged; the merge has the tree of the last commit, and is built again."""
    environments: tuple[str, ...] = ("linux", "macos", "windows")
    environments_a_build: int = 2
    """A build runs in the first environment and, by turns, in some of the others."""
    hosts: int = 6
    nightly: bool = True
    """The default branch is built again every night."""
    rerun_share: float = 0.5
    """Of the failed runs, those that CI runs again as attempt 2."""
    retries: bool = False
    """A failing test is retried up to twice within its run; reports are Surefire's then, else pytest's."""
    order_stated_share: float = 1.0
    """The share of reports from a single worker, whose order is known; the others come from parallel workers."""
    shuffled_share: float = 0.3
    """Of the reports, those run in a random order."""
    orders: int = 12
    """The number of random orders; 0: each shuffled report has its own."""
    flakes: Mapping[Kind, int] = field(default_factory=_some_of_each, hash=False)
    """How many flaky tests of each kind. Three of kind CLUSTER share a cause."""
    lowest_rate: float = 0.0005
    highest_rate: float = 0.5
    """Failure rates are drawn log-uniformly between these."""
    fixed_flakes: int = 3
    """The flaky tests that are fixed during the history."""
    new_flakes: int = 2
    """The flaky tests that become flaky during the history."""
    regressions: int = 4
    """Broken on the default branch, fixed after a few commits."""
    broken_at_end: int = 1
    """Broken on the default branch shortly before the end and never fixed; on top of `regressions`."""
    platform_regressions: int = 2
    """Broken on the default branch in only one environment; on top of `regressions`."""
    pull_request_regressions: int = 3
    incidents: int = 3
    incident_share: tuple[float, float] = (0.4, 0.9)
    """The least and greatest share of tests that an incident makes fail."""
    renames: int = 2
    new_tests: int = 6
    skipped_tests: int = 8
    """Skipped in one environment, always."""

    # What only some worlds have (`analytics.simulation.worlds`).
    standing: int = 0
    """Broken since before the first report, and never fixed."""
    import_errors: tuple[int, ...] = ()
    """Commits on the default branch that break one of the project's imports: how many tests each breaks."""
    pull_request_import_errors: tuple[int, ...] = ()
    """The same, each on one pull request."""
    dependency_changes: int = 0
    """Third-party releases that break a few tests under an unchanged commit; a commit fixes each but the last."""
    service_changes: int = 0
    """Services that change and change back, a few tests each, without any commit."""
    quiet_incidents: int = 0
    """Reports in which the machine makes 2 to 10 tests fail; on top of `incidents`."""
    branch: str = "main"
    """CI's name for the default branch; empty if it reports neither branches nor pull requests."""
    repeats: int = 0
    """Build a single commit this many times; 0 for commits over days."""
    durations: bool = True
    """Whether reports have durations."""
    commits: bool = True
    """Whether CI reports the commit."""
    clocks: tuple[float, ...] = ()
    """Hours by which the hosts' clocks are off, in turn; empty if all are right."""
    lost_attempts: bool = False
    """Retries are written as pytest-rerunfailures does: the test again, and only its last case says how it ended."""
    moves: int = 0
    """Classes that move to another module with all their tests, whatever their roles."""
    slowed_tests: int = 0
    """The slowest tests, which become slower still during the history."""
    shards: int = 1
    """Reports that each environment of a build is split into, class by class."""
