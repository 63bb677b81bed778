"""Sections 1 and 8: hosts, environments and hours at which a test fails more than elsewhere."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints, counted, distinct_per
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import ChosenTests, Part, joined, parts

HOURS = 24
BLOCK = 4
"""Hours judged together: one hour of a window has too few failures, and nightly jobs and loads last some hours."""
STEP = 2
"""Blocks begin at each even hour, so that any two neighbouring hours are whole in one."""


@dataclass(frozen=True, slots=True)
class Standouts:
    """Tests and places where the test failed significantly more than elsewhere, the most telling first.

    A test counts once a report, by its worst attempt: attempts of one report are no independent witnesses."""

    test: Ints
    place: Ints
    failed: Ints
    executed: Ints
    failed_elsewhere: Ints
    executed_elsewhere: Ints
    p_value: Floats
    """Of as many failures there, had they fallen on its reports at random (hypergeometric)."""

    def __len__(self) -> int:
        return len(self.test)


@dataclass(frozen=True, slots=True)
class HourStandouts(Standouts):
    """The same for hours of the day, UTC: `place` is the hour at which a block begins. One row a test at most."""

    @property
    def from_hour(self) -> Ints:
        return self.place

    @property
    def to_hour(self) -> Ints:
        """The first hour after the block."""
        return np.asarray((self.place + BLOCK) % HOURS)


@dataclass(frozen=True, slots=True)
class _Cells:
    """How many reports of each test there are at each place, and in how many of them it failed."""

    test: Ints
    place: Ints
    failed: Ints
    executed: Ints


def standouts(executions: Executions | ChosenTests, place: Ints, parameters: Parameters = DEFAULTS) -> Standouts:
    """Where tests stand out (`place` by report, such as its host or environment; -1 where it is not known).

    Benjamini-Hochberg counts every test and place of tests that failed and ran in at least two places."""
    if len(np.unique(place[place >= 0])) < 2:  # nothing to compare with
        none = np.zeros(0, dtype=np.int64)
        return Standouts(none, none, none, none, none, none, np.zeros(0))
    by_part = []
    for part in parts(executions):
        test, report, failed = _once_a_report(part.executions)
        known = place[report] >= 0
        cells = _cells(test[known], place[report[known]], failed[known])
        by_part.append(replace(cells, test=cells.test + part.first))
    cells = joined(by_part)
    everywhere = _sums(cells.test, cells.failed, executions.tests), _sums(cells.test, cells.executed, executions.tests)
    return Standouts(*_judged(cells, *everywhere, cells.failed >= parameters.few_failures, parameters))


def hours(started: Floats) -> Ints:
    """The hour of the day, UTC, of seconds since 1970."""
    return np.asarray(started // 3600 % HOURS, dtype=np.int64)


def hour_standouts(
    executions: Executions | ChosenTests, started: Floats, parameters: Parameters = DEFAULTS
) -> HourStandouts:
    """Hours of the day at which tests stand out (`started` by report), as blocks that overlap and may span midnight.

    One bad night is no habit: failures of a block count only where they fell on several days. Overlapping blocks are
    positively dependent, under which Benjamini-Hochberg holds; of a test's blocks the most telling is kept."""
    hour = hours(started)
    counts = joined([_HourCounts.of(part, hour, started) for part in parts(executions)])
    ran, bad = counts.ran, counts.bad
    starts = np.arange(0, HOURS, STEP)
    inside = (starts[:, None] + np.arange(BLOCK)) % HOURS
    executed, failing = ran[:, inside].sum(axis=2), bad[:, inside].sum(axis=2)
    days = _days(counts.test, counts.moment, starts, executions.tests)
    at, block = np.nonzero(executed)
    cells = _Cells(at, starts[block], failing[at, block], executed[at, block])
    tried = days[at, block] >= parameters.few_failures
    return HourStandouts(*_judged(cells, bad.sum(axis=1), ran.sum(axis=1), tried, parameters, once=True))


@dataclass(frozen=True, slots=True)
class _HourCounts:
    """How many reports of each test there are in each hour of the day, in how many of them it failed, and failures."""

    ran: Ints
    bad: Ints
    test: Ints
    moment: Floats

    @classmethod
    def of(cls, part: Part, hour: Ints, started: Floats) -> "_HourCounts":
        test, report, failed = _once_a_report(part.executions)
        cell, shape = test * HOURS + hour[report], (part.executions.tests, HOURS)
        ran, bad = (np.bincount(cells, minlength=shape[0] * HOURS).reshape(shape) for cells in (cell, cell[failed]))
        return cls(ran, bad, test[failed] + part.first, started[report[failed]])


def _days(test: Ints, started: Floats, starts: Ints, tests: int) -> Ints:
    """Tests x blocks: on how many days a block had a failure; a day begins with the block."""
    found = np.zeros((tests, len(starts)), dtype=np.int64)
    for number, start in enumerate(starts):
        shifted = started - 3600 * start
        inside = hours(shifted) < BLOCK
        found[:, number] = distinct_per(test[inside], (shifted[inside] // 86_400).astype(np.int64), tests)
    return found


def _once_a_report(executions: Executions) -> tuple[Ints, Ints, Flags]:
    """Each test and report in which it was executed, and whether an attempt failed."""
    ran = executions.where(executions.executed)
    once = ran.last_attempt
    return ran.test[once].astype(np.int64), ran.report[once].astype(np.int64), ran.any_attempt(ran.failing)


def _cells(test: Ints, place: Ints, failed: Flags) -> _Cells:
    size = int(place.max(initial=0)) + 1
    keys = test * size + place
    cells, executed = counted(keys)
    failing = np.bincount(np.searchsorted(cells, keys[failed]), minlength=len(cells))
    return _Cells(cells // size, cells % size, failing.astype(np.int64), executed.astype(np.int64))


def _sums(where: Ints, what: Ints, size: int) -> Ints:
    return np.bincount(where, weights=what, minlength=size).astype(np.int64)


def _judged(
    cells: _Cells, failed: Ints, executed: Ints, tried: Flags, parameters: Parameters, *, once: bool = False
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Floats]:
    """The columns of a result, from cells and what each test did everywhere; `tried` cells have enough to be judged,
    and Benjamini-Hochberg counts the others too, with p = 1.

    With `once`, a test's most telling place alone."""
    tested = (failed[cells.test] > 0) & (cells.executed < executed[cells.test])
    at = np.flatnonzero(tested & tried)
    test = cells.test[at]
    p_value = scipy.stats.hypergeom.sf(cells.failed[at] - 1, executed[test], failed[test], cells.executed[at])
    level = parameters.significance * len(at) / max(int(np.count_nonzero(tested)), 1)
    kept = np.flatnonzero(scipy.stats.false_discovery_control(np.minimum(p_value, 1.0)) <= level)
    kept = kept[np.lexsort((-cells.failed[at[kept]], p_value[kept]))]
    if once:
        kept = kept[np.sort(np.unique(test[kept], return_index=True)[1])]
    at, test, p_value = at[kept], test[kept], p_value[kept]
    here, there = cells.failed[at], cells.executed[at]
    return test, cells.place[at], here, there, failed[test] - here, executed[test] - there, p_value
