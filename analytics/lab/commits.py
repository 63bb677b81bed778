"""How many commits the default branch has seen since a moment, by the runs that CI sent."""

from bisect import bisect_right
from datetime import datetime

from django.db.models import Min

from ingest.default_branch import default_runs
from ingest.models import Project, Run


class CommitCounter:
    """Commits of the default branch by when each first ran, from `since` on."""

    def __init__(self, project: Project, since: datetime) -> None:
        merged = Run.counted.filter(default_runs(project), project=project, placed_at__gt=since).exclude(commit="")
        firsts = merged.order_by().values("commit").annotate(first=Min("placed_at")).values_list("first", flat=True)
        self._moments = sorted(firsts)

    def after(self, moment: datetime) -> int:
        return len(self._moments) - bisect_right(self._moments, moment)
