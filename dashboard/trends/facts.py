"""What is stored of trends, read for one project or for several at once."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Count, Max, Min

from analytics.kernel.suite_bounds import suite_of
from analytics.trends.failures import FlakyRun
from analytics.trends.models import FlakySpell, TrendDay
from analytics.trends.spells import SPELL_COLUMNS, Spell
from dashboard.quarantine.owners.index import RuleOfMany
from dashboard.quarantine.owners.store import owner_books
from dashboard.trends.periods import Span
from ingest.identity import TEST_NAME_FIELDS, TestName
from ingest.models import Project, Test


@dataclass(frozen=True, slots=True)
class CountedRun:
    """A run with a flaky failure."""

    project_id: int
    day: date
    run: FlakyRun

    def only(self, numbers: Container[int]) -> "CountedRun | None":
        """With these tests alone; None where none of them failed in it."""
        run = self.run.only(numbers)
        return None if run is None else CountedRun(self.project_id, self.day, run)


class DayFacts(NamedTuple):
    """The runs of a day in one environment and of one branch."""

    day: date
    environment: str
    branch: str
    runs: int
    failed: int
    flaky: int
    seconds: float
    rerun_seconds: float
    flaky_runs: tuple[CountedRun, ...]


@dataclass(frozen=True, slots=True)
class TestFacts:
    """Whose a test is, and where it belongs."""

    __test__ = False  # the name means something to pytest

    name: TestName
    owners: frozenset[str]
    """As they are written; empty for nobody's."""
    suite: str


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    project: Project
    days: Sequence[DayFacts]
    spells: Sequence[Spell]
    tests: Mapping[int, TestFacts]
    """Those that days and spells name, by number."""


def known_days(projects: Iterable[Project]) -> Span | None:
    """From the first to the last day of which anything is stored."""
    ends = TrendDay.objects.filter(project__in=list(projects)).aggregate(Min("day"), Max("day"))
    return None if ends["day__min"] is None else Span(ends["day__min"], ends["day__max"])


def load_facts(projects: Sequence[Project], span: Span) -> list[ProjectFacts]:
    """Days of the span, and spells that reach into it: eight queries at most, however many projects there are."""
    renamed = _renames(projects)
    stored = _stored_days(_version(projects), span)
    days = {project.pk: _renamed_days(stored.get(project.pk, ()), renamed.get(project.pk, {})) for project in projects}
    spells: dict[int, list[Spell]] = {project.pk: [] for project in projects}
    begin = datetime.combine(span.first, datetime.min.time(), UTC)
    found = FlakySpell.objects.filter(project__in=projects).exclude(until__lt=begin).order_by("since", "number")
    for project_id, number, *rest in found.values_list("project_id", *SPELL_COLUMNS):
        spells[project_id].append(Spell(renamed.get(project_id, {}).get(number, number), *rest))
    tests = _tests(projects, {pk: _numbers(days[pk], spells[pk]) for pk in days})
    return [ProjectFacts(project, days[project.pk], spells[project.pk], tests[project.pk]) for project in projects]


Version = tuple[tuple[int, int, int], ...]


def _version(projects: Sequence[Project]) -> Version:
    """By project: the newest of its rows and how many there are. Rows are replaced and never changed, so it tells
    whether any is another."""
    rows = TrendDay.objects.filter(project__in=projects).values("project_id").order_by("project_id")
    return tuple(rows.annotate(newest=Max("pk"), rows=Count("pk")).values_list("project_id", "newest", "rows"))


@lru_cache(maxsize=8)
def _stored_days(version: Version, span: Span) -> Mapping[int, Sequence[DayFacts]]:
    """By project, kept while nothing changes: to read runs by the thousand takes longer than to count them."""
    days: dict[int, list[DayFacts]] = {}
    ids = [project_id for project_id, *_ in version]
    rows = TrendDay.objects.filter(project__in=ids, day__range=(span.first, span.last)).order_by("day")
    for project_id, *counts, failures in rows.values_list("project_id", *DayFacts._fields[:-1], "failures"):
        flaky_runs = tuple(CountedRun(project_id, counts[0], FlakyRun.stored(row)) for row in failures)
        days.setdefault(project_id, []).append(DayFacts(*counts, flaky_runs))
    return days


def _renamed_days(days: Sequence[DayFacts], now: Mapping[int, int]) -> Sequence[DayFacts]:
    if not now:
        return days
    return [day._replace(flaky_runs=tuple(_renamed(run, now) for run in day.flaky_runs)) for day in days]


def _renames(projects: Sequence[Project]) -> dict[int, dict[int, int]]:
    """By project: the number that a renamed test has now."""
    renamed: dict[int, dict[int, int]] = {}
    rows = Test.objects.filter(project__in=projects, alias_of__isnull=False)
    for project_id, number, now in rows.values_list("project_id", "number", "alias_of__number"):
        renamed.setdefault(project_id, {})[number] = now
    return renamed


def _renamed(counted: CountedRun, now: Mapping[int, int]) -> CountedRun:
    run = counted.run
    tests, masked = ([now.get(number, number) for number in part] for part in (run.tests, run.masked))
    return CountedRun(counted.project_id, counted.day, run._replace(tests=tests, masked=masked))


def _numbers(days: Iterable[DayFacts], spells: Iterable[Spell]) -> set[int]:
    runs = (counted.run for day in days for counted in day.flaky_runs)
    failing = {number for flaky_run in runs for number in (*flaky_run.tests, *flaky_run.masked)}
    return failing | {spell.number for spell in spells}


def owners_in(owner: str) -> frozenset[str]:
    """Several of one line of CODEOWNERS are several teams; a name with blanks that somebody wrote is one."""
    words = owner.split()
    return frozenset(words if all("@" in word for word in words) else [owner])


def _tests(projects: Sequence[Project], numbers: Mapping[int, set[int]]) -> dict[int, dict[int, TestFacts]]:
    """By project and number; tests of all projects are read by one query, those with equal numbers included."""
    rules = {project_id: RuleOfMany(book) for project_id, book in owner_books(projects).items()}
    found: dict[int, dict[int, TestFacts]] = {project.pk: {} for project in projects}
    every = set().union(*numbers.values()) if numbers else set()
    rows = Test.objects.filter(project__in=projects, number__in=every)
    for project_id, *fields in rows.values_list("project_id", *TEST_NAME_FIELDS):
        name = TestName(*fields)
        if name.number in numbers[project_id]:
            owners = owners_in(rules[project_id].of(name).owner)
            found[project_id][name.number] = TestFacts(name, owners, suite_of(name.suite, name.classname))
    return found
