"""What a reader asks of trends: days, unit, comparison and filters, as an address or a request of the API says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from dashboard.trends.periods import BY_MONTH, COMPARISONS, UNITS, WEEK, Comparison, Span, comparison_of

_LONGEST = 255
WEEKS_SHOWN = 26
"""Where no days are asked for: half a year."""
MOST_DAYS = 800
"""As long as trends are kept."""


@dataclass(frozen=True, slots=True)
class TrendQuery:
    first: date | None = None
    last: date | None = None
    unit: str = WEEK
    compare: str = BY_MONTH
    owner: str = ""
    environment: str = ""
    branch: str = ""
    """A name, or one of the signs of `analytics.trends.models`."""
    suite: str = ""

    @classmethod
    def read(cls, values: Mapping[str, str]) -> "TrendQuery":
        """A hand-written address is never an error: what makes no sense is left out."""

        def text(name: str) -> str:
            return str(values.get(name) or "").replace("\0", "").strip()[:_LONGEST]

        return cls(
            first=_date(text("from")),
            last=_date(text("to")),
            unit=text("by") if text("by") in UNITS else WEEK,
            compare=text("compare") if text("compare") in COMPARISONS else BY_MONTH,
            **{name: text(name) for name in FILTERS},
        )

    @property
    def is_narrowed(self) -> bool:
        return any(getattr(self, name) for name in FILTERS)

    @property
    def by_test(self) -> bool:
        """Whether only some tests are counted."""
        return bool(self.owner or self.suite)

    @property
    def by_run(self) -> bool:
        """Whether only some runs are counted."""
        return bool(self.environment or self.branch)


FILTERS = ("owner", "environment", "branch", "suite")


def _date(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if 1971 <= found.year <= 9000 else None


@dataclass(frozen=True, slots=True)
class TrendDays:
    """The days that are shown, and the two periods that are compared."""

    shown: Span
    comparison: Comparison
    known: Span = field(repr=False)
    """Days of which anything is known."""

    @property
    def needed(self) -> Span:
        """All days that are counted."""
        return Span(min(self.shown.first, self.comparison.before.first), self.shown.last)


def days_asked(query: TrendQuery, known: Span) -> TrendDays:
    """Without an end the newest known day, without a beginning half a year before it or the oldest known day."""
    last = query.last or known.last
    first = query.first or max(last - timedelta(weeks=WEEKS_SHOWN), min(known.first, last))
    first = min(max(first, last - timedelta(days=MOST_DAYS)), last)
    shown = Span(first, last)
    return TrendDays(shown, comparison_of(query.compare, shown), known)
