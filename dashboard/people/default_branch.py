"""Which branch is the default: what CI says at the first upload, and what to ask when results say otherwise."""

from dataclasses import dataclass

from django.db.models import Count

from ingest.default_branch import default_runs
from ingest.models import Project, Run, Upload


@dataclass(frozen=True, slots=True)
class BranchQuestion:
    """Should this be the default branch? Because all `runs` are on it, or because CI says so."""

    branch: str
    runs: int
    by_ci: bool = False

    @property
    def sentence(self) -> str:
        if self.by_ci:
            return f"CI says that the default branch is {self.branch}. Make it the default branch?"
        runs = f"All {self.runs:,} runs are" if self.runs > 1 else "The only run is"
        return f"{runs} on {self.branch}. Make it the default branch?"


def branch_question(project: Project) -> BranchQuestion | None:
    """None where there is nothing to ask: a run of the default branch is known, and CI does not contradict."""
    stated = stated_branch(project)
    if stated and stated != project.default_branch:
        return BranchQuestion(stated, 0, by_ci=True)
    merged = Run.counted.filter(project=project, pull_request="")
    if merged.filter(default_runs(project)).exists():
        return None
    found = list(merged.order_by().values_list("branch").annotate(runs=Count("pk"))[:2])
    return BranchQuestion(*found[0]) if len(found) == 1 else None


def stated_branch(project: Project) -> str:
    """What CI named as the default branch with its newest trusted upload that is of no pull request."""
    trusted = Upload.objects.filter(project=project, untrusted=False, metadata__has_key="default_branch")
    newest = trusted.exclude(metadata__has_key="pull_request").order_by("-pk")
    return str(newest.values_list("metadata__default_branch", flat=True).first() or "")
