"""When the next experiment is due: so many commits or days after the last one that looked at the whole suite."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from analytics.lab.commits import CommitCounter
from analytics.wording import counted
from ingest.models import Experiment, Project, Run


@dataclass(frozen=True, slots=True)
class Due:
    due: bool
    why: str
    commits: int | None
    days: int | None
    last: str | None
    """Key of the last whole experiment."""


def experiment_due(project: Project, now: datetime | None = None) -> Due:
    """Lam 2020a advises a whole experiment every 150 commits or monthly; both numbers are settings of the project."""
    whole = Experiment.objects.filter(project=project, whole=True, ended_at__isnull=False).exclude(how="crash")
    last = whole.order_by("-ended_at").values_list("key", "ended_at").first()
    if last is None:
        if not Run.counted.filter(project=project).exists():
            return Due(False, "no runs yet", None, None, None)
        return Due(True, "no whole experiment yet", None, None, None)
    key, ended_at = last
    commits, days = CommitCounter(project, ended_at).after(ended_at), ((now or timezone.now()) - ended_at).days
    why = f"{counted(commits, 'commit')} and {counted(days, 'day')} since the last whole experiment"
    is_due = commits >= project.experiment_commits or days >= project.experiment_days
    return Due(is_due, why, commits, days, key)
