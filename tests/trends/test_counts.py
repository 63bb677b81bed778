"""A period in numbers, and the words for it: no database needed."""

from datetime import UTC, date, datetime

import pytest

from analytics.kernel.trends.comparison import UNKNOWN, Estimate
from analytics.trends.failures import BLOCKED, FLAKY, SAVED, FlakyRun
from analytics.trends.spells import Spell
from dashboard.trends.comparison import compare, flaky_change, points, signed
from dashboard.trends.counts import CountedSpell, PeriodCounts, Selection, count, select
from dashboard.trends.facts import CountedRun, DayFacts, ProjectFacts, TestFacts, owners_in
from dashboard.trends.periods import Comparison, Span
from dashboard.trends.query import TrendDays, TrendQuery
from dashboard.trends.trend import Choices, Saved, TeamRow, Trend, TrendPeriod
from dashboard.web.insights.trend_leads import not_counted, span_words, trend_lead
from ingest.identity import TestName
from ingest.models import Project

MAY = Span(date(2026, 5, 1), date(2026, 5, 31))
APRIL = Span(date(2026, 4, 1), date(2026, 4, 30))
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def at(month: int, day: int) -> datetime:
    return datetime(2026, month, day, 12, tzinfo=UTC)


def counts(span: Span, runs: int = 0, flaky: int = 0, spells: list[Spell] | None = None) -> PeriodCounts:
    days = [DayFacts(span.first, "", "", runs, flaky, flaky, 100.0, 5.0, ())]
    found = [CountedRun(1, span.first, FlakyRun(place, FLAKY, 1.0, [3], [])) for place in range(flaky)]
    return count(Selection(days, found, [CountedSpell(1, spell) for spell in spells or []]), span, NOW)


def test_spells_count_where_they_begin_and_end() -> None:
    spells = [
        Spell(1, at(5, 3), at(5, 9), at(5, 20)),
        Spell(2, at(5, 3), at(5, 9), again=True),
        Spell(3, at(4, 3), at(4, 9), at(5, 2)),
        Spell(4, at(4, 3), at(5, 9), at(6, 1), seen=False),
        Spell(5, at(4, 3), at(4, 5), at(4, 20)),
    ]
    may, april = counts(MAY, spells=spells), counts(APRIL, spells=spells)
    assert (may.new, may.reopened, may.fixed, may.stock) == (1, 1, 2, 2)
    assert (april.new, april.reopened, april.fixed, april.stock) == (2, 0, 1, 2), "the fourth may be older"
    assert (may.time.fixed, may.time.open) == (2, 1) and may.time.plain_median == 6
    assert may.time.plain_mean == pytest.approx((6 + 6) / 2)


def test_runs_are_counted_by_what_became_of_them() -> None:
    runs = (
        FlakyRun(1, FLAKY | BLOCKED, 60.0, [1], []),
        FlakyRun(2, FLAKY | SAVED, 30.0, [], [2]),
        FlakyRun(3, BLOCKED, 10.0, [2], [1]),
    )
    tests = {
        number: TestFacts(TestName(number), owners_in(owner), "s") for number, owner in ((1, "@a @b"), (2, "Team C"))
    }
    counted = tuple(CountedRun(1, MAY.first, run) for run in runs)
    days = [DayFacts(MAY.first, "linux", "~default", 9, 4, 2, 500.0, 20.0, counted)]
    facts = [ProjectFacts(Project(pk=1), days, [], tests)]

    def of(**filters: str) -> tuple[int, ...]:
        found = count(select(facts, TrendQuery(**filters)), MAY, NOW)
        return found.runs, found.flaky, found.blocked, found.masked, found.saved

    assert of() == (9, 2, 2, 2, 1)
    assert of(owner="@A") == of(owner="@b") == (9, 1, 1, 1, 0)
    assert of(owner="team c") == (9, 1, 1, 1, 1)
    assert of(environment="linux") == of() and of(environment="macos") == (0, 0, 0, 0, 0) == of(branch="~pulls")


# -- words -------------------------------------------------------------------------------------------------------


