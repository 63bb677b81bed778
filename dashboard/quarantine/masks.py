"""What quarantines tell an analysis: whose failures did not block, when, and on which runs."""

from collections.abc import Callable, Iterator

from analytics.masks import Mask, RunFacts
from dashboard.quarantine.models import Member, Quarantine
from dashboard.quarantine.scope import branch_name, covers
from ingest.models import Project


def quarantine_masks(project: Project) -> Iterator[Mask]:
    """Masks of the present and past quarantines, each from its last activation."""
    held = Member.objects.filter(quarantine__project=project, quarantine__activated_at__isnull=False)
    for member in held.select_related("quarantine", "test").order_by("pk"):
        quarantine = member.quarantine
        yield Mask(member.test.number, quarantine.activated_at, quarantine.ended_at, _scope(quarantine, project))


def _scope(quarantine: Quarantine, project: Project) -> Callable[[RunFacts], bool]:
    def holds(run: RunFacts) -> bool:
        branch = branch_name(run.branch, run.pull_request, project.default_branch, untrusted=run.untrusted)
        return covers(quarantine.branches, quarantine.environments, branch, run.environment)

    return holds
