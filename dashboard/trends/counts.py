"""What a period comes to: counted from facts, over the tests and runs that a query asks for."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from analytics.kernel.lifecycle import TimeToFix, time_to_fix
from analytics.kernel.trends.comparison import Estimate, share_of_time, wilson
from analytics.trends.spells import Spell
from dashboard.trends.facts import CountedRun, DayFacts, ProjectFacts, TestFacts
from dashboard.trends.periods import Span
from dashboard.trends.query import TrendQuery

Chosen = Callable[[TestFacts], bool]


@dataclass(frozen=True, slots=True)
class CountedSpell:
    project_id: int
    spell: Spell


class SpellColumns:
    """Spells as columns: a page counts them for each of its periods and teams."""

    def __init__(self, spells: Sequence[Spell]) -> None:
        rows = [_spell_row(spell) for spell in spells]
        columns = np.array(rows, dtype=np.float64).reshape(len(rows), 6).T
        self.since, self.last, self.since_day, self.until_day = columns[:4]
        self.again, self.seen = columns[4] > 0, columns[5] > 0

    def count(self, span: Span, end: datetime) -> dict[str, Any]:
        """By the rules of `is_new` and its siblings."""
        first, last = span.first.toordinal(), span.last.toordinal()
        begun = (self.since_day >= first) & (self.since_day <= last)
        fixed = (self.until_day >= first) & (self.until_day <= last)
        still_open = (self.since_day <= last) & (self.until_day > last)
        timed = self.seen & (fixed | still_open)
        days = np.where(fixed, self.last - self.since, np.maximum(end.timestamp() / _DAY_SECONDS - self.since, 0.0))
        return {
            "new": int(np.count_nonzero(begun & ~self.again & self.seen)),
            "reopened": int(np.count_nonzero(begun & self.again)),
            "fixed": int(np.count_nonzero(fixed)),
            "stock": int(np.count_nonzero(still_open)),
            "time": time_to_fix(days[timed], fixed[timed]),
        }


_DAY_SECONDS = 86_400
_NEVER = float(date.max.toordinal()) + 1


def _spell_row(spell: Spell) -> tuple[float, ...]:
    since, last = (moment.timestamp() / _DAY_SECONDS for moment in (spell.since, spell.last))
    until = _NEVER if spell.until is None else spell.until.date().toordinal()
    return since, last, spell.since.date().toordinal(), until, spell.again, spell.seen


@dataclass(frozen=True)
class Selection:
    """What a query leaves of the facts."""

    days: Sequence[DayFacts]
    runs: Sequence[CountedRun]
    """Both by day."""
    spells: Sequence[CountedSpell]

    @cached_property
    def spell_columns(self) -> SpellColumns:
        return SpellColumns([counted.spell for counted in self.spells])

    def runs_in(self, span: Span) -> Sequence[CountedRun]:
        first = bisect_left(self.runs, span.first, key=_day)
        return self.runs[first : bisect_right(self.runs, span.last, lo=first, key=_day)]


def _day(counted: CountedRun) -> date:
    return counted.day


def by_owner(selection: Selection, facts: Iterable[ProjectFacts], span: Span) -> dict[str, Selection]:
    """The same days for every owner, with the span's runs and the spells of their tests; "" has what is nobody's."""
    owners = {project.project.pk: _owners(project) for project in facts}
    found: dict[str, tuple[list[CountedRun], list[CountedSpell]]] = {}

    def parts(owner: str) -> tuple[list[CountedRun], list[CountedSpell]]:
        return found.setdefault(owner, ([], []))

    for counted in selection.runs_in(span):
        known = owners[counted.project_id]
        numbers = (*counted.run.tests, *counted.run.masked)
        theirs = NOBODYS if not known else frozenset().union(*[known.get(number, NOBODYS) for number in numbers])
        for owner in theirs:
            run = counted
            if len(theirs) > 1:
                run = counted.only({number for number in numbers if owner in known.get(number, NOBODYS)}) or counted
            parts(owner)[0].append(run)
    for spell in selection.spells:
        for owner in owners[spell.project_id].get(spell.spell.number, NOBODYS):
            parts(owner)[1].append(spell)
    return {owner: Selection(selection.days, runs, spells) for owner, (runs, spells) in found.items()}


NOBODYS = frozenset([""])


def _owners(facts: ProjectFacts) -> dict[int, frozenset[str]]:
    """Of tests that are somebody's."""
    return {number: test.owners for number, test in facts.tests.items() if test.owners}


