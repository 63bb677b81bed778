"""Two periods side by side, line by line: is it better, worse, or is there no clear change?"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from analytics import wording
from analytics.kernel.lifecycle import TimeToFix
from analytics.kernel.trends.comparison import (
    TOO_LITTLE,
    UNKNOWN,
    Change,
    Estimate,
    bounded,
    change_of,
    pace_change,
)
from dashboard.trends.counts import PeriodCounts


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A number in both periods, as words, and what its change comes to."""

    key: str
    title: str
    after: str
    before: str
    change: Change
    difference: str
    """The difference or ratio with its interval, as words; empty where there is none."""


NOT_JUDGED = Change("", UNKNOWN)
"""Of a number of which neither direction is better, or that is no estimate."""


def compare(after: PeriodCounts, before: PeriodCounts, *, by_test: bool = False) -> list[ComparedLine]:
    """All lines; time spent in reruns is of runs, and not of some tests."""
    lines = [_flaky_runs(after, before), *(_count_line(*line, after, before) for line in _COUNTS)]
    lines.append(_line("stock", "Flaky at the end", f"{after.stock:,}", f"{before.stock:,}", NOT_JUDGED, ""))
    lines.append(_fix_time(after.time, before.time))
    return lines if by_test else [*lines, _reruns(after, before)]


def _line(key: str, title: str, after: str, before: str, change: Change, difference: str) -> ComparedLine:
    return ComparedLine(key, title, after, before, change, difference)


def flaky_change(after: PeriodCounts, before: PeriodCounts) -> Change:
    """Of the share of runs that failed by flakiness alone."""
    return change_of(after.flaky_rate, before.flaky_rate)


def _flaky_runs(after: PeriodCounts, before: PeriodCounts) -> ComparedLine:
    change = flaky_change(after, before)
    words = [_rate_words(part.flaky, part.runs, part.flaky_rate) for part in (after, before)]
    return ComparedLine("flaky", "Runs failed by flakiness", *words, change, points(change.difference))


_Count = Callable[[PeriodCounts], int]
_COUNTS: tuple[tuple[str, str, _Count, int], ...] = (
    ("blocked", "Runs blocked by flaky tests", lambda counts: counts.blocked, -1),
    ("masked", "Runs with a masked failure", lambda counts: counts.masked, 0),
    ("saved", "Runs saved by quarantine", lambda counts: counts.saved, 0),
    ("new", "New flaky tests", lambda counts: counts.new, -1),
    ("reopened", "Flaky again", lambda counts: counts.reopened, -1),
    ("fixed", "Fixed", lambda counts: counts.fixed, 1),
)


def _count_line(key: str, title: str, of: _Count, good: int, after: PeriodCounts, before: PeriodCounts) -> ComparedLine:
    """Counts of runs go by how many runs there were, others by days; neither direction of some is better."""
    exposures = [(part.runs, part.span.days) for part in (after, before)]
    by_runs = key in ("blocked", "masked", "saved")
    sizes = [runs if by_runs else days for runs, days in exposures]
    change = pace_change(of(after), sizes[0], of(before), sizes[1], good=good) if good else NOT_JUDGED
    unit = "run" if by_runs else "day"
    words = [
        f"{of(part):,} in {wording.counted(size, unit)}" for part, size in zip((after, before), sizes, strict=True)
    ]
    return ComparedLine(key, title, *words, change, _ratio_words(change.difference) if good else "")


def _fix_time(after: TimeToFix, before: TimeToFix) -> ComparedLine:
    change = change_of(*(bounded(time.median, time.low, time.high) for time in (after, before)))
    return ComparedLine(
        "time", "Days to fix, median", days_words(after), days_words(before), change, _day_words(change.difference)
    )


def _reruns(after: PeriodCounts, before: PeriodCounts) -> ComparedLine:
    change = change_of(after.rerun_share, before.rerun_share)
    words = [_share_words(part.rerun_share) for part in (after, before)]
    return ComparedLine("reruns", "Test time spent in reruns", *words, change, points(change.difference))


# -- words -------------------------------------------------------------------------------------------------------


def _rate_words(part: int, whole: int, rate: Estimate) -> str:
    if not rate.is_known:
        return "no runs"
    return f"{part:,} of {whole:,}, {wording.percent(rate.value)} ({wording.percents(rate.low, rate.high)})"


def _share_words(share: Estimate) -> str:
    if not share.is_known:
        return TOO_LITTLE
    return f"{wording.percent(share.value)} ({wording.percents(share.low, share.high)})"


def days_words(time: TimeToFix) -> str:
    """The median with its interval; what it is not known of, and why."""
    if not time.fixed:
        return TOO_LITTLE
    if not isfinite(time.median):
        return f"{TOO_LITTLE}: {time.fixed:,} fixed, {time.open:,} open"
    high = f"{time.high:,.1f}" if isfinite(time.high) else "?"
    return f"{time.median:,.1f} ({time.low:,.1f}–{high}), {time.fixed:,} fixed"


def points(difference: Estimate) -> str:
    """A difference of shares in percentage points: "−1.2 points (−2.0 to −0.4)"."""
    if not difference.is_known:
        return ""
    value, low, high = (100 * part for part in (difference.value, difference.low, difference.high))
    return f"{signed(value)} points ({signed(low)} to {signed(high)})"


def _day_words(difference: Estimate) -> str:
    if not difference.is_known:
        return ""
    return f"{signed(difference.value)} days ({signed(difference.low)} to {signed(difference.high)})"


def _ratio_words(ratio: Estimate) -> str:
    """How many times as often."""
    if not ratio.is_known:
        return ""
    if not isfinite(ratio.value):
        return f"at least {_times(ratio.low)} times as often"
    return f"{_times(ratio.value)} times as often ({_times(ratio.low)} to {_times(ratio.high)})"


def _times(ratio: float) -> str:
    """Two digits, and no more decimals than say something."""
    if not isfinite(ratio):
        return "any"
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def signed(value: float) -> str:
    """With a sign, except for what rounds to nothing."""
    text = f"{abs(value):.1f}" if abs(value) >= 0.95 else f"{abs(value):.2g}"
    if float(text) == 0:
        return "0"
    return f"{'+' if value > 0 else '−'}{text}"
