"""A trend as pages and API show it: periods, two of them compared, and the same by owner."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings

from analytics.kernel.trends.comparison import Change
from analytics.money import Prices, prices_of
from analytics.trends.models import DEFAULT_BRANCH, PULL_REQUESTS
from dashboard.trends.comparison import ComparedLine, compare, flaky_change
from dashboard.trends.counts import PeriodCounts, Selection, by_owner, count, select
from dashboard.trends.facts import ProjectFacts, known_days, load_facts
from dashboard.trends.periods import Span, spans, title_of
from dashboard.trends.query import TrendDays, TrendQuery, days_asked
from ingest.models import Project

BRANCH_LABELS = {DEFAULT_BRANCH: "the default branch", PULL_REQUESTS: "all pull requests"}
_MOST_CHOICES = 100


@dataclass(frozen=True, slots=True)
class TrendPeriod:
    title: str
    counts: PeriodCounts
    saved: "Saved"


@dataclass(frozen=True, slots=True)
class Saved:
    """What quarantine saved: runs that nobody had to look into and start again."""

    runs: int
    person_hours: float
    machine_hours: float
    money: dict[str, float]
    """By currency."""

    @property
    def hours(self) -> float:
        return self.person_hours + self.machine_hours


@dataclass(frozen=True, slots=True)
class TeamRow:
    """An owner in both periods; `owner` is empty for tests that are nobody's."""

    owner: str
    after: PeriodCounts
    before: PeriodCounts
    change: Change


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters offer."""

    owners: Sequence[str]
    environments: Sequence[str]
    branches: Sequence[tuple[str, str]]
    suites: Sequence[str]


@dataclass(frozen=True, slots=True)
class Trend:
    query: TrendQuery
    days: TrendDays
    periods: Sequence[TrendPeriod]
    whole: TrendPeriod
    """All days that are shown."""
    after: PeriodCounts
    before: PeriodCounts
    lines: Sequence[ComparedLine]
    teams: Sequence[TeamRow]
    choices: Choices
    facts: Sequence[ProjectFacts]
    selection: Selection

    @property
    def team_top(self) -> float:
        """The end of the scale on which teams are drawn."""
        rates = [part.flaky_rate.high for row in self.teams for part in (row.after, row.before) if part.runs]
        return max(rates, default=1.0)

    @property
    def change(self) -> Change:
        """Of runs that failed by flakiness."""
        return flaky_change(self.after, self.before)


def trend_of(projects: Iterable[Project], query: TrendQuery) -> Trend | None:
    """None where nothing is stored yet, which the first analysis changes."""
    every = list(projects)
    known = known_days(every)
    if known is None:
        return None
    days = days_asked(query, known)
    facts = load_facts(every, days.needed)
    selection = select(facts, query)
    now = datetime.combine(known.last, datetime.max.time(), UTC)
    prices = {project.pk: prices_of(project) for project in every}

    def period(span: Span, title: str) -> TrendPeriod:
        return TrendPeriod(title, count(selection, span, now), saved_in(selection, span, prices))

    after, before = (count(selection, span, now) for span in (days.comparison.after, days.comparison.before))
    return Trend(
        query=query,
        days=days,
        periods=[period(span, title_of(span, query.unit)) for span in spans(days.shown, query.unit)],
        whole=period(days.shown, ""),
        after=after,
        before=before,
        lines=compare(after, before, by_test=query.by_test),
        teams=_teams(selection, facts, days, now),
        choices=_choices(facts),
        facts=facts,
        selection=selection,
    )


def _teams(selection: Selection, facts: Sequence[ProjectFacts], days: TrendDays, now: datetime) -> list[TeamRow]:
    """Owners with anything flaky in either period, those with the most runs failed first."""
    rows, both = [], Span(days.comparison.before.first, days.comparison.after.last)
    for owner, theirs in by_owner(selection, facts, both).items():
        after, before = (count(theirs, span, now) for span in (days.comparison.after, days.comparison.before))
        if any(part.flaky or part.stock or part.new or part.fixed or part.masked for part in (after, before)):
            rows.append(TeamRow(owner, after, before, flaky_change(after, before)))
    return sorted(rows, key=lambda row: (-row.after.flaky, -row.after.stock, row.owner))


def saved_in(selection: Selection, span: Span, prices: dict[int, Prices]) -> Saved:
    """Runs that only masked failures would have blocked: each would have been looked into and run once more."""
    runs, seconds, money = 0, 0.0, dict[str, float]()
    for counted in selection.runs_in(span):
        if counted.run.is_saved:
            price = prices[counted.project_id]
            runs, seconds = runs + 1, seconds + counted.run.seconds
            spared = price.failure + price.minute * counted.run.seconds / 60
            money[price.currency] = money.get(price.currency, 0.0) + spared
    return Saved(runs, runs * settings.DEVELOPER_MINUTES / 60, seconds / 3600, money)


def _choices(facts: Sequence[ProjectFacts]) -> Choices:
    tests = [test for project in facts for test in project.tests.values()]
    days = [day for project in facts for day in project.days]
    branches = dict.fromkeys(day.branch for day in sorted(days, key=lambda day: day.day, reverse=True))
    ordered = sorted(branches, key=lambda branch: branch not in BRANCH_LABELS)[:_MOST_CHOICES]
    return Choices(
        owners=sorted({owner for test in tests for owner in test.owners}, key=str.casefold)[:_MOST_CHOICES],
        environments=sorted({day.environment for day in days if day.environment})[:_MOST_CHOICES],
        branches=[(branch, BRANCH_LABELS.get(branch, branch)) for branch in ordered],
        suites=sorted({test.suite for test in tests if test.suite})[:_MOST_CHOICES],
    )
