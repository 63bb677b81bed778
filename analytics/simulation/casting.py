"""Who is what in a simulated project: which tests are flaky, which break, which come, go or are skipped.

No test has two parts, so that each of its failures has one true reason."""

from dataclasses import dataclass, replace

import numpy as np

from analytics.kernel.executions import Ints
from analytics.simulation.builds import Plan, PullRequest
from analytics.simulation.names import Names, Style, make_names
from analytics.simulation.settings import Settings
from analytics.simulation.truth import Flake, Kind

NEVER = 1 << 40
"""A revision that does not come."""
TOGETHER = 0.95
"""The chance that a test fails when the cause that it shares with others strikes."""
_GROUP = 3
_HOURS = 4
_TIMEOUTS = (5.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True)
class Part:
    """A flaky test in its part: what is true of it, and what only the simulator needs to know."""

    flake: Flake
    """`since` and `until` are revisions here (`NEVER` for not at all)."""
    chance: float
    """Of failing after a pass, or of its shared cause to strike, where and when it can."""
    environment: int = -1
    """The only one in which it fails; -1 for all."""
    from_hour: int = -1
    """The first of the hours of the day in which it fails; -1 for all hours."""
    timeout: float = 0.0


@dataclass(frozen=True, slots=True)
class Breakage:
    """A regression by revisions."""

    number: int
    revisions: tuple[int, ...]
    fixed: int
    """The revision that fixed it; `NEVER` for none."""
    default_branch: bool
    environment: int = -1
    """Where alone it is broken; -1 everywhere."""


@dataclass(frozen=True, slots=True)
class Cast:
    names: Names
    parts: tuple[Part, ...]
    breakages: tuple[Breakage, ...]
    born: Ints
    gone: Ints
    """By test number: the revision that brought it, and the one that took it away (`NEVER` for none)."""
    skipped: Ints
    """By test number: the environment in which it is skipped; -1 for none."""
    renames: dict[int, int]


def make_cast(settings: Settings, plan: Plan, rng: np.random.Generator) -> Cast:
    style = Style.SUREFIRE if settings.retries else Style.PYTEST
    renamed = np.sort(rng.choice(settings.tests, size=settings.renames, replace=False))
    joining = rng.integers(1 << 30, size=settings.new_tests)
    names = make_names(style, settings.tests, settings.suites, joining, renamed)
    free = _Free(names, settings.tests, renamed, rng)
    parts = _dated(settings, plan, _parts(settings, free, rng), rng)
    breakages = _on_default_branch(settings, plan, free, rng) + _on_pull_requests(settings, plan, free, rng)
    born, gone = np.zeros(len(names.tests), dtype=np.int64), np.full(len(names.tests), NEVER)
    first_new = settings.tests + settings.new_tests
    for number in range(settings.tests, len(names.tests)):
        born[number] = _between(plan, 0.15, 0.85, rng)
    gone[renamed] = born[first_new:]
    skipped = np.full(len(names.tests), -1, dtype=np.int64)
    skipped[free.take(settings.skipped_tests)] = rng.integers(len(settings.environments), size=settings.skipped_tests)
    renames = {int(old): first_new + at for at, old in enumerate(renamed)}
    return Cast(names, tuple(parts), tuple(breakages), born, gone, skipped, renames)


class _Free:
    """Tests that have no part yet, in random order."""

    def __init__(self, names: Names, tests: int, renamed: Ints, rng: np.random.Generator) -> None:
        self._names = names
        self._numbers = [int(number) for number in rng.permutation(np.setdiff1d(np.arange(tests), renamed))]

    def take(self, count: int) -> list[int]:
        if count > len(self._numbers):
            raise ValueError(f"{count} more parts than tests that are free: ask for more tests")
        return [self._numbers.pop() for _ in range(count)]

    def take_of_one_class(self, count: int) -> list[int]:
        """Tests of one class in the order in which they usually run."""
        by_class: dict[int, list[int]] = {}
        for number in reversed(self._numbers):
            mates = by_class.setdefault(int(self._names.group[number]), [])
            mates.append(number)
            if len(mates) == count:
                self._numbers = [one for one in self._numbers if one not in mates]
                return sorted(mates)
        raise ValueError(f"no class has {count} tests that are free: ask for more tests or fewer suites")


# -- flaky tests -------------------------------------------------------------------------------------------------


def _parts(settings: Settings, free: _Free, rng: np.random.Generator) -> list[Part]:
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
    low, high = settings.lowest_rate, max(min(settings.highest_rate, most), settings.lowest_rate)
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _independent(settings: Settings, free: _Free, rng: np.random.Generator) -> Part:
    rate = _rate(settings, rng)
    return Part(Flake(free.take(1)[0], Kind.INDEPENDENT, rate, rate), rate)


def _bursty(settings: Settings, free: _Free, rng: np.random.Generator) -> Part:
    """The rate f is drawn; the onset g follows from f = g / (1 - q + g)."""
    again = float(rng.uniform(0.3, 0.9))
    rate = _rate(settings, rng, again / 2)
    onset = rate * (1 - again) / (1 - rate)
    return Part(Flake(free.take(1)[0], Kind.BURSTY, onset, again), onset)


def _victim(settings: Settings, free: _Free, rng: np.random.Generator) -> Part:
    """It passes in the usual order: its polluter comes later there. Every other one has a cleaner."""
    cleaned = bool(rng.random() < 0.5)
    victim, polluter, *cleaner = free.take_of_one_class(3 if cleaned else 2)
    onset = settings.shuffled_share / (3 if cleaned else 2)
    return Part(Flake(victim, Kind.VICTIM, onset, 1.0, partners=(polluter,), cleaners=tuple(cleaner)), 1.0)


