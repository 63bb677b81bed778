"""What a policy does with an analysis: tests and quarantines in, steps with their reasons out. Pure.

It never quarantines what is broken, suspect or the machines' fault, never while an incident is on, and never more than
its cap: past that it says so instead."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from analytics.kernel.flakiness import State as Concluded
from analytics.wording import percent
from dashboard.quarantine.policy.settings import Group, PolicyMode, PolicySettings
from dashboard.quarantine.states import LIVE, Action, State


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an analysis says of one test."""

    number: int
    state: Concluded
    evidence: int = 0
    """Contradictions and recoveries."""
    failed: int = 0
    executed: int = 0
    low: float = 0.0
    """The lower bound of its failure rate."""
    default_failures: int = 0
    blocked: int = 0
    """Runs that it, or its cluster, blocked."""
    cost: float = 0.0
    """The lower end of what it costs: who is first under the cap."""
    clean: int = 0
    """Executions since its last failure."""
    flaky_since: datetime | None = None
    last_flaked: datetime | None = None
    """The last failure that is part of a contradiction or recovery."""
    needed: int | None = None
    """Clean runs that would confirm a fix."""
    together: int | None = None
    """The cluster of tests that fail together with it; null for none."""
    signature: int | None = None
    """The cluster of tests that share a signature with it; null for none."""


MOST_TOGETHER = 50
"""A cluster of more tests is no one decision that a person can judge: each of its tests is one."""


@dataclass(frozen=True, slots=True)
class NewestQuarantine:
    """The newest quarantine of some tests."""

    id: int
    state: State
    numbers: tuple[int, ...]
    by_policy: bool = False
    """A policy made it: a policy may take it back."""
    enough: bool = False
    """Clean for as many runs as it takes to leave."""
    ended_at: datetime | None = None
    by_people: bool = True
    """Somebody, or the clock, ended it, and not a policy."""


@dataclass(frozen=True, slots=True)
class Moment:
    now: datetime
    suite: int
    """Tests of the suite."""
    incident: bool = False
    """The newest runs are part of an incident: nothing that fails now is told of the tests."""
    among: frozenset[int] | None = None
    """Numbers of the tests that the policy's query names; None for all."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the policy does."""

    action: Action
    numbers: tuple[int, ...]
    reason: str
    quarantine: int | None = None
    """The quarantine that it changes; None where it makes one."""
    needed: int | None = None
    cluster: int | None = None
    """The cluster whose tests it quarantines as one; None for one test."""


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[Step, ...]
    cap: int
    over: tuple[int, ...] = ()
    """Tests that would be quarantined if the cap did not stand against it: somebody should hear of that."""
    paused: bool = False
    """An incident is on: nothing new."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Why flaky tests are not proposed, and how many each."""

    @property
    def left_out_sentence(self) -> str:
        """Why so many flaky tests are left alone: the first condition that each does not meet."""
        if not self.left_out:
            return ""
        reasons = ", ".join(f"{count:,} ({reason})" for reason, count in self.left_out)
        return f"Flaky tests that it leaves alone: {reasons}."


def cap_of(settings: PolicySettings, suite: int) -> int:
    """At most this many tests may be proposed or quarantined at once."""
    return min(settings.most_tests, max(int(settings.most_share * suite), 1))


def plan(
    settings: PolicySettings, moment: Moment, candidates: Sequence[Candidate], held: Sequence[NewestQuarantine]
) -> Plan:
    """All steps of a policy at one moment, given the newest quarantine of each test that ever had one."""
    cap = cap_of(settings, moment.suite)
    if settings.mode is PolicyMode.OFF:
        return Plan((), cap)
    known = {candidate.number: candidate for candidate in candidates}
    leaving = [step for quarantine in held if (step := _leave(settings, quarantine, known)) is not None]
    if moment.incident:
        return Plan(tuple(leaving), cap, paused=True)
    left = {step.quarantine for step in leaving}
    used = sum(len(quarantine.numbers) for quarantine in held if quarantine.state in LIVE and quarantine.id not in left)
    wanted = [*_reopened(settings, held, known), *_new(settings, moment, candidates, held)]
    taken, over = _under_cap(wanted, cap - used)
    return Plan((*leaving, *taken), cap, over, left_out=_left_out(settings, moment, candidates, held))


