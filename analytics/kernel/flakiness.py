"""Which tests are flaky or broken, and the evidence for it. See docs/concepts.md#evidence-and-states."""

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from analytics.kernel.bursts import Bursts, by_stream
from analytics.kernel.executions import Executions, Flags, Ints, distinct, distinct_per, places_among
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.reruns import Beta, Prior, to_confirm, unlikely_streak


class State(IntEnum):
    """The state of a test. The numbers are stored: never renumber."""

    STABLE = 0
    FLAKY = 1
    SUSPECT = 2
    BROKEN = 3
    RECOVERED = 5
    UNEXECUTED = 6
    """It has no result in the window: skipped or absent throughout."""

    @property
    def is_flaky_or_recovered(self) -> bool:
        """Whether the test was flaky within the window, which explains a failure of it."""
        return self in FLAKY_OR_RECOVERED


FLAKY_OR_RECOVERED = (State.FLAKY, State.RECOVERED)


def flaky_or_recovered(states: Ints) -> Flags:
    """The same of each of many tests."""
    return np.isin(states, FLAKY_OR_RECOVERED)


@dataclass(frozen=True, slots=True)
class Situation:
    """By report: its revision and environment (-1 if unknown), run, and kind of branch."""

    revision: Ints
    environment: Ints
    run: Ints
    mainline: Flags
    """On the default branch; on any branch if nothing ran on the default branch."""
    pull_request: Flags


@dataclass(frozen=True, slots=True)
class Evidence:
    """Per test, the strongest kind first."""

    contradictions: Ints
    """Pairs of revision and environment at which it both passed and failed; not those at which it passed and then
    only failed, since something other than the code broke it there."""
    recoveries: Ints
    """Runs in which one attempt failed and another passed, and the producer marks them as attempts."""
    reversals: Ints
    """How often it failed between two passes on the main line: weak evidence, never enough alone."""
    first: Ints
    last: Ints
    """The reports of the first and last failure in a contradiction or recovery; -1 for none."""
    shown: Flags
    """By execution: a failure in a contradiction or recovery."""


def _both(key: Ints, failing: Flags) -> Ints:
    """The distinct keys under which something failed and something passed."""
    failed = distinct(key[failing])
    return failed[np.isin(failed, key[~failing])] if len(failed) else failed


def _group(executions: Executions, where: Ints) -> tuple[Ints, int]:
    """One number for each test and place (`where` by report, -1 for unknown: no group)."""
    places = int(where.max()) + 1 if len(where) else 0
    place = where[executions.report].astype(np.int64)
    return np.where(place < 0, -1, executions.test.astype(np.int64) * max(places, 1) + place), max(places, 1)


