"""Section 2: which tests are flaky, which are broken, and on what evidence."""

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from analytics.kernel.bursts import Bursts, by_stream
from analytics.kernel.executions import Executions, Flags, Ints, distinct, distinct_per
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.reruns import Beta, to_confirm, unlikely_streak


class State(IntEnum):
    """What we conclude of a test. The numbers are stored: never renumber."""

    STABLE = 0
    FLAKY = 1
    SUSPECT = 2
    BROKEN = 3
    INFRASTRUCTURE = 4
    RECOVERED = 5
    UNEXECUTED = 6
    """Nothing in the window says how it ends: skipped or absent throughout."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of each report: its revision and environment (-1 where not said), run, and branch class."""

    revision: Ints
    environment: Ints
    run: Ints
    default_branch: Flags


@dataclass(frozen=True, slots=True)
class Evidence:
    """Per test, the strongest kind first."""

    contradictions: Ints
    """Revision and environment pairs at which it both passed and failed."""
    recoveries: Ints
    """Runs in which an attempt failed and another passed, and the producer says that they were attempts."""
    reversals: Ints
    """Times it failed between two passes on the default branch: weak, never enough alone."""
    first: Ints
    last: Ints
    """The reports of the first and the last failure that is part of a contradiction or recovery; -1 for none."""


def _both(key: Ints, failing: Flags) -> Ints:
    """The distinct keys under which something failed and something passed."""
    failed = distinct(key[failing])
    return failed[np.isin(failed, key[~failing])] if len(failed) else failed


def _group(executions: Executions, where: Ints) -> tuple[Ints, int]:
    """One number for each test and place (`where` by report, -1 for unknown: no group)."""
    places = int(where.max()) + 1 if len(where) else 0
    place = where[executions.report].astype(np.int64)
    return np.where(place < 0, -1, executions.test.astype(np.int64) * max(places, 1) + place), max(places, 1)


