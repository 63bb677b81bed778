"""A run with its failing tests judged: what each is, where it failed, and how the run stands to the analysis."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from analytics.columns.codec import Columns
from analytics.models import Analysis
from analytics.runs.failing_tests import Excuse, FailureFacts, Group, Standing, group_of
from analytics.runs.failure_facts import RunReports, facts_of, repeated_before, standing_of
from analytics.runs.incident_findings import incident_reports
from analytics.runs.report_vectors import Renames, Vectors, roster_members
from ingest.models import Project, Report, Run
from ingest.verdict import Verdict


@dataclass(frozen=True, slots=True)
class FailedCase:
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
    standing: Standing
    incidents: Mapping[int, dict[str, object]]
    """By report id: what the analysis says of an incident."""
    failing: Sequence[FailureFacts]
    groups: Mapping[int, Group]
    """By test number."""
    places: Mapping[int, FailedCase]
    """By test number: the first report in which it failed."""
    default_branch: str
    excuses: Mapping[int, Excuse] = field(default_factory=dict)
    """By test number: its quarantine, expired or not."""

    @cached_property
    def tests(self) -> int:
        """Tests of the run: one that several reports speak of is one."""
        rosters = {report.roster_id for report in self.reports}
        if len(rosters) < 2:
            return self.reports[0].tests if self.reports else 0
        members = roster_members(rosters, self.renames)
        return len(np.unique(np.concatenate([numbers for _, numbers in members.values()])))

    @cached_property
    def run_ids(self) -> set[int]:
        return {self.run.pk, *(report.run_id for report in self.reports)}

    @cached_property
    def counts(self) -> Counter[Group]:
        return Counter(self.groups.values())

    @cached_property
    def errors(self) -> int:
        return sum(len(report.run_errors) for report in self.reports)

    @property
    def red(self) -> bool:
        return bool(self.failing) or self.errors > 0

    @cached_property
    def guesses_incident(self) -> bool:
        """Whether its incident is our guess, which the next analysis confirms or not."""
        return any(facts.bulk for facts in self.of(Group.INCIDENT))

    @cached_property
    def broken_branch(self) -> str:
        """The branch on which tests were broken before: the default branch, unless nothing ran on it."""
        before = (facts.broken for facts in self.failing if facts.broken_before and facts.broken is not None)
        return next((broken.branch for broken in before if broken.branch), self.default_branch)

    def of(self, group: Group) -> list[FailureFacts]:
        return [facts for facts in self.failing if self.groups[facts.number] is group]


def judge(
    project: Project,
    run: Run,
    content: RunReports,
    analysis: Analysis | None,
    columns: Columns,
    excuses: Mapping[int, Excuse] | None = None,
) -> JudgedRun:
    """Say what each failing test of the run is; `excuses` by test number."""
    (judged,) = judge_all(project, [(run, content)], analysis, columns)
    return with_excuses(project, judged, excuses or {})


def judge_all(
    project: Project, parts: Sequence[tuple[Run, RunReports]], analysis: Analysis | None, columns: Columns
) -> list[JudgedRun]:
    """Runs with their reports, judged by what the project knows once; without quarantines."""
    standings = [standing_of(content.every, analysis) for _, content in parts]
    seen = [content for (_, content), standing in zip(parts, standings, strict=True) if standing.judged]
    incidents = _incidents([report for content in seen for report in content.every], analysis) if seen else {}
    facts = facts_of(project, parts, analysis, columns, incidents)
    found = []
    for (run, content), standing, failing in zip(parts, standings, facts, strict=True):
        own = {report.pk: incidents[report.pk] for report in content.every if report.pk in incidents}
        places = _places(content, own)
        judged = JudgedRun(
            run=run,
            reports=content.reports,
            renames=content.renames,
            standing=standing,
            incidents=own,
            failing=[fact for fact in failing if fact.number in places],
            groups={},
            places=places,
            default_branch=project.default_branch,
        )
        found.append(judged)
    return found


def with_excuses(project: Project, judged: JudgedRun, excuses: Mapping[int, Excuse]) -> JudgedRun:
    """The same run judged with these quarantines."""
    doubtful = {
        facts.number: excuse.made_at
        for facts in judged.failing
        if facts.ambiguous and (excuse := excuses.get(facts.number)) is not None and excuse.made_at is not None
    }
    repeated = repeated_before(project, doubtful)
    failing = [replace(facts, ambiguous=facts.ambiguous and facts.number not in repeated) for facts in judged.failing]
    groups = {facts.number: group_of(facts, excuses.get(facts.number)) for facts in failing}
    return replace(judged, failing=failing, groups=groups, excuses=excuses)


def _incidents(reports: Sequence[Report], analysis: Analysis | None) -> dict[int, dict[str, object]]:
    if analysis is None:
        return {}
    found = incident_reports(analysis).filter(report__in=[report.pk for report in reports])
    return dict(found.values_list("report_id", "data"))


def _places(content: RunReports, incidents: Container[int]) -> dict[int, FailedCase]:
    """By test number: where it failed in the run itself, reports outside incidents first."""
    places: dict[int, FailedCase] = {}
    for report in sorted(content.reports, key=lambda report: report.pk in incidents):
        if (vectors := content.vectors.get(report.pk)) is None:
            continue
        rows = np.flatnonzero(vectors.failing)
        for number, row in zip(vectors.numbers[rows].tolist(), rows.tolist(), strict=True):
            places.setdefault(number, FailedCase(report, vectors, row))
    return places
