"""What a policy would have done: its plans at past moments, each on what was known then, carried from one to the next.

Pure. A proposal counts as approved at once: that is what the policy asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from analytics.kernel.analysis import Analysis
from analytics.kernel.priority import last_failures
from analytics.kernel.runs import RunEnd
from dashboard.quarantine.policy.plan import Candidate, Moment, NewestQuarantine, Plan, plan
from dashboard.quarantine.policy.settings import PolicySettings
from dashboard.quarantine.states import LIVE, Action, State, after


@dataclass(frozen=True, slots=True)
class _Quarantine:
    id: int
    state: State
    numbers: tuple[int, ...]
    needed: int | None
    activated_at: datetime
    executed: Mapping[int, int]
    """By test: executions when it began to hold."""
    ended_at: datetime | None = None
    by_people: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """From a moment on, until the next one: which tests are quarantined."""

    since: datetime
    numbers: frozenset[int]


@dataclass(slots=True)
class Simulation:
    """A policy's quarantines as they would be."""

    settings: PolicySettings
    spans: list[Span] = field(default_factory=list)
    plans: list[tuple[datetime, Plan]] = field(default_factory=list)
    _held: list[_Quarantine] = field(default_factory=list)

    @property
    def numbers(self) -> frozenset[int]:
        """Numbers of all tests that were ever quarantined."""
        return frozenset(number for quarantine in self._held for number in quarantine.numbers)

    def step(self, moment: Moment, candidates: Sequence[Candidate]) -> Plan:
        """Apply the policy once."""
        known = {candidate.number: candidate for candidate in candidates}
        self._held = [self._expired(quarantine, moment.now) for quarantine in self._held]
        policy_plan = plan(
            self.settings, moment, candidates, [self._as_held(quarantine, known) for quarantine in self._newest()]
        )
        for step in policy_plan.steps:
            if step.quarantine is None:
                self._begin(step.numbers, step.needed, moment.now, known)
            else:
                self._held[step.quarantine] = self._changed(self._held[step.quarantine], step.action, moment, known)
        active = (quarantine for quarantine in self._held if quarantine.state is State.ACTIVE)
        self.spans.append(Span(moment.now, frozenset(number for quarantine in active for number in quarantine.numbers)))
        self.plans.append((moment.now, policy_plan))
        return policy_plan

    def _newest(self) -> list[_Quarantine]:
        by_test = {number: quarantine for quarantine in self._held for number in quarantine.numbers}
        ids = {quarantine.id for quarantine in by_test.values()}
        return [quarantine for quarantine in self._held if quarantine.id in ids]

    def _begin(
        self, numbers: tuple[int, ...], needed: int | None, now: datetime, known: Mapping[int, Candidate]
    ) -> None:
        self._held.append(_Quarantine(len(self._held), State.ACTIVE, numbers, needed, now, _executed(numbers, known)))

    def _changed(
        self, quarantine: _Quarantine, action: Action, moment: Moment, known: Mapping[int, Candidate]
    ) -> _Quarantine:
        state = after(action, quarantine.state)
        if state in LIVE:
            executed = _executed(quarantine.numbers, known)
            return replace(quarantine, state=state, activated_at=moment.now, executed=executed, ended_at=None)
        return replace(quarantine, state=state, ended_at=moment.now)

    def _expired(self, quarantine: _Quarantine, now: datetime) -> _Quarantine:
        ends = quarantine.activated_at + timedelta(days=self.settings.days)
        if quarantine.state is not State.ACTIVE or ends > now:
            return quarantine
        return replace(quarantine, state=State.EXPIRED, ended_at=ends, by_people=True)

    def _as_held(self, quarantine: _Quarantine, known: Mapping[int, Candidate]) -> NewestQuarantine:
        clean = min((_clean(number, quarantine, known) for number in quarantine.numbers), default=0)
        enough = quarantine.needed is not None and clean >= quarantine.needed
        return NewestQuarantine(
            quarantine.id, quarantine.state, quarantine.numbers, True, enough, quarantine.ended_at, quarantine.by_people
        )


def _executed(numbers: tuple[int, ...], known: Mapping[int, Candidate]) -> dict[int, int]:
    return {number: known[number].executed if number in known else 0 for number in numbers}


def _clean(number: int, quarantine: _Quarantine, known: Mapping[int, Candidate]) -> int:
    """Clean executions since it holds, by the counts of the analyses then and now."""
    test = known.get(number)
    return 0 if test is None else max(min(test.clean, test.executed - quarantine.executed.get(number, 0)), 0)


# -- what that would have meant ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FailedRuns:
    """Runs that failed while the policy would have been at work."""

    flaky: int = 0
    """By flaky tests alone."""
    flaky_passed: int = 0
    """Those of them whose failing tests were all quarantined then."""
    others: int = 0
    """By a test that is not flaky, or something besides tests."""
    others_passed: int = 0
    """Those of them that would have passed all the same: regressions that were masked."""


def meant(found: Analysis, spans: Sequence[Span]) -> FailedRuns:
    """Judge each failed run after the first span by what was quarantined when it started."""
    if not spans:
        return FailedRuns()
    ended = last_failures(found.window.executions, found.window.reports.run)
    place, run = ended.test, ended.run
    failing: dict[int, set[int]] = {}
    for test, where in zip(found.window.failing[place].tolist(), run.tolist(), strict=True):
        failing.setdefault(where, set()).add(test)
    since = np.array([span.since.timestamp() for span in spans])
    flaky = [0, 0]
    others = [0, 0]
    for where, tests in failing.items():
        at = int(np.searchsorted(since, found.runs.started[where], side="left")) - 1
        end = found.runs.end[where]
        if at < 0 or end == RunEnd.INCIDENT:
            continue
        count = flaky if end == RunEnd.FLAKY else others
        count[0] += 1
        count[1] += tests <= spans[at].numbers and not found.runs.excused[where]
    return FailedRuns(*flaky, *others)