def select(facts: Iterable[ProjectFacts], query: TrendQuery) -> Selection:
    """Environment and branch choose runs; owner and suite choose tests."""
    days: list[DayFacts] = []
    runs: list[CountedRun] = []
    spells: list[CountedSpell] = []
    chosen = test_choice(query)
    for project in facts:
        kept = [day for day in project.days if _fits(day, query)]
        numbers = {number for number, test in project.tests.items() if chosen(test)} if query.by_test else None
        days += kept
        for day in kept:
            found = (run if numbers is None else run.only(numbers) for run in day.flaky_runs)
            runs += (run for run in found if run is not None)
        spells += (
            CountedSpell(project.project.pk, spell)
            for spell in project.spells
            if numbers is None or spell.number in numbers
        )
    return Selection(_by_day(days), sorted(runs, key=_day), spells)


def _by_day(days: Iterable[DayFacts]) -> list[DayFacts]:
    """All environments and branches of a day together, without its flaky runs."""
    sums: dict[date, list[float]] = {}
    for day in days:
        total = sums.setdefault(day.day, [0, 0, 0, 0.0, 0.0])
        for place, amount in enumerate(day[3:8]):
            total[place] += amount
    return [DayFacts(day, "", "", *map(int, total[:3]), *total[3:], ()) for day, total in sorted(sums.items())]


def test_choice(query: TrendQuery) -> Chosen:
    owner = query.owner.casefold()

    def chosen(test: TestFacts) -> bool:
        if owner and owner not in {name.casefold() for name in test.owners}:
            return False
        return not query.suite or test.suite == query.suite

    return chosen


def _fits(day: DayFacts, query: TrendQuery) -> bool:
    return query.environment in ("", day.environment) and query.branch in ("", day.branch)


# -- a period ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PeriodCounts:
    """A period in numbers; rates with what they rest on."""

    span: Span
    runs: int
    failed: int
    flaky: int
    """Runs that failed by flakiness alone, with a failure of a chosen test."""
    blocked: int
    masked: int
    """Runs in which a quarantine masked a failure."""
    saved: int
    """Of those, the runs that nothing else would have blocked."""
    saved_seconds: float
    """The time of their tests: what it would have taken to run them once more."""
    seconds: float
    rerun_seconds: float
    new: int
    reopened: int
    fixed: int
    stock: int
    """Tests that are flaky at the end of the period."""
    time: TimeToFix
    """Of tests fixed in the period, and of those that are open at its end: they take longer. A spell whose beginning is
    not seen says nothing about how long it took."""
    rerun_share: Estimate = field(repr=False)

    @property
    def flaky_rate(self) -> Estimate:
        return wilson(self.flaky, self.runs)


def count(selection: Selection, span: Span, now: datetime) -> PeriodCounts:
    days = [day for day in selection.days if day.day in span]
    runs = [counted.run for counted in selection.runs_in(span)]
    saved = [run for run in runs if run.is_saved]
    return PeriodCounts(
        span=span,
        runs=sum(day.runs for day in days),
        failed=sum(day.failed for day in days),
        flaky=sum(run.is_flaky for run in runs),
        blocked=sum(run.is_blocked for run in runs),
        masked=sum(bool(run.masked) for run in runs),
        saved=len(saved),
        saved_seconds=sum(run.seconds for run in saved),
        seconds=sum(day.seconds for day in days),
        rerun_seconds=sum(day.rerun_seconds for day in days),
        **selection.spell_columns.count(span, _end(span, now)),
        rerun_share=_rerun_share(days),
    )


def is_new(spell: Spell, span: Span) -> bool:
    """Only where it is seen that it was not flaky before."""
    return not spell.again and spell.seen and spell.since.date() in span


def is_reopened(spell: Spell, span: Span) -> bool:
    return spell.again and spell.since.date() in span


def is_fixed(spell: Spell, span: Span) -> bool:
    return spell.until is not None and spell.until.date() in span


def is_open(spell: Spell, span: Span) -> bool:
    """Flaky at the end of the span."""
    return spell.since.date() <= span.last and (spell.until is None or spell.until.date() > span.last)


def _end(span: Span, now: datetime) -> datetime:
    return min(datetime.combine(span.last, time.min, UTC) + timedelta(days=1), now)


def _rerun_share(days: Iterable[DayFacts]) -> Estimate:
    by_day: dict[date, list[float]] = {}
    for day in days:
        sums = by_day.setdefault(day.day, [0.0, 0.0])
        sums[0] += day.rerun_seconds
        sums[1] += day.seconds
    part, whole = (np.array([sums[place] for sums in by_day.values()], dtype=np.float64) for place in (0, 1))
    return share_of_time(part, whole)