def trend(after: PeriodCounts, before: PeriodCounts, teams: list[TeamRow] | None = None, **query: str) -> Trend:
    days = TrendDays(MAY, Comparison(after.span, before.span), MAY)
    whole = TrendPeriod("", after, Saved(0, 0.0, 0.0, {}))
    nothing = Choices((), (), (), ()), (), Selection((), (), ())
    return Trend(TrendQuery(**query), days, (), whole, after, before, (), teams or (), *nothing)


@pytest.mark.parametrize(
    ("after", "before", "words"),
    [
        ((1_000, 50), (1_000, 200), "Better than last month."),
        ((1_000, 200), (1_000, 50), "Worse than last month."),
        ((100, 10), (100, 12), "No clear change since last month."),
        ((100, 10), (0, 0), "Not enough data to compare with last month."),
        ((0, 0), (100, 12), "There were no runs in 1–31 May 2026."),
    ],
)
def test_the_first_sentence_answers(after: tuple[int, int], before: tuple[int, int], words: str) -> None:
    assert words in trend_lead(trend(counts(MAY, *after), counts(APRIL, *before)))


def test_the_first_sentence_names_teams_of_which_a_change_is_clear() -> None:
    many, few = counts(MAY, 1_000, 200), counts(MAY, 1_000, 50)
    both = (("@<a>", few, many), ("@b", many, many), ("", many, few))
    judged = [TeamRow(owner, after, before, flaky_change(after, before)) for owner, after, before in both]
    lead = trend_lead(trend(many, many, judged))
    assert "Better: <bdi>@&lt;a&gt;</bdi>." in lead and "Worse" not in lead and "@b" not in lead
    assert "Of no team a change is clear." in trend_lead(trend(many, many, [judged[1], judged[1]]))
    assert "Better:" not in trend_lead(trend(many, many, judged, owner="@a"))


def test_lines_say_what_is_not_known() -> None:
    lines = {line.key: line for line in compare(counts(MAY, 100, 10), counts(APRIL, 0, 0))}
    assert lines["flaky"].before == "no runs" and lines["flaky"].change.word == "not enough data"
    assert lines["stock"].change.word == "" and lines["new"].change.word == "not enough data"
    assert lines["time"].after == "not enough data" and lines["reruns"].after == "not enough data"
    assert "reruns" not in {line.key for line in compare(counts(MAY), counts(APRIL), by_test=True)}


def test_paces_are_told_in_few_digits() -> None:
    spells = [Spell(number, at(5, 3), at(5, 9)) for number in range(4)]
    line = next(
        line for line in compare(counts(MAY, spells=spells), counts(APRIL, spells=spells[:0])) if line.key == "new"
    )
    assert line.difference.startswith("at least 0.") and line.difference.endswith(" times as often")
    few = counts(APRIL, spells=[Spell(9, at(4, 3), at(4, 4), at(4, 9))])
    line = next(line for line in compare(counts(MAY, spells=spells), few) if line.key == "new")
    assert line.difference == "3.9 times as often (0.38 to 191)"


def test_differences_have_a_sign() -> None:
    assert [signed(value) for value in (0.0, 1.25, -12.0, 0.049, -0.0)] == ["0", "+1.2", "−12.0", "+0.049", "0"]
    assert points(Estimate(-0.012, -0.02, 0.004)) == "−1.2 points (−2.0 to +0.4)" and points(UNKNOWN) == ""


def test_days_are_written_as_people_do() -> None:
    assert span_words(MAY) == "1–31 May 2026"
    assert span_words(Span(date(2026, 4, 27), date(2026, 5, 3))) == "27 Apr – 3 May 2026"
    assert span_words(Span(date(2025, 12, 29), date(2026, 1, 4))) == "29 Dec 2025 – 4 Jan 2026"
    assert span_words(Span(MAY.first, MAY.first)) == "1 May 2026"


def test_a_filter_says_what_it_does_not_apply_to() -> None:
    assert not_counted(TrendQuery()) == ""
    assert "all environments" in not_counted(TrendQuery(branch="main")) and "all runs" in not_counted(
        TrendQuery(owner="@a")
    )
