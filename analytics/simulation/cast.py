"""The roles of tests in a simulated project: which are flaky, which break, which are added, removed or skipped.

No test has two roles, so that each of its failures has one true reason."""

from dataclasses import dataclass, replace

import numpy as np

from analytics.kernel.executions import Ints
from analytics.simulation.breakages import Breakage, make_breakages, make_odd_breakages
from analytics.simulation.builds import NEVER, Plan, between
from analytics.simulation.names import Names, Style, make_names
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Flake, Kind
from analytics.simulation.vacancies import Vacancies

TOGETHER = 0.95
"""The chance that a test fails when its shared cause strikes."""
_GROUP = 3
_HOURS = 4
_TIMEOUTS = (5.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True)
class Part:
    """The role of a flaky test: its truth, and what only the simulator needs."""

    flake: Flake
    """`since` and `until` are revisions here (`NEVER` for not at all)."""
    chance: float
    """Of failing after a pass, or that its shared cause strikes, where and when it can."""
    environment: int = -1
    """The only one in which it fails; -1 for all."""
    from_hour: int = -1
    """The first of the hours of the day in which it fails; -1 for all hours."""
    timeout: float = 0.0


@dataclass(frozen=True, slots=True)
class Cast:
    names: Names
    parts: tuple[Part, ...]
    breakages: tuple[Breakage, ...]
    born: Ints
    gone: Ints
    """By test number: the revisions that added and removed it (`NEVER` for none)."""
    skipped: Ints
    """By test number: the environment in which it is skipped; -1 for none."""
    renames: dict[int, int]


def make_cast(settings: Settings, plan: Plan, rng: np.random.Generator, odd: np.random.Generator) -> Cast:
    """Assign the roles; `odd` draws the features of special worlds."""
    style = Style.SUREFIRE if settings.retries and not settings.lost_attempts else Style.PYTEST
    renamed = np.sort(rng.choice(settings.tests, size=settings.renames, replace=False))
    joining = rng.integers(1 << 30, size=settings.new_tests)
    names = make_names(style, settings.tests, settings.suites, joining, renamed)
    free = Vacancies(names, settings.tests, renamed, rng)
    parts = _dated(settings, plan, _parts(settings, free, rng), rng)
    breakages = make_breakages(settings, plan, free, rng)
    born, gone = np.zeros(len(names.tests), dtype=np.int64), np.full(len(names.tests), NEVER)
    first_new = settings.tests + settings.new_tests
    for number in range(settings.tests, len(names.tests)):
        born[number] = between(plan, 0.15, 0.85, rng)
    gone[renamed] = born[first_new:]
    skipped = np.full(len(names.tests), -1, dtype=np.int64)
    skipped[free.take(settings.skipped_tests)] = rng.integers(len(settings.environments), size=settings.skipped_tests)
    breakages += make_odd_breakages(settings, plan, free, odd)
    renames = {int(old): first_new + at for at, old in enumerate(renamed)}
    return Cast(names, tuple(parts), tuple(breakages), born, gone, skipped, renames)


# -- flaky tests -------------------------------------------------------------------------------------------------


def _parts(settings: Settings, free: Vacancies, rng: np.random.Generator) -> list[Part]:
    makers = {
        Kind.INDEPENDENT: _independent,
        Kind.BURSTY: _bursty,
        Kind.VICTIM: _victim,
        Kind.BRITTLE: _brittle,
        Kind.TIME_OF_DAY: _time_of_day,
        Kind.ASYNC: _async,
        Kind.ENVIRONMENT: _of_environment,
    }
    parts = []
    for kind in Kind:
        if kind is Kind.CLUSTER:
            parts += _clusters(settings, free, rng)
        else:
            parts += [makers[kind](settings, free, rng) for _ in range(settings.flakes.get(kind, 0))]
    return parts


def _rate(settings: Settings, rng: np.random.Generator, most: float = 1.0) -> float:
    """Even on a log scale, to nine digits: processors differ in a logarithm's last one, and histories must not."""
    low, high = settings.lowest_rate, max(min(settings.highest_rate, most), settings.lowest_rate)
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.9g}")


