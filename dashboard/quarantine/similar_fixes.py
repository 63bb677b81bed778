"""Confirmed fixes of tests like one: in its cluster, or with the same cause. What helped there may help here."""

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, reduce
from itertools import islice
from operator import or_
from urllib.parse import quote, urlsplit

from django.db.models import OuterRef, Q, Subquery

from analytics.models import ClusterFinding, TestFinding
from analytics.selectors import current_analysis
from dashboard.builds.links import repository_at
from dashboard.notify.models import TrackerSettings
from dashboard.quarantine.fix_places import fix_range
from dashboard.quarantine.models import Member, Quarantine, QuarantineEvent
from dashboard.quarantine.states import Action, State
from ingest.models import Project, Run, Test

logger = logging.getLogger(__name__)
SHOWN = 3
_MOST_TESTS = 20
"""Failing tests of a run for which fixes are looked up."""
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
    return similar_fixes_of(project, {number: categories})[number]


def similar_fixes_of(project: Project, categories: Mapping[int, Collection[str]]) -> dict[int, list[SimilarFix]]:
    """The same for several tests, by number: each with the categories of its causes."""
    nothing: dict[int, list[SimilarFix]] = {number: [] for number in categories}
    confirmed = {quarantine.pk: quarantine for quarantine in _confirmed(project.pk)} if categories else {}
    if not confirmed:
        return nothing
    members = Member.objects.filter(quarantine__in=confirmed).select_related("test", "test__alias_of")
    fixed: dict[int, tuple[Quarantine, Test]] = {}
    for member in members.order_by("quarantine_id", "test_id"):
        test = member.test.alias_of or member.test
        fixed[test.number] = confirmed[member.quarantine_id], test
    related, causes = _related(project.pk, list(categories)), _causes(project.pk, list(fixed))
    range_of = lru_cache(maxsize=None)(lambda other: _range(project, *fixed[other]))
    found = nothing
    for number, wanted in categories.items():
        alike = {other for other in fixed if not causes.get(other, frozenset()).isdisjoint(wanted)}
        chosen = sorted(
            ((related[number] | alike) & set(fixed)) - {number},
            key=lambda other: (other not in related[number], -fixed[other][0].pk),
        )
        found[number] = [
            _similar(*fixed[other], other in related[number], *range_of(other)) for other in chosen[:SHOWN]
        ]
    return found


def fix_addresses(project: Project, categories: Mapping[int, Collection[str]]) -> dict[int, list[str]]:
    """By test, of the first few: comparisons of commits that fixed tests like it. Who asks is told something else, too,
    so that an error here is only logged."""
    try:
        found = similar_fixes_of(project, dict(islice(categories.items(), _MOST_TESTS)))
    except Exception:
        logger.exception("project %s: fixes of similar tests are not known", project.pk)
        return {}
    return {number: [fix.address for fix in fixes if fix.address] for number, fixes in found.items()}


def _confirmed(project_id: int) -> list[Quarantine]:
    last = QuarantineEvent.objects.filter(quarantine=OuterRef("pk"), action__in=(Action.FIX, Action.CONFIRM))
    rows = Quarantine.objects.filter(project_id=project_id, state=State.FIXED)
    rows = rows.annotate(last=Subquery(last.order_by("-version").values("action")[:1]))
    return list(rows.filter(last=Action.CONFIRM).order_by("-ended_at")[:_LOOKED_AT])


def _related(project_id: int, numbers: Sequence[int]) -> dict[int, set[int]]:
    """By test: those of its clusters, as they are now and as they were quarantined."""
    related: dict[int, set[int]] = {number: set() for number in numbers}
    any_of = reduce(or_, (Q(data__tests__contains=number) for number in numbers))
    clusters = ClusterFinding.objects.filter(any_of, analysis=current_analysis(project_id))
    groups = [set(tests) for tests in clusters.values_list("data__tests", flat=True)]
    shared = Quarantine.objects.filter(members__test__number__in=numbers, project_id=project_id)
    together: dict[int, set[int]] = {}
    for quarantine, test in Member.objects.filter(quarantine__in=shared).values_list("quarantine_id", "test__number"):
        together.setdefault(quarantine, set()).add(test)
    for group in (*groups, *together.values()):
        for number in group & set(numbers):
            related[number] |= group
    return related


def _causes(project_id: int, numbers: Sequence[int]) -> dict[int, frozenset[str]]:
    """By test: the categories of its causes."""
    found = TestFinding.objects.filter(analysis=current_analysis(project_id), number__in=numbers)
    return {
        number: frozenset(cause["category"] for cause in causes or ())
        for number, causes in found.values_list("number", "data__causes")
    }


def _range(project: Project, quarantine: Quarantine, test: Test) -> tuple[str, str, str]:
    """The two commits that the fix lies between, and the address of their comparison."""
    before, after = fix_range(project, quarantine, [test])
    return before, after, compare_address(project, before, after)


def _similar(quarantine: Quarantine, test: Test, related: bool, before: str, after: str, address: str) -> SimilarFix:
    assert quarantine.ended_at is not None
    return SimilarFix(test, quarantine.pk, quarantine.ended_at, related, before, after, address)


# -- addresses ---------------------------------------------------------------------------------------------------

_GITHUB_BUILD = re.compile(r"(https://[\w.-]+(?::\d+)?/[\w.-]+/[\w.-]+)/actions/runs/\d+.*")
_GITLAB_BUILD = re.compile(r"(https://[\w.-]+(?::\d+)?(?:/[\w.-]+){2,20})/-/(?:jobs|pipelines)/\d+.*")


def compare_address(project: Project, before: str, after: str) -> str:
    """The page of the difference between two commits: by the project's repository, else by its tracker, else by the
    address of its builds."""
    if not (_COMMIT.fullmatch(before) and _COMMIT.fullmatch(after)) or before == after:
        return ""
    if (named := repository_at(project.repository_url)) is not None:
        return named.compare(before, after)
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
