"""Real breakages: by a commit, by a pull request, from the start, or by something outside the repository."""

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np

from analytics.simulation.builds import NEVER, Plan, PullRequest, between
from analytics.simulation.settings import Settings
from analytics.simulation.vacancies import Vacancies

_DAY = 86_400
_GROUP = 4
"""The most tests that a dependency or a service breaks."""


class Reason(StrEnum):
    COMMIT = "commit"
    IMPORT = "import"
    """One of the project's own modules cannot be imported."""
    DEPENDENCY = "dependency"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Breakage:
    """A regression by revisions, and by time if no commit caused it."""

    number: int
    revisions: range | tuple[int, ...]
    fixed: int
    """The revision that fixed it; `NEVER` for none."""
    default_branch: bool
    environment: int = -1
    """The only environment in which it is broken; -1 for all."""
    reason: Reason = Reason.COMMIT
    group: int = -1
    """Tests of one group broke for the same reason; -1 for none."""
    since_at: int = 0
    until_at: int = NEVER
    """Seconds since 1970: since when and until when its dependency is broken."""

    def fails(self, revision: int, environment: int, at: int) -> bool:
        here = revision in self.revisions and self.environment in (-1, environment)
        return here and self.since_at <= at < self.until_at


def make_breakages(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    """Plain regressions on the default branch and on pull requests."""
    return _on_default_branch(settings, plan, free, rng) + _on_pull_requests(settings, plan, free, rng)


def make_odd_breakages(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    """The breakages that only some worlds have."""
    found = [_broken(number, 0, NEVER, plan) for number in free.take(settings.standing)]
    found += _imports(settings, plan, free, rng)
    found += _dependencies(settings, plan, free, rng)
    return found + _services(settings, plan, free, rng)


def _on_default_branch(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    found = []
    for number in free.take(settings.regressions):
        first, fixed = _stretch(plan, 0.1, 0.85, 6, rng)
        found.append(_broken(number, first, fixed, plan))
    late = free.take(settings.broken_at_end)
    found += [_broken(number, between(plan, 0.92, 0.97, rng), NEVER, plan) for number in late]
    return found + _on_one_platform(settings, plan, free, rng)


def _stretch(plan: Plan, low: float, high: float, most: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two commits of the default branch, fewer than `most` commits apart: the bad one and the fix."""
    start = plan.default.index(between(plan, low, high, rng))
    end = min(start + int(rng.integers(1, most)), len(plan.default) - 1)
    return plan.default[min(start, end - 1)], plan.default[end]


def _on_one_platform(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    """Broken for longer: an environment that not every build runs in is not checked every day."""
    found = []
    for number in free.take(settings.platform_regressions):
        start = plan.default.index(between(plan, 0.1, 0.6, rng))
        end = min(start + int(rng.integers(8, 30)), len(plan.default) - 1)
        where = int(rng.integers(len(settings.environments)))
        found.append(replace(_broken(number, plan.default[start], plan.default[end], plan), environment=where))
    return found


def _broken(number: int, first: int, fixed: int, plan: Plan) -> Breakage:
    return Breakage(number, range(first, min(fixed, plan.revisions)), fixed, default_branch=True)


def _on_pull_requests(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    """Broken by the first push and fixed by the last; never fixed if there is only one and it is not merged."""
    able = [
        pull_request for pull_request in plan.pull_requests if len(pull_request.pushes) > 1 or not pull_request.merged
    ]
    if settings.pull_request_regressions > len(able):
        raise ValueError(f"only {len(able)} pull requests can break a test: ask for more days or pull requests")
    chosen = rng.choice(len(able), size=settings.pull_request_regressions, replace=False)
    numbers = free.take(settings.pull_request_regressions)
    return [_broken_on(number, able[at]) for number, at in zip(numbers, chosen, strict=True)]


def _broken_on(number: int, request: PullRequest) -> Breakage:
    if len(request.pushes) == 1:
        return Breakage(number, request.pushes, NEVER, default_branch=False)
    return Breakage(number, request.pushes[:-1], request.pushes[-1], default_branch=False)


def _imports(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    """A commit renames a module, and its imports follow a few commits later; likewise on pull requests."""
    found = []
    for group, size in enumerate(settings.import_errors):
        first, fixed = _stretch(plan, 0.1, 0.85, 6, rng)
        broken = [_broken(number, first, fixed, plan) for number in free.take(size)]
        found += [replace(breakage, reason=Reason.IMPORT, group=group) for breakage in broken]
    able = [pull_request for pull_request in plan.pull_requests if len(pull_request.pushes) > 1]
    for at, size in enumerate(settings.pull_request_import_errors):
        request, group = able[int(rng.integers(len(able)))], len(settings.import_errors) + at
        broken = [_broken_on(number, request) for number in free.take(size)]
        found += [replace(breakage, reason=Reason.IMPORT, group=group) for breakage in broken]
    return found


def _dependencies(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    """A third-party release breaks tests under an unchanged commit, until a commit pins it. The last one comes shortly
    before the end and is not pinned yet."""
    found = []
    for group in range(settings.dependency_changes):
        late = group == settings.dependency_changes - 1
        at = _rebuilt(plan, *((0.93, 0.97) if late else (0.2, 0.7)), rng)
        later = [revision for revision in plan.default if plan.first_built[revision] > at]
        fixed = NEVER if late else later[min(int(rng.integers(2, 9)), len(later) - 1)]
        for number in free.take(int(rng.integers(1, _GROUP + 1))):
            broken = _broken(number, 0, fixed, plan)
            found.append(replace(broken, reason=Reason.DEPENDENCY, group=group, since_at=at))
    return found


def _services(settings: Settings, plan: Plan, free: Vacancies, rng: np.random.Generator) -> list[Breakage]:
    """A service that tests call changes, and changes back one to four days later, without any commit."""
    found = []
    for group in range(settings.service_changes):
        at = _rebuilt(plan, 0.2, 0.8, rng)
        until = at + int(rng.integers(1, 5)) * _DAY
        for number in free.take(int(rng.integers(1, _GROUP + 1))):
            broken = _broken(number, 0, NEVER, plan)
            found.append(replace(broken, reason=Reason.SERVICE, group=group, since_at=at, until_at=until))
    return found


def _rebuilt(plan: Plan, low: float, high: float, rng: np.random.Generator) -> int:
    """A time in that part of the history, shortly before the default branch is built again unchanged."""
    builds = [build for build in plan.builds if build.pull_request == 0]
    again = [after.at - 1 for before, after in pairwise(builds) if after.commit == before.commit]
    if not again:
        raise ValueError("no commit is built twice: ask for nightly builds")
    first, last = plan.builds[0].at, plan.builds[-1].at
    wanted = first + rng.uniform(low, high) * (last - first)
    return min(again, key=lambda at: abs(at - wanted))
