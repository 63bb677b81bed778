"""The run of a simulated project: build after build, report after report, by time."""

from dataclasses import dataclass, field, replace

import numpy as np

from analytics.kernel.executions import Flags, Ints
from analytics.simulation import causes
from analytics.simulation.builds import Build, Plan
from analytics.simulation.casting import NEVER, Cast, Part
from analytics.simulation.causes import Cause
from analytics.simulation.flaking import Flaking
from analytics.simulation.sequences import USUAL, Sequences
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Flake, Kind, Regression, Truth

RETRIES = 2
_THEMES = {
    Kind.INDEPENDENT: causes.INDEPENDENT,
    Kind.BURSTY: causes.BURSTY,
    Kind.VICTIM: causes.VICTIM,
    Kind.BRITTLE: causes.BRITTLE,
    Kind.TIME_OF_DAY: causes.TIME_OF_DAY,
    Kind.ASYNC: causes.ASYNC,
    Kind.ENVIRONMENT: causes.ENVIRONMENT,
}


@dataclass(frozen=True, slots=True)
class SimulatedReport:
    """One report: what CI says of its run."""

    started: int
    build: int
    attempt: int
    revision: int
    commit: int
    pull_request: int
    environment: int
    host: int
    order: int
    told: bool


@dataclass(slots=True)
class Ran:
    """All that happened. The last four columns are attempts of tests that failed at first, by report and ordinal."""

    cast: Cast
    causes: tuple[Cause, ...]
    reports: list[SimulatedReport] = field(default_factory=list)
    present: list[Ints] = field(default_factory=list)
    """By report: its tests, ascending."""
    orders: list[Ints] = field(default_factory=list)
    incidents: set[int] = field(default_factory=set)
    number: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    report: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    ordinal: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    cause: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Which of `causes`; -1 where the attempt passed."""


def run(settings: Settings, plan: Plan, cast: Cast, rng: np.random.Generator) -> Ran:
    return _Machine(settings, plan, cast, rng).run()


class _Machine:
    def __init__(self, settings: Settings, plan: Plan, cast: Cast, rng: np.random.Generator) -> None:
        self._settings, self._plan, self._cast, self._rng = settings, plan, cast, rng
        self._flaking = Flaking(cast.parts, cast.breakages, len(settings.environments), rng)
        self._sequences = Sequences(cast.names, [part.flake for part in cast.parts], rng)
        found, self._cause_of = _causes(settings, cast)
        self._machine_causes = len(found) - len(causes.INCIDENT)
        self._ran = Ran(cast, tuple(found))
        self._columns: list[tuple[Ints, Ints, Ints, Ints]] = []
        runs = sum(len(build.environments) for build in plan.builds)
        count = min(settings.incidents, runs)
        self._bad_luck = {int(at) for at in rng.choice(runs, size=count, replace=False)}
        self._runs = 0

    def run(self) -> Ran:
        for number, build in enumerate(self._plan.builds):
            self._build(number, build)
        ran = self._ran
        if self._columns:
            ran.number, ran.report, ran.ordinal, ran.cause = map(np.concatenate, zip(*self._columns, strict=True))
        ran.orders = self._sequences.orders
        return ran

    def _build(self, number: int, build: Build) -> None:
        """First attempts in all environments, then second ones where CI runs again what failed."""
        step = max(1, min(15, build.room // (4 * len(build.environments))))
        again = []
        for place, environment in enumerate(build.environments):
            unlucky = self._runs in self._bad_luck
            self._runs += 1
            failed = self._report(number, build, build.at + place * step, 1, environment, unlucky)
            if failed and self._rng.random() < self._settings.rerun_share:
                again.append((place, environment))
        later = build.at + min(build.room // 2, int(self._rng.integers(600, 2_400)))
        for place, environment in again:
            self._report(number, build, later + place * step, 2, environment, unlucky=False)

    def _report(self, number: int, build: Build, at: int, attempt: int, environment: int, unlucky: bool) -> bool:
        """Run all tests once; True where the run failed."""
        place, revision = len(self._ran.reports), build.revision
        present = np.flatnonzero((self._cast.born <= revision) & (revision < self._cast.gone))
        order = self._sequences.of(self._shuffle(), present)
        told = bool(self._rng.random() < self._settings.told_share)
        host = environment * self._hosts + int(self._rng.integers(self._hosts))
        self._ran.reports.append(
            SimulatedReport(
                at, number, attempt, revision, build.commit, build.pull_request, environment, host, order, told
            )
        )
        self._ran.present.append(present)
        attempts = self._flaking.run(
            revision, environment, at // 3600 % 24, self._sequences.failing(order), self._retries
        )
        hit = self._incident(place, present, environment) if unlucky else np.zeros(0, dtype=np.int64)
        return self._keep(place, attempts, hit)

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

    def _incident(self, place: int, present: Ints, environment: int) -> Ints:
        """Tests that the machine makes fail: a large share of all that are not skipped."""
        self._ran.incidents.add(place)
        able = present[self._cast.skipped[present] != environment]
        return np.asarray(able[self._rng.random(len(able)) < self._rng.uniform(*self._settings.incident_share)])

    def _keep(self, place: int, attempts: list[Flags], hit: Ints) -> bool:
        """Note every attempt of what failed; True where a test failed to the end."""
        own = ~np.isin(self._flaking.number, hit)
        tried, failed = own & attempts[0], False
        for ordinal, failing in enumerate(attempts):
            number = self._flaking.number[tried]
            cause = np.where(failing[tried], self._cause_of[tried], -1)
            self._note(place, ordinal, number, cause)
            if len(hit):
                self._note(place, ordinal, hit, np.full(len(hit), self._machine_causes + place % len(causes.INCIDENT)))
            tried = tried & failing
            failed = bool(tried.any()) or len(hit) > 0
        return failed

    def _note(self, place: int, ordinal: int, number: Ints, cause: Ints) -> None:
        if len(number):
            size = len(number)
            self._columns.append((number, np.full(size, place), np.full(size, ordinal), cause))


# -- why --------------------------------------------------------------------------------------------------------


def _causes(settings: Settings, cast: Cast) -> tuple[list[Cause], Ints]:
    """All causes (those of incidents last), and which one each flaky and each broken test has."""
    found: list[Cause] = []
    own = [_cause(settings, at, part) for at, part in enumerate(cast.parts)]
    own += [Cause(causes.REGRESSION[0], one.number) for one in cast.breakages]
    for cause in own:
        if cause not in found:
            found.append(cause)
    place = np.array([found.index(cause) for cause in own], dtype=np.int64)
    return found + [Cause(theme, quick=True) for theme in causes.INCIDENT], place


def _cause(settings: Settings, at: int, part: Part) -> Cause:
    flake = part.flake
    if flake.kind is Kind.CLUSTER:
        service = causes.SERVICES[flake.group % len(causes.SERVICES)]
        return Cause(causes.CLUSTER[flake.group % len(causes.CLUSTER)], detail=service)
    themes = _THEMES[flake.kind]
    detail = settings.environments[part.environment] if part.environment >= 0 else f"{part.timeout:g}"
    return Cause(themes[at % len(themes)], flake.number, detail, part.timeout)


# -- what is true ------------------------------------------------------------------------------------------------


def truth_of(ran: Ran) -> Truth:
    """The truth by reports, of what the cast knows by revisions."""
    first_of: dict[int, int] = {}
    for place, report in enumerate(ran.reports):
        first_of.setdefault(report.revision, place)
    flakes = {part.flake.number: _dated(part.flake, first_of) for part in ran.cast.parts}
    regressions = tuple(
        Regression(
            one.number, first_of[one.revisions[0]], first_of.get(one.fixed, -1), one.default_branch, one.environment
        )
        for one in ran.cast.breakages
    )
    return Truth(flakes, regressions, frozenset(ran.incidents), ran.cast.renames)


def _dated(flake: Flake, first_of: dict[int, int]) -> Flake:
    until = first_of[flake.until] if flake.until != NEVER else -1
    return replace(flake, since=first_of[flake.since], until=until)
