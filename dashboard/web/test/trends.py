"""One test over time, as its charts take it: failure rate, what its failures said, how long it took."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from analytics.history.executions import CountedExecutions, History
from analytics.kernel.executions import Ints
from analytics.kernel.rates import rates_of
from dashboard.charts.durations import Durations
from dashboard.charts.rate import Rate
from dashboard.charts.rate_trend import DayRate, RateTrend
from dashboard.charts.signature_share import SignatureCounts, SignatureShare

DAY, WEEK = "day", "week"
UNITS = (DAY, WEEK)
_DAYS = {DAY: 1, WEEK: 7}
_MOST_PERIODS = 120
_DAYS_SHOWN_ONE_BY_ONE = 35
_MONDAY = 3
"""1 January 1970 was a Thursday."""
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Periods:
    """Days or weeks, from the first to the last of a history, as many as a picture can show."""

    unit: str
    first: int
    """In days since 1970."""
    count: int

    def of(self, days: Ints) -> Ints:
        """Which period each day is in; below nought for those before the first."""
        return np.asarray((days - self.first) // _DAYS[self.unit])

    @property
    def dates(self) -> list[date]:
        step = _DAYS[self.unit]
        return [_EPOCH + timedelta(days=self.first + step * at) for at in range(self.count)]

    def addresses(self, address: Callable[[date, date], str]) -> list[str]:
        """Of each period, by its first and last day."""
        return [address(first, first + timedelta(days=_DAYS[self.unit] - 1)) for first in self.dates]


def days_of(history: History) -> Ints:
    """By row: days since 1970, UTC."""
    return np.asarray(history.started // 86_400, dtype=np.int64)


def periods(days: Ints, unit: str) -> Periods:
    """The periods that these days lie in; `unit` empty chooses what is easier to read."""
    first, last = (int(days.min()), int(days.max())) if len(days) else (0, -1)
    unit = unit or (DAY if last - first < _DAYS_SHOWN_ONE_BY_ONE else WEEK)
    if unit == WEEK:
        first -= (first + _MONDAY) % 7
    step = _DAYS[unit]
    count = (last - first) // step + 1
    left_out = max(count - _MOST_PERIODS, 0)
    return Periods(unit, first + step * left_out, count - left_out)


def rate_trend(days: Ints, ran: CountedExecutions, over: Periods, addresses: list[str]) -> RateTrend:
    """Failure rate of each period, and where its executions are listed; `days` by row of the history."""
    at = over.of(days[ran.row])
    executed = np.bincount(at[at >= 0], minlength=over.count)
    failed = np.bincount(at[(at >= 0) & ran.failing], minlength=over.count)
    return RateTrend(tuple(map(DayRate, over.dates, rates(failed, executed), addresses)))


def rates(failed: Ints, executed: Ints) -> list[Rate]:
    intervals = rates_of(failed, executed)
    low, high = np.nan_to_num(intervals.low).tolist(), np.nan_to_num(intervals.high).tolist()
    return [Rate(*row) for row in zip(failed.tolist(), executed.tolist(), low, high, strict=True)]


def signature_share(
    days: Ints, failures: Mapping[int, list[int]], names: Mapping[int, str], over: Periods, addresses: list[str]
) -> SignatureShare:
    """Failures of each period by signature; `failures` has rows of the history by signature."""
    counts = []
    for signature, rows in failures.items():
        at = over.of(days[np.array(rows, dtype=np.int64)])
        counts.append(SignatureCounts(names[signature], tuple(np.bincount(at[at >= 0], minlength=over.count).tolist())))
    return SignatureShare(tuple(over.dates), tuple(counts), tuple(addresses))


def durations(history: History, ran: CountedExecutions) -> Durations:
    known = np.isfinite(ran.seconds)
    groups = (known & ~ran.failing, known & ran.failing)
    base = f"{history.around[0]}/"
    return Durations(
        *(tuple(ran.seconds[chosen].tolist()) for chosen in groups),
        *(tuple(ran.row[chosen].tolist()) for chosen in groups),
        base=base,
        address=lambda row: history.address(row).removeprefix(base),
    )