def _mixed(executions: Executions, where: Ints) -> tuple[Ints, Flags]:
    """How many places of each test saw both outcomes, and which failing executions are in one."""
    key, places = _group(executions, where)
    known = key >= 0
    failing = executions.failing
    mixed = _both(key[known], failing[known])
    count = np.bincount(mixed // places, minlength=executions.tests).astype(np.int64)
    return count, failing & known & np.isin(key, mixed)


def evidence(executions: Executions, situation: Situation, explicit: Flags) -> Evidence:
    """Contradictions, recoveries and reversals. `explicit` marks attempts that the producer itself tells apart."""
    ran = executions.where(executions.executed)
    told = explicit[executions.executed]
    pairs = _pairs(situation.revision, situation.environment)
    contradictions, in_contradiction = _mixed(ran, pairs)
    recoveries, recovered = _mixed(ran.where(told), situation.run)
    part = in_contradiction.copy()
    part[told] |= recovered
    first, last = _ends(ran, part)
    return Evidence(contradictions, recoveries, _reversals(ran, situation), first, last)


def _pairs(revision: Ints, environment: Ints) -> Ints:
    """A number for each revision and environment; -1 where the revision is not known."""
    codes = revision * (int(environment.max(initial=-1)) + 2) + environment + 1
    _, numbered = np.unique(codes, return_inverse=True)
    return np.where(revision < 0, -1, numbered).astype(np.int64)


def _ends(ran: Executions, part: Flags) -> tuple[Ints, Ints]:
    first = np.full(ran.tests, np.iinfo(np.int64).max)
    last = np.full(ran.tests, -1, dtype=np.int64)
    np.minimum.at(first, ran.test[part], ran.report[part])
    np.maximum.at(last, ran.test[part], ran.report[part])
    return np.where(last < 0, -1, first), last


def _reversals(ran: Executions, situation: Situation) -> Ints:
    """pass, fail, pass on the default branch: bursts with a pass before and after them in the same environment."""
    main = ran.where(situation.default_branch[ran.report])
    stream, at = by_stream(main, situation.environment)
    test, failing = main.test[at], main.failing[at]
    if len(test) < 3:
        return np.zeros(ran.tests, dtype=np.int64)
    change = np.flatnonzero((stream[1:] != stream[:-1]) | (failing[1:] != failing[:-1])) + 1
    starts = np.concatenate([[0], change])
    owner, bad = stream[starts], failing[starts]
    between = np.zeros(len(starts), dtype=bool)
    between[1:-1] = bad[1:-1] & (owner[:-2] == owner[1:-1]) & (owner[2:] == owner[1:-1])
    return np.bincount(test[starts][between], minlength=ran.tests).astype(np.int64)


# -- states ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Streaks:
    """How each test has fared lately on the default branch, in the environment where it fares worst."""

    failing: Ints
    """Executions there since the last pass; 0 where the last one passed."""
    revisions: Ints
    """Revisions among them."""
    clean: Ints
    """Executions since the last failure, on any branch and in any environment."""


def streaks(executions: Executions, situation: Situation, parameters: Parameters = DEFAULTS) -> Streaks:
    """A test may be broken in one environment alone. One that has not run it lately says nothing of now."""
    ran = executions.where(executions.executed)
    clean = _since_last(ran, ran.failing)
    main = ran.where(situation.default_branch[ran.report])
    streak = np.zeros_like(clean)
    if not len(main.test):
        return Streaks(streak, np.zeros_like(clean), clean)
    key, at = by_stream(main, situation.environment)
    test, last, length = _tails(key, main.test[at], main.failing[at])
    behind = main.count(main.executed)[test] - 1 - main.rank[at][last]
    length[behind >= parameters.lately] = 0
    order = np.lexsort((length, test))
    worst = order[np.append(test[order][1:] != test[order][:-1], True)]  # of each test, the stream with the longest
    streak[test[worst]] = length[worst]
    rows = np.repeat(last[worst], length[worst]) - (np.arange(length[worst].sum()) - _starts(length[worst]))
    revisions = distinct_per(main.test[at][rows], situation.revision[main.report[at][rows]], ran.tests)
    return Streaks(streak, revisions, clean)


def _starts(length: Ints) -> Ints:
    """For rows of groups of these lengths, the first row of the group that each is in."""
    return np.repeat(np.cumsum(length) - length, length)


def _tails(key: Ints, test: npt.NDArray[np.integer], failing: Flags) -> tuple[Ints, Ints, Ints]:
    """Of each stream: its test, its last row, and how many rows at its end are failing."""
    last = np.flatnonzero(np.append(key[1:] != key[:-1], True))
    first = np.concatenate([[0], last[:-1] + 1])
    passed = np.maximum.accumulate(np.where(failing, -1, np.arange(len(key))))[last]
    return test[last].astype(np.int64), last, last - np.maximum(passed, first - 1)


def _since_last(ran: Executions, event: Flags) -> Ints:
    """Executions of each test after the last one with the event; all of them where there is none."""
    last = np.full(ran.tests, -1, dtype=np.int64)
    last[ran.test[event]] = ran.rank[event]  # ranks rise within a test: the last one written stays
    return np.bincount(ran.test, minlength=ran.tests) - 1 - last


def before_clean(bursts: Bursts, lately: Streaks) -> Bursts:
    """Bursts without the clean runs at the end: those are what is judged, and no yardstick of themselves."""
    return replace(bursts, pass_pass=np.maximum(bursts.pass_pass - np.maximum(lately.clean - 1, 0), 0))


def states(
    found: Evidence,
    lately: Streaks,
    bursts: Bursts,
    prior: Beta,
    *,
    only_in_incidents: Flags,
    ambiguous: Flags,
    parameters: Parameters = DEFAULTS,
) -> Ints:
    """The state of each test; `found` and the rest are without failures inside incidents.

    A plain regression is broken and never flaky. A flaky test that fails in a row is broken only when its own bursts
    make that streak improbable."""
    flaky = (found.contradictions > 0) | (found.recoveries > 0)
    state = np.full(len(flaky), int(State.STABLE), dtype=np.int64)
    state[(found.reversals > 0) | ambiguous] = State.SUSPECT
    state[only_in_incidents] = State.INFRASTRUCTURE
    state[flaky] = State.FLAKY
    enough = to_confirm(before_clean(bursts, lately), parameters, until_failure=True)
    state[flaky & (lately.clean >= enough)] = State.RECOVERED
    streak = lately.failing > 0
    beyond = unlikely_streak(lately.failing, bursts, prior, parameters)
    state[streak & ~flaky] = State.BROKEN
    state[streak & flaky & beyond & (lately.revisions > 1)] = State.BROKEN
    return state
