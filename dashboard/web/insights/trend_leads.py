"""The first sentence of a page of trends: is it better, and of which team is that true?"""

from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analytics import wording
from analytics.kernel.trends.comparison import BETTER, TOO_LITTLE, WORSE
from dashboard.trends.counts import PeriodCounts
from dashboard.trends.periods import BY_MONTH, BY_WEEK, Span
from dashboard.trends.query import TrendQuery
from dashboard.trends.trend import TeamRow, Trend
from dashboard.web.page_context import NOTHING, isolated, joined

_BEFORE = {BY_MONTH: "last month", BY_WEEK: "last week"}


def span_words(span: Span) -> str:
    """As in "1–18 Nov 2026", or "28 Sep – 4 Oct 2026"."""
    if span.days == 1:
        return str(date_format(span.first, "j M Y"))
    if (span.first.year, span.first.month) == (span.last.year, span.last.month):
        return f"{span.first.day}–{date_format(span.last, 'j M Y')}"
    same_year = span.first.year == span.last.year
    return f"{date_format(span.first, 'j M' if same_year else 'j M Y')} – {date_format(span.last, 'j M Y')}"


def trend_lead(trend: Trend) -> SafeString:
    """The answer for all that is chosen, with both rates; then which teams changed."""
    change, after, before = trend.change, trend.after, trend.before
    period = _BEFORE.get(trend.query.compare, "before")
    answers = {
        BETTER: format_html('<strong class="verdict-pass">Better than {}.</strong>', period),
        WORSE: format_html('<strong class="verdict-fail">Worse than {}.</strong>', period),
        TOO_LITTLE: format_html("<strong>Not enough data to compare with {}.</strong>", period),
    }
    answer = answers.get(change.word) or format_html("<strong>No clear change since {}.</strong>", period)
    return joined((answer, _rates(after, before), _teams(trend)))


def _rates(after: PeriodCounts, before: PeriodCounts) -> str:
    if not after.runs:
        return f"There were no runs in {span_words(after.span)}."
    sentence = f"Flaky tests failed {_rate(after)} in {span_words(after.span)}"
    if not before.runs:
        return f"{sentence}; of {span_words(before.span)} no run is known."
    return f"{sentence}, and {_rate(before)} in {span_words(before.span)}."


def _rate(counts: PeriodCounts) -> str:
    rate = counts.flaky_rate
    runs, ends = wording.counted(counts.runs, "run"), wording.percents(rate.low, rate.high)
    return f"{wording.percent(rate.value)} of {runs} ({ends})"


def _teams(trend: Trend) -> SafeString:
    """Only teams of which a change is clear; all are in the table."""
    if trend.query.owner:
        return NOTHING
    better, worse = (_names(trend.teams, word) for word in (BETTER, WORSE))
    parts = [format_html("{}: {}.", title, names) for title, names in (("Better", better), ("Worse", worse)) if names]
    if not parts and sum(bool(team.owner) for team in trend.teams) > 1:
        return format_html("{}", "Of no team a change is clear.")
    return joined(parts)


def _names(teams: "list[TeamRow] | tuple[TeamRow, ...]", word: str) -> SafeString:
    names = [isolated(team.owner) for team in teams if team.owner and team.change.word == word]
    return joined(names, ", ")


def not_counted(query: TrendQuery) -> str:
    """What a filter does not apply to, in words; empty where it applies to everything."""
    parts = []
    if query.by_run:
        parts.append("New, fixed and reopened tests and the time to fix are of all environments and branches.")
    if query.by_test:
        parts.append("Shares of runs are of all runs, whether or not they ran these tests.")
    return " ".join(parts)