def _mixed(key: Ints, places: int, failing: Flags, tests: int) -> tuple[Ints, Flags]:
    """How many places of each test saw both outcomes, and which failing executions are in one."""
    known = key >= 0
    mixed = _both(key, failing) if known.all() else _both(key[known], failing[known])
    count = np.bincount(mixed // places, minlength=tests).astype(np.int64)
    bad = np.flatnonzero(failing & known)
    inside = np.zeros(len(key), dtype=bool)
    inside[bad] = np.isin(key[bad], mixed)
    return count, inside


def evidence(
    executions: Executions, situation: Situation, explicit: Flags, parameters: Parameters = DEFAULTS
) -> Evidence:
    """Contradictions, recoveries and reversals. `explicit` marks attempts that the producer reports as such."""
    ran = executions.where(executions.executed)
    retried = explicit[executions.executed]
    pairs = _pairs(situation.revision, situation.environment)
    unexplained = ~_outages(ran, situation, parameters)
    in_contradiction = np.zeros(len(ran.test), dtype=bool)
    key, places = _group(ran, pairs)
    contradictions, in_contradiction[unexplained] = _mixed(
        key[unexplained], places, ran.failing[unexplained], ran.tests
    )
    broke, in_breakage = _broke(ran, key, places, in_contradiction, situation.run, parameters)
    contradictions, in_contradiction = contradictions - broke, in_contradiction & ~in_breakage
    again = ran.where(retried)
    recoveries, recovered = _mixed(*_group(again, situation.run), again.failing, ran.tests)
    part = in_contradiction.copy()
    part[retried] |= recovered
    first, last = _ends(ran, part)
    shown = np.zeros(len(executions.test), dtype=bool)
    shown[executions.executed] = part
    return Evidence(contradictions, recoveries, _reversals(ran, situation), first, last, shown)


def _outages(ran: Executions, situation: Situation, parameters: Parameters) -> Flags:
    """Failures in a row on any branch and in any environment, either in a few runs up to the end, or in more runs than
    a burst has and at several revisions: a dependency was broken. A flaky test passes now and then."""
    edge = np.ones(len(ran.test), dtype=bool)
    edge[1:] = (ran.test[1:] != ran.test[:-1]) | (ran.failing[1:] != ran.failing[:-1])
    row, streak = np.flatnonzero(ran.failing), np.cumsum(edge) - 1
    count = int(streak[-1]) + 1 if len(streak) else 0
    runs = distinct_per(streak[row], situation.run[ran.report[row]], count)
    revisions = distinct_per(streak[row], situation.revision[ran.report[row]], count)
    starts = np.flatnonzero(edge)
    to_the_end = np.append(ran.test[starts][1:] != ran.test[starts][:-1], True)
    ended = (runs >= parameters.outage_runs) & (revisions > 1)
    lasting = ended | ((runs >= parameters.few_failures) & to_the_end)
    return np.asarray(ran.failing & lasting[streak])


def _broke(
    ran: Executions, key: Ints, places: int, mixed: Flags, run: Ints, parameters: Parameters
) -> tuple[Ints, Flags]:
    """Per test, the mixed places with passes and then only failures, in a few runs or more; and those failures.

    The code did not change there: a dependency or a service did. `mixed` marks failures in mixed places."""
    mixed_keys = distinct(key[mixed])
    if not len(mixed_keys):
        return np.zeros(ran.tests, dtype=np.int64), np.zeros(len(key), dtype=bool)
    place = places_among(mixed_keys, key)
    rows = np.flatnonzero(place >= 0)
    last_pass, first_failure = np.full(len(mixed_keys), -1), np.full(len(mixed_keys), len(key))
    failing = ran.failing[rows]
    np.maximum.at(last_pass, place[rows[~failing]], rows[~failing])
    np.minimum.at(first_failure, place[rows[failing]], rows[failing])
    bad = rows[failing]
    runs = distinct_per(place[bad], run[ran.report[bad]], len(mixed_keys))
    found = (last_pass < first_failure) & (runs >= parameters.few_failures)
    count = np.bincount(mixed_keys[found] // places, minlength=ran.tests).astype(np.int64)
    broken = np.zeros(len(key), dtype=bool)
    broken[bad] = found[place[bad]]
    return count, broken


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
    """pass, fail, pass on the main line: bursts with a pass before and after them in the same environment."""
    main = ran.where(situation.mainline[ran.report])
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
    """Each test's recent results on the main line, in its worst environment."""

    failing: Ints
    """Executions there since the last pass; 0 if the last one passed."""
    revisions: Ints
    """Revisions among them."""
    clean: Ints
    """Executions since the last failure, on any branch and in any environment."""
    changed: Flags
    """A newer revision has run since the last failure."""
    always: Flags
    """It failed in all its runs, a few or more, and not only on pull requests."""


def streaks(executions: Executions, situation: Situation, parameters: Parameters = DEFAULTS) -> Streaks:
    """A test may be broken in only one environment. One that has not run it recently is ignored."""
    ran = executions.where(executions.executed)
    clean = _since_last_failure(ran)
    changed, always = _changed(ran, situation), _always(ran, situation, parameters)
    main = ran.where(situation.mainline[ran.report])
    streak = np.zeros_like(clean)
    if not len(main.test):
        return Streaks(streak, np.zeros_like(clean), clean, changed, always)
    key, at = by_stream(main, situation.environment)
    test, last, length = _tails(key, main.test[at], main.failing[at])
    bounds = main.bounds
    behind = bounds[test + 1] - 1 - (last if isinstance(at, slice) else at[last])
    length[behind >= parameters.lately] = 0
    order = np.lexsort((length, test))
    worst = order[np.append(test[order][1:] != test[order][:-1], True)]  # of each test, the stream with the longest
    streak[test[worst]] = length[worst]
    rows = np.repeat(last[worst], length[worst]) - (np.arange(length[worst].sum()) - _starts(length[worst]))
    revisions = distinct_per(main.test[at][rows], situation.revision[main.report[at][rows]], ran.tests)
    return Streaks(streak, revisions, clean, changed, always)


def first_reports(revision: Ints) -> Ints:
    """By revision: the first report of it (`revision` by report). The last place is that of unknown ones, -1."""
    came = np.full(int(revision.max(initial=-1)) + 2, len(revision), dtype=np.int64)
    np.minimum.at(came, revision, np.arange(len(revision)))
    return came


def _changed(ran: Executions, situation: Situation) -> Flags:
    """Whether a newer revision ran: without one nothing can have been fixed."""
    revision = situation.revision
    came = np.where(revision >= 0, first_reports(revision)[revision], -1)
    last_failure, newest = np.full((2, ran.tests), -1, dtype=np.int64)
    rows = np.flatnonzero(ran.failing)
    last_failure[ran.test[rows]] = ran.report[rows]
    begin = ran.bounds
    known = np.flatnonzero(begin[1:] > begin[:-1])
    if len(known):
        newest[known] = np.maximum.reduceat(came[ran.report], begin[known])
    return np.asarray(newest > last_failure)


def _always(ran: Executions, situation: Situation, parameters: Parameters) -> Flags:
    executed = np.bincount(ran.test, minlength=ran.tests)
    never_passed = (executed > 0) & (ran.count(ran.failing) == executed)
    if not never_passed.any():
        return np.asarray(never_passed)
    bad = ran.where(never_passed[ran.test])
    runs = distinct_per(bad.test, situation.run[bad.report], bad.tests)
    merged = bad.count(~situation.pull_request[bad.report])
    return np.asarray((runs >= parameters.few_failures) & never_passed & (merged > 0))


def _starts(length: Ints) -> Ints:
    """For rows of groups of these lengths, the first row of the group that each is in."""
    return np.repeat(np.cumsum(length) - length, length)


def _tails(key: Ints, test: npt.NDArray[np.integer], failing: Flags) -> tuple[Ints, Ints, Ints]:
    """Of each stream: its test, its last row, and how many rows at its end are failing."""
    last = np.flatnonzero(np.append(key[1:] != key[:-1], True))
    first = np.concatenate([[0], last[:-1] + 1])
    passes = np.append(np.flatnonzero(~failing), -1)  # none is the last place
    passed = passes[np.searchsorted(passes[:-1], last, side="right") - 1]
    return test[last].astype(np.int64), last, last - np.maximum(passed, first - 1)


def _since_last_failure(ran: Executions) -> Ints:
    """Executions of each test after the last failure; all of them where there is none."""
    begin, rows = ran.bounds, np.flatnonzero(ran.failing)
    last = begin[:-1] - 1
    last[ran.test[rows]] = rows  # they rise within a test, so the last one wins
    return np.asarray(begin[1:] - 1 - last)


def before_clean(bursts: Bursts, lately: Streaks) -> Bursts:
    """Bursts without the clean runs at the end, which are judged by them and must not be part of them."""
    return replace(bursts, pass_pass=np.maximum(bursts.pass_pass - np.maximum(lately.clean - 1, 0), 0))


def states(
    found: Evidence,
    lately: Streaks,
    bursts: Bursts,
    prior: Beta | Prior,
    *,
    ambiguous: Flags,
    parameters: Parameters = DEFAULTS,
) -> Ints:
    """The state of each test; `found` and the rest are without failures inside incidents.

    A plain regression is broken and never flaky, and so is a test that never passed. A flaky test with failures in a
    row is broken only if its own bursts make that streak improbable."""
    flaky = (found.contradictions > 0) | (found.recoveries > 0)
    state = np.full(len(flaky), int(State.STABLE), dtype=np.int64)
    state[(found.reversals > 0) | ambiguous] = State.SUSPECT
    state[flaky] = State.FLAKY
    enough = to_confirm(before_clean(bursts, lately), parameters, until_failure=True)
    state[flaky & (lately.clean >= enough) & lately.changed] = State.RECOVERED
    streak = lately.failing > 0
    beyond = unlikely_streak(lately.failing, bursts, prior, parameters)
    state[(streak | lately.always) & ~flaky] = State.BROKEN
    state[streak & flaky & beyond & (lately.revisions > 1)] = State.BROKEN
    return state
