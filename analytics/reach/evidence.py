"""What touching says of failures in a project: ratios by its own judged failures, and untouched code as evidence.

After Bell 2018. Never for the gate. See docs/reach.md#untouched-code-as-evidence."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from django.utils import timezone

from analytics.reach.models import TouchedFailure
from analytics.reach.ratios import JudgedFailure, Ratios, ratios
from analytics.reach.touches import Answer
from analytics.runs.report_vectors import Renames, report_vectors
from ingest.models import Project, Report
from ingest.verdict import Verdict

_DAYS = 90
_MOST_COMMITS = 200
_MOST_REPORTS = 2_000
DAYS_APART = 2
"""On so many days a test must have failed without touch."""


def project_ratios(project: Project) -> Ratios:
    """By failures of the last 90 days of which it is known what they were."""
    return ratios(judged_failures(project))


def judged_failures(project: Project) -> list[JudgedFailure]:
    """A failure was flaky if the test passed at the same commit too; another if it failed there at least twice and
    never passed. Of the rest nobody knows."""
    since = timezone.now() - timedelta(days=_DAYS)
    rows = TouchedFailure.objects.filter(project=project, at__gte=since).exclude(run__commit="").order_by("-at", "-pk")
    by_commit: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, touches, commit in rows.values_list("number", "touches", "run__commit"):
        if commit in by_commit or len(by_commit) < _MOST_COMMITS:
            by_commit[commit].append((number, touches))
    reports = Report.counted.filter(project=project, run__commit__in=list(by_commit)).order_by("-pk")
    commit_of = dict(reports.values_list("pk", "run__commit")[:_MOST_REPORTS])
    passed, failed = defaultdict(set), defaultdict(list)
    for pk, vectors in report_vectors(list(commit_of), Renames(project.pk), durations=False).items():
        commit = commit_of[pk]
        wanted = np.isin(vectors.numbers, [number for number, _ in by_commit[commit]])
        passed[commit].update(vectors.numbers[wanted & (vectors.verdicts == Verdict.PASS)].tolist())
        failed[commit] += vectors.numbers[wanted & vectors.failing].tolist()
    found = []
    for commit, failures in by_commit.items():
        for number, touches in failures:
            if number in passed[commit]:
                found.append(JudgedFailure(Answer(touches), True))
            elif failed[commit].count(number) >= 2:
                found.append(JudgedFailure(Answer(touches), False))
    return found


@dataclass(frozen=True, slots=True)
class ReachEvidence:
    """Failures of one test in runs whose change it does not touch, although it had passed before."""

    failures: int
    days: int
    ratios: Ratios
    """What such failures proved to be in this project."""

    @property
    def is_flaky(self) -> bool:
        return self.days >= DAYS_APART and self.ratios.is_evidence

    @property
    def word(self) -> str:
        return "flaky by reach" if self.is_flaky else "suspect by reach"


def reach_evidence(project: Project, numbers: Collection[int]) -> dict[int, ReachEvidence]:
    """By test; without those of which there is none."""
    since = timezone.now() - timedelta(days=_DAYS)
    rows = TouchedFailure.objects.filter(
        project=project, number__in=list(numbers), at__gte=since, touches=Answer.NO.value, passed_at_base=True
    )
    moments = defaultdict(list)
    for number, at in rows.values_list("number", "at"):
        moments[number].append(at)
    if not moments:
        return {}
    own = project_ratios(project)
    return {
        number: ReachEvidence(len(times), len({at.date() for at in times}), own) for number, times in moments.items()
    }
