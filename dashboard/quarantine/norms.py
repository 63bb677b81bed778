"""How many tests such a run executes of late: the same job, shard and environment on the same class of branch."""

from statistics import median

from django.db.models import F, Q, Sum

from ingest.models import Project, Report, Run

RUNS = 20
_LEAST = 3
"""Fewer runs than this are no norm."""


def norm_of(project: Project, run: Run) -> int | None:
    """The median over the last runs like this one; of any branch where its class has too few; None for too few."""
    alike = Run.objects.filter(
        project=project, job=run.job, shard=run.shard, environment=run.environment, started_at__lte=run.started_at
    ).exclude(pk=run.pk)
    for runs in (alike.filter(_same_class(project, run)), alike):
        counts = _executed(list(runs.order_by("-started_at", "-id").values_list("pk", flat=True)[:RUNS]))
        if len(counts) >= _LEAST:
            return round(median(counts))
    return None


def _same_class(project: Project, run: Run) -> Q:
    default = Q(branch__in=("", project.default_branch), pull_request="")
    is_default = run.branch in ("", project.default_branch) and not run.pull_request
    return default if is_default else ~default


def _executed(runs: list[int]) -> list[int]:
    """Tests that each of these runs executed, of those with whole reports."""
    told = Report.objects.filter(run__in=runs, partial=False).values("run")
    return list(told.annotate(ran=Sum(F("tests") - F("skipped"))).values_list("ran", flat=True))