def _independent(settings: Settings, free: Vacancies, rng: np.random.Generator) -> Part:
    rate = _rate(settings, rng)
    return Part(Flake(free.take(1)[0], Kind.INDEPENDENT, rate, rate), rate)


def _bursty(settings: Settings, free: Vacancies, rng: np.random.Generator) -> Part:
    """The rate f is drawn; the onset g follows from f = g / (1 - q + g)."""
    again = float(rng.uniform(0.3, 0.9))
    rate = _rate(settings, rng, again / 2)
    onset = rate * (1 - again) / (1 - rate)
    return Part(Flake(free.take(1)[0], Kind.BURSTY, onset, again), onset)


def _victim(settings: Settings, free: Vacancies, rng: np.random.Generator) -> Part:
    """It passes in the usual order, in which its polluter comes later. Every second victim has a cleaner."""
    cleaned = bool(rng.random() < 0.5)
    victim, polluter, *cleaner = free.take_of_one_class(3 if cleaned else 2)
    onset = settings.shuffled_share / (3 if cleaned else 2)
    return Part(Flake(victim, Kind.VICTIM, onset, 1.0, partners=(polluter,), cleaners=tuple(cleaner)), 1.0)


def _brittle(settings: Settings, free: Vacancies, rng: np.random.Generator) -> Part:
    setter, brittle = free.take_of_one_class(2)
    return Part(Flake(brittle, Kind.BRITTLE, settings.shuffled_share / 2, 1.0, partners=(setter,)), 1.0)


def _clusters(settings: Settings, free: Vacancies, rng: np.random.Generator) -> list[Part]:
    """A retry within the run meets the same cause; the next report may not."""
    numbers, parts = free.take(settings.flakes.get(Kind.CLUSTER, 0)), []
    for group, start in enumerate(range(0, len(numbers), _GROUP)):
        strikes = _rate(settings, rng)
        onset, again = TOGETHER * strikes, TOGETHER if settings.retries else TOGETHER * strikes
        members = numbers[start : start + _GROUP]
        parts += [Part(Flake(number, Kind.CLUSTER, onset, again, group=group), strikes) for number in members]
    return parts


def _time_of_day(settings: Settings, free: Vacancies, rng: np.random.Generator) -> Part:
    """Its rates apply in its hours; in the others it passes."""
    rate = float(rng.uniform(0.5, 0.9))
    return Part(Flake(free.take(1)[0], Kind.TIME_OF_DAY, rate, rate), rate, from_hour=int(rng.integers(7, 20 - _HOURS)))


def _async(settings: Settings, free: Vacancies, rng: np.random.Generator) -> Part:
    rate = _rate(settings, rng)
    return Part(Flake(free.take(1)[0], Kind.ASYNC, rate, rate), rate, timeout=float(rng.choice(_TIMEOUTS)))


def _of_environment(settings: Settings, free: Vacancies, rng: np.random.Generator) -> Part:
    """Its rates apply in its environment."""
    rate = _rate(settings, rng)
    where = int(rng.integers(len(settings.environments)))
    return Part(Flake(free.take(1)[0], Kind.ENVIRONMENT, rate, rate), rate, environment=where)


def can_fail_at(part: Part, hour: int) -> bool:
    return part.from_hour < 0 or part.from_hour <= hour < part.from_hour + _HOURS


def _dated(settings: Settings, plan: Plan, parts: list[Part], rng: np.random.Generator) -> list[Part]:
    """Some are fixed during the history, some become flaky; the others are flaky throughout."""
    chosen = rng.permutation(len(parts))[: settings.fixed_flakes + settings.new_flakes].tolist()
    since = {at: between(plan, 0.3, 0.6, rng) for at in chosen[settings.fixed_flakes :]}
    until = {at: between(plan, 0.4, 0.7, rng) for at in chosen[: settings.fixed_flakes]}
    return [
        replace(part, flake=replace(part.flake, since=since.get(at, 0), until=until.get(at, NEVER)))
        for at, part in enumerate(parts)
    ]
