"""Runs a simulated project: build after build, report after report, by time."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from analytics.kernel.executions import Flags, Ints
from analytics.simulation import causes
from analytics.simulation.breakages import Breakage
from analytics.simulation.builds import NEVER, Build, Plan
from analytics.simulation.cast import Cast
from analytics.simulation.causes import Cause
from analytics.simulation.flakes import FlakyTests
from analytics.simulation.reasons import causes_of
from analytics.simulation.sequences import USUAL, Sequences
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Flake, Regression, Truth
from ingest.clock import placed_at

RETRIES = 2
SENT_AFTER = 90
"""Seconds from the start of a run to the receipt of its report."""
_QUIET = (2, 10)
_AT_REVISION = 40
"""Revisions after which classes move to other shards, as with splitting by duration."""


@dataclass(frozen=True, slots=True)
class SimulatedReport:
    """A report, with CI's facts about its run."""

    started: int
    """Seconds since 1970, by the true clock."""
    build: int
    attempt: int
    revision: int
    commit: int
    pull_request: int
    environment: int
    host: int
    order: int
    order_stated: bool
    clock: int
    """When it started by the clock of its host."""
    placed: int
    """Its placement by that clock and its receipt."""
    shard: int
    """From 1; 0 for runs without shards."""


@dataclass(slots=True)
class SimulatedRuns:
    """All events. The last four columns are attempts of tests whose first attempt failed, by report and ordinal."""

    cast: Cast
    causes: tuple[Cause, ...]
    reports: list[SimulatedReport] = field(default_factory=list)
    present: list[Ints] = field(default_factory=list)
    """By report: its tests, ascending."""
    orders: list[Ints] = field(default_factory=list)
    incidents: set[int] = field(default_factory=set)
    members: dict[int, frozenset[int]] = field(default_factory=dict)
    """By quiet incident: the tests that the machine made fail."""
    number: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    report: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    ordinal: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    cause: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The index in `causes`; -1 if the attempt passed."""


def run(
    settings: Settings, plan: Plan, cast: Cast, rng: np.random.Generator, odd: np.random.Generator
) -> SimulatedRuns:
    """All reports in order of placement; `odd` draws the features of special worlds."""
    ran = _Machine(settings, plan, cast, rng, odd).run()
    return _by_clock(ran) if settings.clocks else ran


def _by_clock(ran: SimulatedRuns) -> SimulatedRuns:
    """The same, reordered by the hosts' wrong clocks."""
    at = sorted(range(len(ran.reports)), key=lambda place: (ran.reports[place].placed, place))
    new_index = np.empty(len(at), dtype=np.int64)
    new_index[at] = np.arange(len(at))
    rows = np.lexsort((np.arange(len(ran.report)), new_index[ran.report]))
    return replace(
        ran,
        reports=[ran.reports[place] for place in at],
        present=[ran.present[place] for place in at],
        incidents={int(new_index[place]) for place in ran.incidents},
        members={int(new_index[place]): hit for place, hit in ran.members.items()},
        number=ran.number[rows],
        report=new_index[ran.report[rows]],
        ordinal=ran.ordinal[rows],
        cause=ran.cause[rows],
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """A job of a build, which makes a report."""

    environment: int
    shard: int


class _Machine:
    def __init__(
        self, settings: Settings, plan: Plan, cast: Cast, rng: np.random.Generator, odd: np.random.Generator
    ) -> None:
        self._settings, self._plan, self._cast, self._rng, self._odd = settings, plan, cast, rng, odd
        self._flaking = FlakyTests(cast.parts, cast.breakages, len(settings.environments), rng)
        self._sequences = Sequences(cast.names, [part.flake for part in cast.parts], rng)
        found, self._cause_of = causes_of(settings, cast)
        self._machine_causes = len(found)
        found += [Cause(theme, quick=True) for theme in causes.INCIDENT]
        if settings.quiet_incidents:
            found += [Cause(theme, quick=True) for theme in causes.QUIET]
        self._ran = SimulatedRuns(cast, tuple(found))
        self._columns: list[tuple[Ints, Ints, Ints, Ints]] = []
        runs = sum(len(build.environments) for build in plan.builds) * settings.shards
        count = min(settings.incidents, runs)
        self._bad_luck = {int(at) for at in rng.choice(runs, size=count, replace=False)}
        able = np.setdiff1d(np.arange(runs), sorted(self._bad_luck))
        self._quiet = {int(at) for at in odd.choice(able, size=settings.quiet_incidents, replace=False)}
        self._runs = 0
        self._struck: dict[int, Flags] = {}

    def run(self) -> SimulatedRuns:
        for number, build in enumerate(self._plan.builds):
            self._build(number, build)
        ran = self._ran
        if self._columns:
            ran.number, ran.report, ran.ordinal, ran.cause = map(np.concatenate, zip(*self._columns, strict=True))
        ran.orders = self._sequences.orders
        return ran

    def _build(self, number: int, build: Build) -> None:
        """Run first attempts in all environments, then second attempts of failed runs that CI repeats."""
        shards = range(1, self._settings.shards + 1) if self._settings.shards > 1 else (0,)
        jobs = [_Job(environment, shard) for environment in build.environments for shard in shards]
        step = max(1, min(15, build.room // (4 * len(jobs))))
        again = []
        self._struck = {}
        for place, job in enumerate(jobs):
            failed = self._report(number, build, build.at + place * step, 1, job, self._runs)
            self._runs += 1
            if failed and self._rng.random() < self._settings.rerun_share:
                again.append((place, job))
        later = build.at + min(build.room // 2, int(self._rng.integers(600, 2_400)))
        self._struck = {}
        for place, job in again:
            self._report(number, build, later + place * step, 2, job, run=-1)

    def _report(self, number: int, build: Build, at: int, attempt: int, job: _Job, run: int) -> bool:
        """Run all tests of a job once; returns whether the run failed."""
        place, revision, environment = len(self._ran.reports), build.revision, job.environment
        present = self._present(revision, job.shard)
        order = self._sequences.of(self._shuffle(), present)
        order_stated = bool(self._rng.random() < self._settings.order_stated_share)
        host = environment * self._hosts + int(self._rng.integers(self._hosts))
        clock, placed = self._clock(at, host)
        self._ran.reports.append(
            SimulatedReport(
                *(
                    at,
                    number,
                    attempt,
                    revision,
                    build.commit,
                    build.pull_request,
                    environment,
                    host,
                    order,
                    order_stated,
                ),
                *(clock, placed, job.shard),
            )
        )
        self._ran.present.append(present)
        here, failing = np.isin(self._flaking.number, present), self._sequences.failing(order)
        attempts = self._flaking.run(revision, environment, at, here, failing, self._strike(job), self._retries)
        if run in self._bad_luck:
            return self._keep(place, attempts, *self._incident(place, present, environment))
        if run in self._quiet:
            return self._keep(place, attempts, *self._quiet_incident(place, present, environment))
        return self._keep(place, attempts, np.zeros(0, dtype=np.int64), -1)

    def _present(self, revision: int, shard: int) -> Ints:
        """Tests of the revision or shard: classes stay together and change their shard now and then."""
        there = (self._cast.born <= revision) & (revision < self._cast.gone)
        if shard:
            there &= (self._cast.names.group + revision // _AT_REVISION) % self._settings.shards == shard - 1
        return np.flatnonzero(there)

    def _strike(self, job: _Job) -> Flags:
        """A shared cause strikes in all shards of an environment at once, or in none."""
        if not job.shard or job.environment not in self._struck:
            self._struck[job.environment] = self._flaking.strike()
        return self._struck[job.environment]

    def _clock(self, at: int, host: int) -> tuple[int, int]:
        """The start by the host's clock, and the resulting placement."""
        clocks = self._settings.clocks
        if not clocks:
            return at, at
        off = at + int(clocks[host % len(clocks)] * 3600)
        started = datetime.fromtimestamp(off, UTC)
        received = datetime.fromtimestamp(at, UTC) + timedelta(seconds=SENT_AFTER)
        return off, int(placed_at(received_at=received, started_at=started).timestamp())

    @property
    def _retries(self) -> int:
        return RETRIES if self._settings.retries else 0

    @property
    def _hosts(self) -> int:
        return max(1, self._settings.hosts // len(self._settings.environments))

    def _shuffle(self) -> int:
        if self._rng.random() >= self._settings.shuffled_share:
            return USUAL
        return int(self._rng.integers(self._settings.orders or 1 << 60))

    def _incident(self, place: int, present: Ints, environment: int) -> tuple[Ints, int]:
        """The tests that the machine makes fail (a large share of those not skipped), and the cause."""
        self._ran.incidents.add(place)
        able = present[self._cast.skipped[present] != environment]
        hit = able[self._rng.random(len(able)) < self._rng.uniform(*self._settings.incident_share)]
        return np.asarray(hit), self._machine_causes + place % len(causes.INCIDENT)

    def _quiet_incident(self, place: int, present: Ints, environment: int) -> tuple[Ints, int]:
        """The same for a few tests; not every cause mentions the machine."""
        able = present[self._cast.skipped[present] != environment]
        size = int(self._odd.integers(_QUIET[0], _QUIET[1] + 1))
        hit = np.sort(self._odd.choice(able, size=size, replace=False))
        self._ran.incidents.add(place)
        self._ran.members[place] = frozenset(hit.tolist())
        return hit, self._machine_causes + int(self._odd.integers(len(causes.INCIDENT) + len(causes.QUIET)))

    def _keep(self, place: int, attempts: list[Flags], hit: Ints, cause_of_hit: int) -> bool:
        """Note every attempt of tests that failed; returns whether a test's last attempt failed."""
        own = ~np.isin(self._flaking.number, hit)
        tried, failed = own & attempts[0], False
        for ordinal, failing in enumerate(attempts):
            number = self._flaking.number[tried]
            cause = np.where(failing[tried], self._cause_of[tried], -1)
            self._note(place, ordinal, number, cause)
            if len(hit):
                self._note(place, ordinal, hit, np.full(len(hit), cause_of_hit))
            tried = tried & failing
            failed = bool(tried.any()) or len(hit) > 0
        return failed

    def _note(self, place: int, ordinal: int, number: Ints, cause: Ints) -> None:
        if len(number):
            size = len(number)
            self._columns.append((number, np.full(size, place), np.full(size, ordinal), cause))


# -- what is true ------------------------------------------------------------------------------------------------


def truth_of(ran: SimulatedRuns) -> Truth:
    """The truth by reports, from the cast's truth by revisions."""
    first_of: dict[int, int] = {}
    for place, report in enumerate(ran.reports):
        first_of.setdefault(report.revision, place)
    flakes = {part.flake.number: _dated(part.flake, first_of) for part in ran.cast.parts}
    regressions = tuple(_regression(breakage, ran.reports, first_of) for breakage in ran.cast.breakages)
    return Truth(flakes, regressions, frozenset(ran.incidents), ran.cast.renames, ran.members)


def _regression(breakage: Breakage, reports: list[SimulatedReport], first_of: dict[int, int]) -> Regression:
    if breakage.since_at == 0:
        first, fixed = first_of[breakage.revisions[0]], first_of.get(breakage.fixed, -1)
    else:
        first, fixed = (
            next((place for place, report in enumerate(reports) if ended(report)), -1)
            for ended in (
                lambda report: report.started >= breakage.since_at,
                lambda report: report.started >= breakage.until_at or report.revision >= breakage.fixed,
            )
        )
    return Regression(breakage.number, first, fixed, breakage.default_branch, breakage.environment)


def _dated(flake: Flake, first_of: dict[int, int]) -> Flake:
    until = first_of[flake.until] if flake.until != NEVER else -1
    return replace(flake, since=first_of[flake.since], until=until)
