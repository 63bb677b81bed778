"""The commit that a run's change is told against: that of the last green run."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from analytics.runs.ends import RED
from ingest.default_branch import default_runs, is_default
from ingest.models import Project, Report, Run

_LOOKED_BACK = timedelta(days=90)


def base_run(project: Project, branch: str, pull_request: str = "") -> Run | None:
    """The newest run of the branch at whose commit nothing failed, else of the default branch."""
    default = default_runs(project)
    if not is_default(project, branch, pull_request):
        found = _newest(project, Q(branch=branch, pull_request__in=("", pull_request)) & ~default)
        if found is not None:
            return found
    return _newest(project, default)


def _newest(project: Project, of_branch: Q) -> Run | None:
    red = Report.counted.filter(RED | Q(partial=True), project=project, run__commit=OuterRef("commit"))
    passed = Report.counted.filter(run=OuterRef("pk"), passed__gt=0)
    recent = Run.counted.filter(of_branch, project=project, placed_at__gte=timezone.now() - _LOOKED_BACK)
    return recent.exclude(commit="").filter(~Exists(red), Exists(passed)).order_by("-placed_at", "-pk").first()