def _under_cap(wanted: Sequence[Step], room: int) -> tuple[list[Step], tuple[int, ...]]:
    """The first that there is room for, and the tests of the others."""
    taken: list[Step] = []
    over: list[int] = []
    for step in wanted:
        if len(step.numbers) <= room:
            taken.append(step)
            room -= len(step.numbers)
        else:
            over.extend(step.numbers)
    return taken, tuple(over)


# -- what leaves -------------------------------------------------------------------------------------------------


def _leave(settings: PolicySettings, held: NewestQuarantine, known: Mapping[int, Candidate]) -> Step | None:
    """Release what is clean; take back what the policy said of a test that turned out to be something else."""
    states = {known[number].state for number in held.numbers if number in known}
    if held.state is State.PROPOSED and held.by_policy and Concluded.FLAKY not in states:
        return Step(Action.REJECT, held.numbers, "It is no longer flaky.", held.id)
    if held.state is not State.ACTIVE:
        return None
    if held.by_policy and Concluded.BROKEN in states:
        return Step(Action.RELEASE, held.numbers, "It is broken now: a failure that stays must block.", held.id)
    if settings.release and held.enough:
        return Step(Action.RELEASE, held.numbers, "It was clean for as many runs as it takes to leave.", held.id)
    return None


# -- what comes --------------------------------------------------------------------------------------------------


def _flaked_since(held: NewestQuarantine, known: Mapping[int, Candidate]) -> bool:
    candidates = [known[number] for number in held.numbers if number in known]
    return any(
        candidate.state is Concluded.FLAKY
        and candidate.last_flaked is not None
        and held.ended_at is not None
        and candidate.last_flaked > held.ended_at
        for candidate in candidates
    )


def _reopened(settings: PolicySettings, held: Sequence[NewestQuarantine], known: Mapping[int, Candidate]) -> list[Step]:
    ended = [quarantine for quarantine in held if quarantine.state in (State.RELEASED, State.FIXED)]
    if not settings.reopen:
        return []
    return [
        Step(Action.REOPEN, quarantine.numbers, "It flakes again.", quarantine.id)
        for quarantine in ended
        if _flaked_since(quarantine, known) and not _any(quarantine, known, Concluded.BROKEN)
    ]


def _any(held: NewestQuarantine, known: Mapping[int, Candidate], state: Concluded) -> bool:
    return any(known[number].state is state for number in held.numbers if number in known)


def _new(
    settings: PolicySettings, moment: Moment, candidates: Sequence[Candidate], held: Sequence[NewestQuarantine]
) -> list[Step]:
    """Steps for the tests that meet every condition and are left to the policy, most expensive first."""
    taken = _taken(settings, moment, held)
    fit = [
        candidate
        for candidate in candidates
        if candidate.number not in taken
        and (moment.among is None or candidate.number in moment.among)
        and fits(settings, candidate, moment.now)
    ]
    fit.sort(key=lambda candidate: (-candidate.cost, -candidate.blocked, -candidate.low, candidate.number))
    action = Action.PROPOSE if settings.mode is PolicyMode.PROPOSE else Action.QUARANTINE
    return [_beginning(action, tests, cluster) for cluster, tests in _grouped(settings.group, fit)]


def _taken(settings: PolicySettings, moment: Moment, held: Sequence[NewestQuarantine]) -> set[int]:
    """Tests whose newest quarantine stands in the way of another."""
    in_the_way = (quarantine for quarantine in held if _stands_in_the_way(settings, moment, quarantine))
    return {number for quarantine in in_the_way for number in quarantine.numbers}


