"""How many tests such a run executes of late: the same job, shard and environment on the same class of branch."""

from statistics import median
from typing import NamedTuple

from django.db.models import Q

from analytics.report_vectors import Renames, report_vectors
from ingest.models import Project, Report, Run
from ingest.verdict import Verdict

RUNS = 20
_LEAST = 3
"""Fewer runs than this are no norm."""


def norm_of(project: Project, run: Run) -> int | None:
    """The median over the last runs like this one; of any branch where its class has too few; None for too few."""
    alike = Run.counted.filter(
        project=project, job=run.job, shard=run.shard, environment=run.environment, started_at__lte=run.started_at
    ).exclude(pk=run.pk)
    for runs in (alike.filter(_same_class(project, run)), alike):
        counts = _executed(project, list(runs.order_by("-started_at", "-id").values_list("pk", flat=True)[:RUNS]))
        if len(counts) >= _LEAST:
            return round(median(counts))
    return None


def _same_class(project: Project, run: Run) -> Q:
    default = Q(branch__in=("", project.default_branch), pull_request="")
    is_default = run.branch in ("", project.default_branch) and not run.pull_request
    return default if is_default else ~default


class _Told(NamedTuple):
    """What a report counts."""

    pk: int
    partial: bool
    tests: int
    skipped: int


def _executed(project: Project, runs: list[int]) -> list[int]:
    """Tests that each of these runs executed, of those with whole reports alone.

    Distinct tests: what reruns tell again, in a report of their own, is counted once."""
    reports: dict[int, list[_Told]] = {}
    for run, *told in Report.counted.filter(run__in=runs).values_list("run", "pk", "partial", "tests", "skipped"):
        reports.setdefault(run, []).append(_Told(*told))
    whole = [every for every in reports.values() if not any(one.partial for one in every)]
    alone = [every[0].tests - every[0].skipped for every in whole if len(every) == 1]
    return alone + _distinct(project, [[one.pk for one in every] for every in whole if len(every) > 1])


def _distinct(project: Project, reports: list[list[int]]) -> list[int]:
    """How many tests were executed in each of these groups of reports."""
    if not reports:
        return []
    vectors = report_vectors([pk for group in reports for pk in group], Renames(project.pk), durations=False)
    ran = {pk: set(one.numbers[one.verdicts != Verdict.SKIP].tolist()) for pk, one in vectors.items()}
    return [len(set().union(*(ran.get(pk, ()) for pk in group))) for group in reports]
