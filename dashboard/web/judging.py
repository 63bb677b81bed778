"""What failed in a run, and to which group each failing test belongs."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analytics.broken import Broken, broken_since
from analytics.columns import Columns
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import State
from analytics.models import Analysis
from analytics.report_vectors import Renames, Vectors, report_vectors, roster_members
from analytics.run_ends import incident_reports
from dashboard.web.analysed import Analysed
from dashboard.web.red import Failing, Group, Standing, group_of
from ingest.models import Project, Report, Run
from ingest.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test failed: the report, and the row in it."""

    report: Report
    vectors: Vectors
    row: int

    @property
    def stored(self) -> int:
        """The test's number in the report, which is an older one where it was renamed."""
        return int(self.vectors.stored[self.row])

    @property
    def verdict(self) -> Verdict:
        return Verdict(int(self.vectors.verdicts[self.row]))


@dataclass(frozen=True)
class JudgedRun:
    """A run with its failing tests judged."""

    run: Run
    reports: Sequence[Report]
    renames: Renames
    tests: int
    standing: Standing
    incidents: Mapping[int, dict[str, object]]
    """By report id: what the analysis says of an incident."""
    failing: Sequence[Failing]
    groups: Mapping[int, Group]
    """By test number."""
    places: Mapping[int, Place]
    """By test number: the first report in which it failed."""

    @cached_property
    def counts(self) -> Counter[Group]:
        return Counter(self.groups.values())

    @cached_property
    def errors(self) -> int:
        return sum(len(report.run_errors) for report in self.reports)

    @property
    def red(self) -> bool:
        return bool(self.failing) or self.errors > 0

    def of(self, group: Group) -> list[Failing]:
        return [one for one in self.failing if self.groups[one.number] is group]


def judge(project: Project, run: Run, analysed: Analysed, quarantined: Container[int] = frozenset()) -> JudgedRun:
    """Read each red report's verdicts once; rows are touched for what is shown, and by others than this."""
    reports = list(Report.objects.filter(run=run).defer("verdicts", "durations", "order").order_by("pk"))
    renames = Renames(project.pk)
    vectors = report_vectors([one.pk for one in reports if one.failed or one.errored], renames)
    standing = standing_of(reports, analysed.analysis)
    incidents = _incidents(reports, analysed.analysis) if standing.judged else {}
    places, outside = _places(reports, vectors, incidents)
    failing = _failing(project, run, analysed, places, outside, renames) if standing.judged else _unjudged(places)
    return JudgedRun(
        run=run,
        reports=reports,
        renames=renames,
        tests=_tests(reports, renames),
        standing=standing,
        incidents=incidents,
        failing=failing,
        groups={one.number: group_of(one, quarantined) for one in failing},
        places=places,
    )


def standing_of(reports: Sequence[Report], analysis: Analysis | None) -> Standing:
    if analysis is None:
        return Standing.UNKNOWN
    if analysis.since is None or analysis.until is None or not reports:
        return Standing.AFTER
    if max(report.started_at for report in reports) < analysis.since:
        return Standing.BEFORE
    return Standing.AFTER if min(report.started_at for report in reports) > analysis.until else Standing.INSIDE


def _incidents(reports: Sequence[Report], analysis: Analysis | None) -> dict[int, dict[str, object]]:
    if analysis is None:
        return {}
    found = incident_reports(analysis).filter(report__in=[report.pk for report in reports])
    return dict(found.values_list("report_id", "data"))


def _tests(reports: Sequence[Report], renames: Renames) -> int:
    """Tests of the run: one that several reports speak of is one."""
    if len({report.roster_id for report in reports}) < 2:
        return reports[0].tests if reports else 0
    members = roster_members({report.roster_id for report in reports}, renames)
    return len(np.unique(np.concatenate([numbers for _, numbers in members.values()])))


def _places(
    reports: Sequence[Report], vectors: Mapping[int, Vectors], incidents: Container[int]
) -> tuple[dict[int, Place], set[int]]:
    """By test number: where it failed; and the tests that failed outside incidents, where those are told first."""
    places: dict[int, Place] = {}
    outside: set[int] = set()
    for report in sorted(reports, key=lambda one: one.pk in incidents):
        if report.pk not in vectors:
            continue
        told = vectors[report.pk]
        rows = np.flatnonzero(told.failing)
        for number, row in zip(told.numbers[rows].tolist(), rows.tolist(), strict=True):
            places.setdefault(number, Place(report, told, row))
        if report.pk not in incidents:
            outside.update(told.numbers[rows].tolist())
    return places, outside


def _unjudged(places: Mapping[int, Place]) -> list[Failing]:
    return [Failing(number) for number in sorted(places)]


def _failing(
    project: Project,
    run: Run,
    analysed: Analysed,
    places: Mapping[int, Place],
    outside: Container[int],
    renames: Renames,
) -> list[Failing]:
    numbers = np.array(sorted(places), dtype=np.int64)
    states = _states(analysed.columns, numbers)
    broken = _broken(project, analysed.analysis, numbers[states == State.BROKEN], renames)
    return [
        Failing(
            number=number,
            incident=number not in outside,
            state=State(state),
            broken=broken.get(number),
            broken_before=_was_broken(broken.get(number), run),
        )
        for number, state in zip(numbers.tolist(), states.tolist(), strict=True)
    ]


def _states(columns: Columns, numbers: Ints) -> Ints:
    """By number; a test that the window does not know was not executed in it."""
    states = np.full(len(numbers), int(State.UNEXECUTED), dtype=np.int64)
    if len(columns) and len(numbers):
        at = np.minimum(np.searchsorted(columns["number"], numbers), len(columns) - 1)
        known = columns["number"][at] == numbers
        states[known] = columns["state"][at[known]]
    return states


def _broken(project: Project, analysis: Analysis | None, numbers: Ints, renames: Renames) -> dict[int, Broken]:
    if analysis is None or analysis.until is None or not len(numbers):
        return {}
    besides = set(incident_reports(analysis).values_list("report_id", flat=True))
    return broken_since(project, numbers, until=analysis.until, renames=renames, besides=besides)


def _was_broken(broken: Broken | None, run: Run) -> bool:
    """Whether it failed on the default branch before this run, at another commit: both have to be named."""
    if broken is None or broken.run == run.pk or not (run.commit and broken.commit):
        return False
    return broken.started_at < run.started_at and broken.commit != run.commit