def _left_out(
    settings: PolicySettings, moment: Moment, candidates: Sequence[Candidate], held: Sequence[NewestQuarantine]
) -> tuple[tuple[str, int], ...]:
    taken, reasons = _taken(settings, moment, held), Counter[str]()
    for candidate in candidates:
        if candidate.state is not Concluded.FLAKY:
            continue
        held_already = "quarantined now or lately" if candidate.number in taken else ""
        if reason := held_already or unmet(settings, candidate, moment.now):
            reasons[reason] += 1
    return tuple(reasons.most_common())


def _grouped(group: Group, fit: Sequence[Candidate]) -> Iterator[tuple[int | None, Sequence[Candidate]]]:
    """The tests of each new quarantine with their cluster, in the order of the dearest of them."""
    members: dict[int, list[Candidate]] = {}
    for candidate in fit:
        cluster = _cluster(group, candidate)
        if cluster is not None:
            members.setdefault(cluster, []).append(candidate)
    begun: set[int] = set()
    for candidate in fit:
        cluster = _cluster(group, candidate)
        if cluster is None or not 1 < len(members[cluster]) <= MOST_TOGETHER:
            yield None, [candidate]
        elif cluster not in begun:
            begun.add(cluster)
            yield cluster, members[cluster]


def _cluster(group: Group, candidate: Candidate) -> int | None:
    return {Group.NONE: None, Group.SIGNATURE: candidate.signature, Group.TOGETHER: candidate.together}[group]


def _beginning(action: Action, tests: Sequence[Candidate], cluster: int | None) -> Step:
    """A cluster is well when all its tests are: it needs as many clean runs as the rarest failure."""
    needed = [test.needed for test in tests]
    known = [runs for runs in needed if runs is not None]
    return Step(
        action,
        tuple(sorted(test.number for test in tests)),
        _why(tests[0]) if len(tests) == 1 else _why_together(tests),
        needed=max(known) if len(known) == len(needed) else None,
        cluster=cluster,
    )


def _stands_in_the_way(settings: PolicySettings, moment: Moment, held: NewestQuarantine) -> bool:
    """Live ones are there already; what was let go can be reopened; what people ended is left alone for a while."""
    if held.state in LIVE or held.state in (State.RELEASED, State.FIXED):
        return True
    if not held.by_people or held.ended_at is None:
        return False
    return moment.now < held.ended_at + timedelta(days=settings.pause_days)


def fits(settings: PolicySettings, candidate: Candidate, now: datetime) -> bool:
    """Whether a test meets every condition of the policy."""
    return not unmet(settings, candidate, now)


def unmet(settings: PolicySettings, candidate: Candidate, now: datetime) -> str:
    """The first condition of the policy that a test does not meet, in words; empty where it meets all."""
    since, age = candidate.flaky_since, timedelta(days=settings.least_age_days)
    conditions = (
        (candidate.state is Concluded.FLAKY, "not flaky"),
        (candidate.evidence >= settings.least_evidence, "too little evidence"),
        (candidate.low >= settings.least_rate, "fails too rarely"),
        (candidate.blocked >= settings.least_blocked, "blocked too few runs"),
        (candidate.default_failures >= settings.least_default_failures, "too few failures on the default branch"),
        (since is not None and now - since >= age, "not flaky for long enough"),
    )
    return next((words for holds, words in conditions if not holds), "")


def _why(candidate: Candidate) -> str:
    runs = "1 run" if candidate.blocked == 1 else f"{candidate.blocked:,} runs"
    return (
        f"It passed and failed on the same code {candidate.evidence:,} times, failed {candidate.failed:,} of "
        f"{candidate.executed:,} runs (at least {percent(candidate.low)}) and blocked {runs}."
    )


def _why_together(tests: Sequence[Candidate]) -> str:
    """The dearest test comes first. What a cluster blocked is the same for each of its tests."""
    evidence, blocked = sum(test.evidence for test in tests), max(test.blocked for test in tests)
    runs = "1 run" if blocked == 1 else f"{blocked:,} runs"
    return (
        f"{len(tests):,} tests with related failures, one problem: they passed and failed on the same code "
        f"{evidence:,} times and blocked {runs}."
    )
