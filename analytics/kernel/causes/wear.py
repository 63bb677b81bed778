"""Whether a test fails the more often it ran on a machine: ports, disks and handles that are used up.

See docs/concepts.md#passive-causes."""

from dataclasses import dataclass

import numpy as np
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints
from analytics.kernel.parameters import DEFAULTS, Parameters

_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class WearFinding:
    """Failing executions are later on their machines than passing ones."""

    test: int
    hosts: int
    """Machines on which it both passed and failed."""
    failing: float
    """The median number of an execution on its machine, counted from 1."""
    passing: float
    failed: int
    passed: int
    p_value: float

    def __str__(self) -> str:
        return (
            f"on {self.hosts} machines it fails after many executions there: the {self.failing:.0f}th (median of "
            f"{self.failed} failures), passes at the {self.passing:.0f}th (of {self.passed}; p = {self.p_value:.2g})"
        )


@dataclass(frozen=True, slots=True)
class WearFindings:
    found: tuple[WearFinding, ...]
    judged: Flags
    """By test: it passed and failed on two machines or more."""


def wear_findings(executions: Executions, host: Ints, parameters: Parameters = DEFAULTS) -> WearFindings:
    """Of each test that passed and failed on at least two machines (`host` by report; -1 where it is not known).

    How much later failures are is summed over machines (Mann-Whitney's U). Its chance: the outcomes of each machine
    turned around like a ring, which keeps them in bursts as they are. Benjamini-Hochberg over all tests."""
    ran = executions.where(executions.executed & (host[executions.report] >= 0))
    cells = _cells(ran, host)
    judged = np.bincount(cells.test[cells.mixed], minlength=executions.tests) >= 2
    promising = np.flatnonzero(judged & (_later(cells, executions.tests) > 1.5))
    tried = [_judged(int(test), cells) for test in promising]
    if not tried:
        return WearFindings((), judged)
    hypotheses = max(int(np.count_nonzero(judged)), 1)
    adjusted = scipy.stats.false_discovery_control([finding.p_value for finding in tried]) * hypotheses / len(tried)
    kept = [finding for finding, p in zip(tried, adjusted, strict=True) if p <= parameters.significance]
    return WearFindings(tuple(kept), judged)


@dataclass(frozen=True, slots=True)
class _Cells:
    """A row for each test and machine; executions of one are next to each other, by time."""

    test: Ints
    start: Ints
    """Where its executions begin, and one more for the end of the last."""
    failed: Flags
    """By execution."""
    mixed: Flags
    """By cell: passes and failures."""


def _cells(ran: Executions, host: Ints) -> _Cells:
    size = int(host.max(initial=0)) + 1
    key = ran.test.astype(np.int64) * size + host[ran.report]
    by_cell = np.argsort(key, kind="stable")  # rows of a test rise with time
    failed = ran.failing[by_cell]
    cells, start = np.unique(key[by_cell], return_index=True)
    ends = np.append(start, len(key)).astype(np.int64)
    bad = np.add.reduceat(failed.astype(np.int64), start) if len(start) else np.zeros(0, dtype=np.int64)
    return _Cells(cells // size, ends, failed, (bad > 0) & (bad < np.diff(ends)))


def _later(cells: _Cells, tests: int) -> Floats:
    """By test: how many standard deviations its failures are later on their machines than chance makes them."""
    size = np.diff(cells.start)
    place = np.arange(len(cells.failed)) - np.repeat(cells.start[:-1], size)
    bad, good, later = _sums(cells, place)
    expected = bad * (size - 1) / 2
    variance = bad * good * (size + 1) / 12
    of = cells.test[cells.mixed]
    total = np.bincount(of, weights=(later - expected)[cells.mixed], minlength=tests)
    spread = np.sqrt(np.bincount(of, weights=variance[cells.mixed], minlength=tests))
    return np.divide(total, spread, out=np.zeros(tests), where=spread > 0)


def _sums(cells: _Cells, place: Ints) -> tuple[Ints, Ints, Ints]:
    """By cell: failures, passes, and the places of failures together."""
    if len(cells.start) < 2:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    starts = cells.start[:-1]
    bad = np.add.reduceat(cells.failed.astype(np.int64), starts)
    later = np.add.reduceat(np.where(cells.failed, place, 0), starts)
    return bad, np.diff(cells.start) - bad, later


def _judged(test: int, cells: _Cells) -> WearFinding:
    chosen = np.flatnonzero((cells.test == test) & cells.mixed)
    outcomes = [cells.failed[cells.start[cell] : cells.start[cell + 1]] for cell in chosen.tolist()]
    places = [np.arange(len(bad)) for bad in outcomes]
    failed = np.concatenate([place[bad] for place, bad in zip(places, outcomes, strict=True)]) + 1
    passed = np.concatenate([place[~bad] for place, bad in zip(places, outcomes, strict=True)]) + 1
    medians = float(np.median(failed)), float(np.median(passed))
    return WearFinding(test, len(outcomes), *medians, len(failed), len(passed), wear_p_value(outcomes))


def wear_p_value(outcomes: list[Flags], draws: int = _DRAWS) -> float:
    """The chance of failures as late as these: outcomes of each machine turned around, each by its own amount."""
    rng, seen = np.random.default_rng(0), 0.0
    drawn = np.zeros(draws)
    for bad in outcomes:
        sums = turned_sums(bad)
        seen += sums[0]
        drawn += rng.choice(sums, size=draws)
    return float((1 + np.count_nonzero(drawn >= seen - 1e-9)) / (1 + draws))


def turned_sums(bad: Flags) -> Floats:
    """The places of failures together, with the outcomes turned by 0, 1, 2 ... executions."""
    size, places = len(bad), np.flatnonzero(bad)
    return np.array([np.sum((places + turn) % size) for turn in range(size)], dtype=np.float64)
