"""Confirmed fixes of tests like one: in its cluster, or with the same cause. What helped there may help here."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlsplit

from django.db.models import OuterRef, Subquery

from analytics.models import ClusterFinding, TestFinding
from analytics.selectors import current_analysis
from dashboard.notify.models import TrackerSettings
from dashboard.quarantine.fix_places import fix_range
from dashboard.quarantine.models import Member, Quarantine, QuarantineEvent
from dashboard.quarantine.states import Action, State
from ingest.models import Project, Run, Test

SHOWN = 3
_LOOKED_AT = 200
"""Confirmed fixes, the newest."""
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class SimilarFix:
    test: Test
    quarantine: int
    fixed_at: datetime
    related: bool
    """In its cluster; else it only has the same cause."""
    before: str
    """The commit of the last failure before the fix; empty where it is not known."""
    after: str
    """The first commit of the default branch after it; the fix lies between the two."""
    address: str
    """Of the comparison; empty where we don't know the repository."""


def similar_fixes(project: Project, number: int, categories: Collection[str]) -> list[SimilarFix]:
    """Up to three for the test with this number, those of its cluster first, the newest first."""
    confirmed = _confirmed(project.pk)
    if not confirmed:
        return []
    members = Member.objects.filter(quarantine__in=confirmed).select_related("test", "test__alias_of")
    fixed: dict[int, tuple[Quarantine, Test]] = {}
    by_id = {quarantine.pk: quarantine for quarantine in confirmed}
    for member in members.order_by("quarantine_id", "test_id"):
        test = member.test.alias_of or member.test
        fixed[test.number] = by_id[member.quarantine_id], test
    related, alike = _related(project.pk, number), _with_causes(project.pk, fixed, categories)
    chosen = sorted(
        (other for other in fixed if other != number and (other in related or other in alike)),
        key=lambda other: (other not in related, -(fixed[other][0].pk)),
    )
    return [_similar(project, *fixed[other], related=other in related) for other in chosen[:SHOWN]]


def _confirmed(project_id: int) -> list[Quarantine]:
    last = QuarantineEvent.objects.filter(quarantine=OuterRef("pk"), action__in=(Action.FIX, Action.CONFIRM))
    rows = Quarantine.objects.filter(project_id=project_id, state=State.FIXED)
    rows = rows.annotate(last=Subquery(last.order_by("-version").values("action")[:1]))
    return list(rows.filter(last=Action.CONFIRM).order_by("-ended_at")[:_LOOKED_AT])


def _related(project_id: int, number: int) -> set[int]:
    """Tests of its clusters, as they are now and as they were quarantined."""
    found = ClusterFinding.objects.filter(analysis=current_analysis(project_id), data__tests__contains=number)
    now = {test for tests in found.values_list("data__tests", flat=True) for test in tests}
    shared = Quarantine.objects.filter(members__test__number=number, project_id=project_id)
    then = Member.objects.filter(quarantine__in=shared).values_list("test__number", flat=True)
    return now | set(then)


def _with_causes(project_id: int, numbers: Collection[int], categories: Collection[str]) -> set[int]:
    if not categories:
        return set()
    found = TestFinding.objects.filter(analysis=current_analysis(project_id), number__in=list(numbers))
    return {
        number
        for number, causes in found.values_list("number", "data__causes")
        if {cause["category"] for cause in causes or ()} & set(categories)
    }


def _similar(project: Project, quarantine: Quarantine, test: Test, *, related: bool) -> SimilarFix:
    assert quarantine.ended_at is not None
    before, after = fix_range(project, quarantine, [test])
    address = compare_address(project, before, after)
    return SimilarFix(test, quarantine.pk, quarantine.ended_at, related, before, after, address)


# -- addresses ---------------------------------------------------------------------------------------------------

_GITHUB_BUILD = re.compile(r"(https://[^/\s]+/[\w.-]+/[\w.-]+)/actions/runs/\d+.*")
_GITLAB_BUILD = re.compile(r"(https://[^/\s]+(?:/[\w.-]+){2,20})/-/(?:jobs|pipelines)/\d+.*")


def compare_address(project: Project, before: str, after: str) -> str:
    """The page of the difference between two commits: by the project's tracker, else by the address of its builds."""
    if not (_COMMIT.fullmatch(before) and _COMMIT.fullmatch(after)) or before == after:
        return ""
    repository = _of_tracker(project) or _of_builds(project)
    return f"{repository}/compare/{before}...{after}" if repository else ""


def _of_tracker(project: Project) -> str:
    tracker = TrackerSettings.objects.filter(project=project).exclude(repository="").first()
    if tracker is None or tracker.repository.isdecimal():
        return ""
    host = urlsplit(tracker.base_url).netloc if tracker.base_url else ""
    if tracker.kind == TrackerSettings.Kind.GITHUB:
        return f"https://{host or 'github.com'}/{quote(tracker.repository)}"
    if tracker.kind == TrackerSettings.Kind.GITLAB:
        return f"https://{host or 'gitlab.com'}/{quote(tracker.repository)}/-"
    return ""


def _of_builds(project: Project) -> str:
    """GitHub and GitLab have the repository in the address of a build."""
    newest = Run.objects.filter(project=project).exclude(build_url="").order_by("-pk")
    build = newest.values_list("build_url", flat=True).first() or ""
    if found := _GITHUB_BUILD.fullmatch(build):
        return found[1]
    if found := _GITLAB_BUILD.fullmatch(build):
        return f"{found[1]}/-"
    return ""
