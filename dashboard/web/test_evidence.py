"""What speaks for a test's state, as reports to look at: contradictions, recoveries, reversals, and since when it is
broken. The analysis counts them; this finds the newest of each in the history."""

from dataclasses import dataclass

import numpy as np

from analytics.kernel.executions import Flags, Ints
from dashboard.web.test_history import Counted, History

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


@dataclass(frozen=True, slots=True)
class Reversal:
    """Failures between two passes on the default branch; rows of the history."""

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
class Found:
    contradictions: list[Contradiction]
    recoveries: list[int]
    reversals: list[Reversal]

    @property
    def rows(self) -> list[int]:
        """Every row of the history that it speaks of."""
        pairs = [row for one in self.contradictions for row in (one.failing, one.passing)]
        return [
            *pairs,
            *self.recoveries,
            *(row for one in self.reversals for row in (one.before, one.failing, one.after)),
        ]


def evidence_in(history: History, ran: Counted, inside: Flags, most: int = SHOWN) -> Found:
    """The newest evidence of each kind among the reports `inside` the window."""
    ran = ran.where(inside)
    return Found(
        contradictions(history, ran)[:most], recoveries(history, inside)[:most], reversals(history, ran)[:most]
    )


def contradictions(history: History, ran: Counted) -> list[Contradiction]:
    """Revisions and environments that saw both outcomes, the one that failed last first."""
    places: dict[tuple[str, int], list[int]] = {}
    for at, row in enumerate(ran.row.tolist()):
        if history.revision[row]:
            places.setdefault((history.revision[row], int(history.environment[row])), []).append(at)
    mixed = [
        _contradiction(history, ran, *place, np.array(at))
        for place, at in places.items()
        if 0 < np.count_nonzero(ran.failing[at]) < len(at)
    ]
    return sorted(mixed, key=lambda one: one.failing)


def _contradiction(history: History, ran: Counted, revision: str, environment: int, at: Ints) -> Contradiction:
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


def reversals(history: History, ran: Counted) -> list[Reversal]:
    """pass, fail, pass on the default branch, newest first."""
    main = ran.where(history.main)
    if not len(main):
        return []
    starts = np.flatnonzero(np.concatenate([[True], main.failing[1:] != main.failing[:-1]])).tolist()
    bounds = zip(starts[1:-1], starts[2:], strict=True)
    found = [
        Reversal(int(main.row[start - 1]), int(main.row[start]), int(main.row[stop]), stop - start)
        for start, stop in bounds
        if main.failing[start]
    ]
    return found[::-1]


def failing_streak(history: History, ran: Counted, inside: Flags) -> Streak | None:
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
