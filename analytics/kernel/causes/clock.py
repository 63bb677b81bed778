"""Moments of the clock at which a test fails more: seconds, minutes, weekdays, the end of the month.

See docs/concepts.md#passive-causes. Hours of the day are in `kernel/standouts.py`."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy

from analytics.kernel.executions import Executions, Flags, Floats, Ints, distinct_per
from analytics.kernel.parameters import DEFAULTS, Parameters
from analytics.kernel.parts import joined, parts

DAY = 86_400


class Dial(StrEnum):
    """What of the clock is looked at."""

    SECOND = "second"
    MINUTE = "minute"
    WEEKDAY = "weekday"
    MONTH_END = "month end"


@dataclass(frozen=True, slots=True)
class _Face:
    """A dial as blocks that overlap: block b has the marks from b * step, `width` of them, around the dial."""

    marks: int
    width: int
    step: int

    @property
    def blocks(self) -> Ints:
        """Blocks x marks of each."""
        starts = np.arange(0, self.marks, self.step)
        return np.asarray((starts[:, None] + np.arange(self.width)) % self.marks)

    @property
    def holds(self) -> Flags:
        """Blocks x all marks: whether it has the mark."""
        blocks = self.blocks
        holds = np.zeros((len(blocks), self.marks), dtype=bool)
        holds[np.arange(len(blocks))[:, None], blocks] = True
        return holds


FACES = {
    Dial.SECOND: _Face(60, 10, 5),
    Dial.MINUTE: _Face(60, 5, 1),
    Dial.WEEKDAY: _Face(7, 1, 1),
    Dial.MONTH_END: _Face(2, 1, 2),
}
"""Ten seconds, five minutes, one day: narrow enough to see a boundary, wide enough to hold failures."""
_WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


@dataclass(frozen=True, slots=True)
class ClockFinding:
    """A test fails more in one block of a dial. Of days, it failed or it ran there; of seconds and minutes, reports."""

    test: int
    dial: Dial
    block: int
    failed: int
    executed: int
    failed_elsewhere: int
    executed_elsewhere: int
    p_value: float

    @property
    def share(self) -> float:
        return self.failed / (self.failed + self.failed_elsewhere)

    @property
    def when(self) -> str:
        if self.dial is Dial.WEEKDAY:
            return f"on {_WEEKDAYS[self.block]}"
        if self.dial is Dial.MONTH_END:
            return "on the last day of a month"
        face = FACES[self.dial]
        first = self.block * face.step
        return f"from {self.dial} {first} to {(first + face.width - 1) % face.marks} (UTC)"

    def __str__(self) -> str:
        what = "days it failed" if self.dial in (Dial.WEEKDAY, Dial.MONTH_END) else "runs failed"
        return (
            f"{self.failed} of {self.executed} {what} {self.when}, "
            f"{self.failed_elsewhere} of {self.executed_elsewhere} at other times (p = {self.p_value:.2g})"
        )


@dataclass(frozen=True, slots=True)
class ClockFindings:
    found: tuple[ClockFinding, ...]
    """At most one for each test and dial, the most telling first."""
    judged: dict[Dial, Flags]
    """By dial and test: there was enough data to look."""


def clock_findings(executions: Executions, started: Floats, parameters: Parameters = DEFAULTS) -> ClockFindings:
    """Where on the clock failures of each test stand out (`started` by report, seconds since 1970).

    Hypergeometric tails over all blocks of all tests of a dial, Benjamini-Hochberg with the level shared among the
    dials. Seconds and minutes count a test once a report and ask for failures on several days; weekdays and month ends
    count it once a day and ask for several weeks or months: one bad day is no habit."""
    few, level = parameters.few_failures, parameters.significance / len(Dial)
    counts: dict[Dial, list[_Cells]] = {dial: [] for dial in Dial}
    for part in parts(executions):
        by_report = _reports(part.executions, started)
        by_day = _days(by_report)
        for dial in Dial:
            cells = _cells(dial, by_report if dial in (Dial.SECOND, Dial.MINUTE) else by_day, few)
            counts[dial].append(replace(cells, test=cells.test + part.first))
    found: list[ClockFinding] = []
    judged = {dial: np.zeros(executions.tests, dtype=bool) for dial in Dial}
    for dial, by_part in counts.items():
        cells = joined(by_part)
        judged[dial][cells.test] = cells.compared.any(axis=1)
        found += _standing_out(dial, cells, 2 if dial is Dial.MONTH_END else few, level)
    return ClockFindings(tuple(sorted(found, key=lambda finding: finding.p_value)), judged)


@dataclass(frozen=True, slots=True)
class _Units:
    """What counts once: a test in a report, or a test on a day."""

    test: Ints
    at: npt.NDArray[np.integer]
    """Which of the moments."""
    moments: Floats
    """Seconds since 1970: of each report, or of each day. There are far fewer than rows."""
    failed: Flags
    tests: int


def _reports(executions: Executions, started: Floats) -> _Units:
    ran = executions.where(executions.executed)
    once = ran.last_attempt
    test, report = ran.test[once].astype(np.int64), ran.report[once]
    return _Units(test, report, started, ran.any_attempt(ran.failing), executions.tests)


def _days(units: _Units) -> _Units:
    """A day is bad where it failed at least once. Rows are sorted by test and time, so a day's are neighbours."""
    if not len(units.test):
        return units
    days, day_of = np.unique((units.moments // DAY).astype(np.int64), return_inverse=True)
    day = day_of[units.at]
    new = np.ones(len(day), dtype=bool)
    new[1:] = (units.test[1:] != units.test[:-1]) | (day[1:] != day[:-1])
    start = np.flatnonzero(new)
    return _Units(
        units.test[start],
        day[start],
        (days * DAY).astype(np.float64),
        np.logical_or.reduceat(units.failed, start),
        units.tests,
    )


def _marks(dial: Dial, started: Floats) -> tuple[Ints, Ints]:
    """Where on the dial each moment is, and the number of the period in which a failure counts once."""
    moment = started.astype(np.int64)
    day = moment // DAY
    if dial is Dial.SECOND:
        return moment % 60, day
    if dial is Dial.MINUTE:
        return moment // 60 % 60, day
    if dial is Dial.WEEKDAY:
        return (day + 3) % 7, (day + 3) // 7  # 1 January 1970 was a Thursday
    month, tomorrow = _month(day), _month(day + 1)
    return (tomorrow == month).astype(np.int64), month


def _month(day: Ints) -> Ints:
    return day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Tests x blocks, of tests that both passed and failed often enough."""

    test: Ints
    executed: Ints
    failed: Ints
    periods: Ints
    """Distinct days, weeks or months with a failure there."""
    all_executed: Ints
    all_failed: Ints
    compared: Flags
    """There is something to compare."""


def _cells(dial: Dial, units: _Units, few: int) -> _Cells:
    """How often each test ran and failed in each block of a dial."""
    face = FACES[dial]
    mark, period = _marks(dial, units.moments)
    shape = (units.tests, face.marks)
    cell, failures = units.test * face.marks + mark[units.at], np.flatnonzero(units.failed)
    ran, bad = (np.bincount(each, minlength=shape[0] * shape[1]).reshape(shape) for each in (cell, cell[failures]))
    all_ran, all_bad = ran.sum(axis=1), bad.sum(axis=1)
    chosen = np.flatnonzero((all_bad >= few) & (all_bad < all_ran))
    ran, bad, all_ran, all_bad = ran[chosen], bad[chosen], all_ran[chosen], all_bad[chosen]
    executed, failed = np.zeros((2, len(chosen), len(face.blocks)), dtype=np.int64)
    for marks in face.blocks.T:
        executed += ran[:, marks]
        failed += bad[:, marks]
    compared = (executed > 0) & (executed < all_ran[:, None])
    at, blocks = units.at[failures], len(face.blocks)
    block, row = np.nonzero(face.holds[:, mark[at]])
    when = period[at] - period.min(initial=0)
    periods = distinct_per(units.test[failures][row] * blocks + block, when[row], units.tests * blocks)
    periods = periods.reshape(units.tests, blocks)[chosen]
    return _Cells(chosen, executed, failed, periods, all_ran, all_bad, compared)


def _standing_out(dial: Dial, cells: _Cells, repeats: int, level: float) -> list[ClockFinding]:
    """The most telling block of each test that stands out; `repeats` are failures and periods that a habit needs."""
    tried = cells.compared & (cells.failed >= repeats) & (cells.periods >= repeats)
    test, block = np.nonzero(tried)
    if not len(test):
        return []
    failed, executed = cells.failed[test, block], cells.executed[test, block]
    all_bad, all_ran = cells.all_failed[test], cells.all_executed[test]
    p_value = np.minimum(scipy.stats.hypergeom.sf(failed - 1, all_ran, all_bad, executed), 1.0)
    share = len(test) / int(np.count_nonzero(cells.compared))
    kept = np.flatnonzero(scipy.stats.false_discovery_control(p_value) <= level * share)
    kept = kept[np.lexsort((-failed[kept], p_value[kept]))]
    kept = kept[np.sort(np.unique(test[kept], return_index=True)[1])]
    columns = (cells.test[test], block, failed, executed, all_bad - failed, all_ran - executed)
    rows = zip(*(column[kept].tolist() for column in columns), p_value[kept].tolist(), strict=True)
    return [ClockFinding(place, dial, *numbers) for place, *numbers in rows]
