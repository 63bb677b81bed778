"""What speaks for a test's state, as reports to look at: contradictions, recoveries, reversals, and since when it is
broken. The analysis counts them; this finds the newest of each in the history."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analytics.history.executions import CountedExecutions, History
from analytics.kernel.executions import Flags, Ints

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One revision in one environment at which it passed and failed; rows of the history."""

    revision: str
    environment: str
    failed: int
    passed: int
    failing: int
    """Row of the newest failure there, and of the pass that is nearest to it."""
    passing: int

    @property
    def executed(self) -> int:
        return self.failed + self.passed


@dataclass(frozen=True, slots=True)
class Reversal:
    """Failures between two passes on the default branch in one environment; rows of the history."""

    environment: str
    before: int
    failing: int
    """Its first failure."""
    after: int
    failures: int


@dataclass(frozen=True, slots=True)
class Streak:
    """The latest executions on the default branch, all failing; rows of the history."""

    first: int
    last_pass: int | None
    failures: int


@dataclass(frozen=True, slots=True)
class EvidenceRows:
    contradictions: list[Contradiction]
    recoveries: list[int]
    reversals: list[Reversal]

    @property
    def rows(self) -> list[int]:
        """Every row of the history that it speaks of."""
        pairs = [row for contradiction in self.contradictions for row in (contradiction.failing, contradiction.passing)]
        return [
            *pairs,
            *self.recoveries,
            *(row for reversal in self.reversals for row in (reversal.before, reversal.failing, reversal.after)),
        ]


def evidence_in(history: History, ran: CountedExecutions, inside: Flags, most: int = SHOWN) -> EvidenceRows:
    """The newest evidence of each kind among the reports `inside` the window."""
    ran = ran.where(inside)
    return EvidenceRows(
        contradictions(history, ran)[:most], recoveries(history, inside)[:most], reversals(history, ran)[:most]
    )


def contradictions(history: History, ran: CountedExecutions) -> list[Contradiction]:
    """Revisions and environments with both passes and failures, latest failure first."""
    rows, environment = ran.row.tolist(), history.environment.tolist()
    places = [(history.revision[row], environment[row]) for row in rows]
    failed: dict[tuple[str, int], list[int]] = {
        places[at]: [] for at in np.flatnonzero(ran.failing).tolist() if places[at][0]
    }
    for at, place in enumerate(places):
        if place in failed:
            failed[place].append(at)
    mixed = [
        _contradiction(history, ran, *place, np.array(at)) for place, at in failed.items() if not ran.failing[at].all()
    ]
    return sorted(mixed, key=lambda contradiction: contradiction.failing)


def _contradiction(
    history: History, ran: CountedExecutions, revision: str, environment: int, at: Ints
) -> Contradiction:
    bad, good = at[ran.failing[at]], at[~ran.failing[at]]
    nearest = good[np.argmin(np.abs(good - bad[-1]))]
    return Contradiction(
        revision=revision,
        environment=history.environments[environment],
        failed=len(bad),
        passed=len(good),
        failing=int(ran.row[bad[-1]]),
        passing=int(ran.row[nearest]),
    )


def recoveries(history: History, inside: Flags) -> list[int]:
    """Rows in which one attempt failed and another passed, newest first. Those inside incidents are no evidence."""
    return [
        row
        for row in sorted(history.attempts)
        if inside[row] and not history.incident[row] and not history.partial[row] and history.recovered(row)
    ]


def reversals(history: History, ran: CountedExecutions) -> list[Reversal]:
    """Pass-fail-pass sequences on the default branch in one environment, newest first."""
    found = [
        reversal
        for number, name in enumerate(history.environments)
        for reversal in _reversals(ran.where(history.main & (history.environment == number)), name)
    ]
    return sorted(found, key=lambda reversal: reversal.failing)


def _reversals(main: CountedExecutions, environment: str) -> Iterator[Reversal]:
    if not len(main):
        return
    starts = np.flatnonzero(np.concatenate([[True], main.failing[1:] != main.failing[:-1]])).tolist()
    for start, stop in pairwise(starts[1:]):
        if main.failing[start]:
            before, failing, after = (int(main.row[at]) for at in (start - 1, start, stop))
            yield Reversal(environment, before, failing, after, stop - start)


def failing_streak(history: History, ran: CountedExecutions, inside: Flags) -> Streak | None:
    """Since when it fails on the default branch, and the last pass before; None where the latest execution passed."""
    main = ran.where(inside & history.main)
    if not len(main) or not main.failing[-1]:
        return None
    passes = np.flatnonzero(~main.failing)
    start = int(passes[-1]) + 1 if len(passes) else 0
    return Streak(
        first=int(main.row[start]),
        last_pass=int(main.row[start - 1]) if start else None,
        failures=len(main) - start,
    )