def _brittle(settings: Settings, free: _Free, rng: np.random.Generator) -> Part:
    setter, brittle = free.take_of_one_class(2)
    return Part(Flake(brittle, Kind.BRITTLE, settings.shuffled_share / 2, 1.0, partners=(setter,)), 1.0)


def _clusters(settings: Settings, free: _Free, rng: np.random.Generator) -> list[Part]:
    """A retry within the run meets the same cause; the next report may not."""
    numbers, parts = free.take(settings.flakes.get(Kind.CLUSTER, 0)), []
    for group, start in enumerate(range(0, len(numbers), _GROUP)):
        strikes = _rate(settings, rng)
        onset, again = TOGETHER * strikes, TOGETHER if settings.retries else TOGETHER * strikes
        members = numbers[start : start + _GROUP]
        parts += [Part(Flake(number, Kind.CLUSTER, onset, again, group=group), strikes) for number in members]
    return parts


def _time_of_day(settings: Settings, free: _Free, rng: np.random.Generator) -> Part:
    """Its rates hold in its hours; in the others it passes."""
    rate = float(rng.uniform(0.5, 0.9))
    return Part(Flake(free.take(1)[0], Kind.TIME_OF_DAY, rate, rate), rate, from_hour=int(rng.integers(7, 20 - _HOURS)))


def _async(settings: Settings, free: _Free, rng: np.random.Generator) -> Part:
    rate = _rate(settings, rng)
    return Part(Flake(free.take(1)[0], Kind.ASYNC, rate, rate), rate, timeout=float(rng.choice(_TIMEOUTS)))


def _of_environment(settings: Settings, free: _Free, rng: np.random.Generator) -> Part:
    """Its rates hold in its environment."""
    rate = _rate(settings, rng)
    where = int(rng.integers(len(settings.environments)))
    return Part(Flake(free.take(1)[0], Kind.ENVIRONMENT, rate, rate), rate, environment=where)


def can_fail_at(part: Part, hour: int) -> bool:
    return part.from_hour < 0 or part.from_hour <= hour < part.from_hour + _HOURS


def _dated(settings: Settings, plan: Plan, parts: list[Part], rng: np.random.Generator) -> list[Part]:
    """Some were fixed during the time, some turned flaky; the others always were and still are."""
    chosen = rng.permutation(len(parts))[: settings.fixed_flakes + settings.new_flakes].tolist()
    since = {at: _between(plan, 0.3, 0.6, rng) for at in chosen[settings.fixed_flakes :]}
    until = {at: _between(plan, 0.4, 0.7, rng) for at in chosen[: settings.fixed_flakes]}
    return [
        replace(part, flake=replace(part.flake, since=since.get(at, 0), until=until.get(at, NEVER)))
        for at, part in enumerate(parts)
    ]


# -- changes -----------------------------------------------------------------------------------------------------


def _between(plan: Plan, low: float, high: float, rng: np.random.Generator) -> int:
    """A revision of the default branch in that stretch of the time."""
    commits = plan.default
    if len(commits) < 3:
        raise ValueError("too few commits for anything to change: ask for more days or commits a day")
    return commits[max(1, min(int(rng.uniform(low, high) * len(commits)), len(commits) - 1))]


def _on_default_branch(settings: Settings, plan: Plan, free: _Free, rng: np.random.Generator) -> list[Breakage]:
    found = []
    for number in free.take(settings.regressions):
        start = plan.default.index(_between(plan, 0.1, 0.85, rng))
        end = min(start + int(rng.integers(1, 6)), len(plan.default) - 1)
        start = min(start, end - 1)
        found.append(_broken(number, plan.default[start], plan.default[end], plan))
    late = free.take(settings.broken_at_end)
    found += [_broken(number, _between(plan, 0.92, 0.97, rng), NEVER, plan) for number in late]
    return found + _on_one_platform(settings, plan, free, rng)


def _on_one_platform(settings: Settings, plan: Plan, free: _Free, rng: np.random.Generator) -> list[Breakage]:
    """Broken for a good while: an environment that not every build runs in is not looked at every day."""
    found = []
    for number in free.take(settings.platform_regressions):
        start = plan.default.index(_between(plan, 0.1, 0.6, rng))
        end = min(start + int(rng.integers(8, 30)), len(plan.default) - 1)
        where = int(rng.integers(len(settings.environments)))
        found.append(replace(_broken(number, plan.default[start], plan.default[end], plan), environment=where))
    return found


def _broken(number: int, first: int, fixed: int, plan: Plan) -> Breakage:
    return Breakage(number, tuple(range(first, min(fixed, plan.revisions))), fixed, default_branch=True)


def _on_pull_requests(settings: Settings, plan: Plan, free: _Free, rng: np.random.Generator) -> list[Breakage]:
    """Broken by the first push; fixed by the last, or never where there is but one and it is not merged."""
    able = [one for one in plan.pull_requests if len(one.pushes) > 1 or not one.merged]
    if settings.pull_request_regressions > len(able):
        raise ValueError(f"only {len(able)} pull requests can break a test: ask for more days or pull requests")
    chosen = rng.choice(len(able), size=settings.pull_request_regressions, replace=False)
    numbers = free.take(settings.pull_request_regressions)
    return [_broken_on(number, able[at]) for number, at in zip(numbers, chosen, strict=True)]


def _broken_on(number: int, request: PullRequest) -> Breakage:
    if len(request.pushes) == 1:
        return Breakage(number, request.pushes, NEVER, default_branch=False)
    return Breakage(number, request.pushes[:-1], request.pushes[-1], default_branch=False)
