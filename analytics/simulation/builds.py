"""The schedule of CI: commits, pull requests, merges and nightly builds, by time.

A revision's number is the index of its commit in the history. Each push to a pull request is rebased on the default
branch, so a revision includes all earlier ones of the default branch; a merge keeps the revision."""

from dataclasses import dataclass, replace

import numpy as np

from analytics.simulation.settings import Settings

NEVER = 1 << 40
"""A revision or time that never comes."""
_SLOT = 300
"""The least seconds between two commits: room for a build, its second attempt and a merge."""
_OPENS, _CLOSES = 7 * 3600, 20 * 3600
"""Working hours for commits, in seconds of the day (UTC)."""
_NIGHT = 2 * 3600
_FINISHED = 0.5
"""The chance that a push is the last of its pull request."""
_PUSH_AGAIN = 0.6
"""The chance that a push goes to a pull request that is open."""
_REPEATED = 1_200
"""Seconds between builds of the same commit in a rerun experiment."""


@dataclass(frozen=True, slots=True)
class Build:
    """One build of one revision, to be run in some environments."""

    at: int
    """Seconds since 1970."""
    room: int
    """Seconds until the next build."""
    revision: int
    commit: int
    """Differs from the revision's own commit if this is a merge of the same tree."""
    pull_request: int
    """0 for the default branch."""
    environments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The revisions pushed to one pull request."""

    pushes: tuple[int, ...]
    merged: bool


@dataclass(frozen=True, slots=True)
class Plan:
    builds: tuple[Build, ...]
    revisions: int
    commits: int
    default: tuple[int, ...]
    """Revisions committed directly to the default branch, in order."""
    pull_requests: tuple[PullRequest, ...]

    @property
    def first_built(self) -> dict[int, int]:
        """By revision: when it was built first."""
        return {build.revision: build.at for build in reversed(self.builds)}


class _Branches:
    """Assigns commits to branches, and decides when pull requests are merged."""

    def __init__(self, settings: Settings, rng: np.random.Generator) -> None:
        self._settings, self._rng = settings, rng
        self._open: list[int] = []
        self.pushes: list[list[int]] = []
        self.merged: set[int] = set()
        self.default: list[int] = []

    def commit(self, revision: int) -> int:
        """The pull request that a new commit is pushed to; 0 for the default branch."""
        if not self.default or self._rng.random() >= self._settings.pull_request_share:
            self.default.append(revision)
            return 0
        if self._open and self._rng.random() < _PUSH_AGAIN:
            number = self._open[int(self._rng.integers(len(self._open)))]
        else:
            self.pushes.append([])
            number = len(self.pushes)
            self._open.append(number)
        self.pushes[number - 1].append(revision)
        return number

    def merges(self, number: int) -> bool:
        """Whether the pull request is merged now."""
        if self._rng.random() >= _FINISHED:
            return False
        self._open.remove(number)
        if self._rng.random() < self._settings.merge_share:
            self.merged.add(number)
        return number in self.merged


def make_plan(settings: Settings, rng: np.random.Generator) -> Plan:
    """All builds of a history except second attempts of failed ones."""
    if settings.repeats:
        return _one_commit(settings)
    branches = _Branches(settings, rng)
    times, nightly = _times(settings, rng)
    builds: list[Build] = []
    revision = commits = -1
    head = (0, 0)
    for place, (at, night) in enumerate(zip(times, nightly, strict=True)):
        until = times[place + 1] if place + 1 < len(times) else at + 6 * 3600
        if night:
            builds.append(Build(at, 0, *head, 0, ()))
            continue
        revision, commits = revision + 1, commits + 1
        number = branches.commit(revision)
        builds.append(Build(at, 0, revision, commits, number, ()))
        if number and branches.merges(number):
            commits += 1
            builds.append(Build(at + min((until - at) // 2, 7200), 0, revision, commits, 0, ()))
        if builds[-1].pull_request == 0:
            head = (revision, commits)
    requests = (PullRequest(tuple(pushes), at + 1 in branches.merged) for at, pushes in enumerate(branches.pushes))
    return Plan(_complete(settings, builds), revision + 1, commits + 1, tuple(branches.default), tuple(requests))


def _times(settings: Settings, rng: np.random.Generator) -> tuple[list[int], list[bool]]:
    """The times of commits and nightly builds in order; the first is a commit."""
    slots = (_CLOSES - _OPENS) // _SLOT
    midnight = int(settings.start.timestamp())
    found: list[tuple[int, bool]] = []
    for day in range(settings.days):
        count = min(max(int(rng.poisson(settings.commits_a_day)), 1 if day == 0 else 0), slots - 6)
        chosen = np.sort(rng.choice(slots, size=count, replace=False))
        start = midnight + day * 86_400
        if settings.nightly and day:
            found.append((start + _NIGHT, True))
        found += [(start + _OPENS + int(slot) * _SLOT + int(rng.integers(60)), False) for slot in chosen]
    return [at for at, _ in found], [night for _, night in found]


def _complete(settings: Settings, builds: list[Build]) -> tuple[Build, ...]:
    """Each build with its environments and the time available."""
    others = range(1, len(settings.environments))
    more = min(settings.environments_a_build - 1, len(others))
    done = []
    for place, build in enumerate(builds):
        chosen = (others[(place * more + turn) % len(others)] for turn in range(more))
        room = builds[place + 1].at - build.at if place + 1 < len(builds) else 3600
        done.append(replace(build, room=room, environments=(0, *sorted(chosen))))
    return tuple(done)


def _one_commit(settings: Settings) -> Plan:
    """One commit, built again and again: a rerun experiment."""
    start = int(settings.start.timestamp())
    builds = [Build(start + place * _REPEATED, 0, 0, 0, 0, ()) for place in range(settings.repeats)]
    return Plan(_complete(settings, builds), 1, 1, (0,), ())


def between(plan: Plan, low: float, high: float, rng: np.random.Generator) -> int:
    """A revision of the default branch in that part of the history."""
    commits = plan.default
    if len(commits) < 3:
        raise ValueError("too few commits for anything to change: ask for more days or commits a day")
    return commits[max(1, min(int(rng.uniform(low, high) * len(commits)), len(commits) - 1))]
