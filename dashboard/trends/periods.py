"""Weeks, months, and the two periods that are compared. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

WEEK, MONTH = "week", "month"
UNITS = (WEEK, MONTH)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """Days, both ends included."""

    first: date
    last: date

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def cut(self, within: "Span") -> "Span":
        return Span(max(self.first, within.first), min(self.last, within.last))


def spans(within: Span, unit: str) -> list[Span]:
    """The weeks or months of these days; the first and the last may be cut."""
    return [span.cut(within) for span in _whole_spans(within, unit)]


def _whole_spans(within: Span, unit: str) -> Iterator[Span]:
    first = _start(within.first, unit)
    while first <= within.last:
        following = _start(first + timedelta(days=7 if unit == WEEK else 32), unit)
        yield Span(first, following - _DAY)
        first = following


def _start(day: date, unit: str) -> date:
    return day - timedelta(days=day.weekday()) if unit == WEEK else day.replace(day=1)


def title_of(span: Span, unit: str) -> str:
    """As in "2026-10", or the Monday with which a week begins."""
    return f"{span.first:%Y-%m}" if unit == MONTH else _start(span.first, WEEK).isoformat()


# -- two periods -------------------------------------------------------------------------------------------------

BY_MONTH, BY_30_DAYS, BY_WEEK, BY_RANGE = "month", "30-days", "week", "range"
COMPARISONS = {
    BY_MONTH: "this month with last month",
    BY_30_DAYS: "the last 30 days with the 30 before",
    BY_WEEK: "this week with last week",
    BY_RANGE: "the chosen days with as many before",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    after: Span
    before: Span


def comparison_of(kind: str, chosen: Span) -> Comparison:
    """The two periods; "this" month or week is that of the last of the chosen days."""
    last = chosen.last
    if kind in (BY_MONTH, BY_WEEK):
        unit = MONTH if kind == BY_MONTH else WEEK
        after = Span(_start(last, unit), last)
        return Comparison(after, Span(_start(after.first - _DAY, unit), after.first - _DAY))
    after = chosen if kind == BY_RANGE else Span(last - timedelta(days=29), last)
    return Comparison(after, Span(after.first - timedelta(days=after.days), after.first - _DAY))
