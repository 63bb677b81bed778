"""What somebody who asks for a quarantine names, and what we add: the tests, the clean runs needed, the owner."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from analytics.models import ClusterFinding
from analytics.selectors import current_analysis
from dashboard.quarantine.deciding import rows_of
from dashboard.quarantine.owning import owner_book, owner_of
from dashboard.quarantine.selectors import analysed
from dashboard.quarantine.services import CHANGEABLE, Terms, Unusable
from ingest.models import Project, Test

_LARGEST = 2**31 - 1


_View = ClusterFinding.View


def asked_tests(
    project: Project, *, test: int | None = None, cluster: int | None = None, view: str = _View.TOGETHER
) -> list[Test]:
    """The test with this number as it is called now, or the tests of the cluster with this number."""
    if (test is None) == (cluster is None):
        raise Unusable("Name a test or a cluster: one of them.")
    numbers = [test] if test is not None else _members(project, cluster, view)
    tests = tests_now(project, numbers)
    if not tests:
        raise Unusable(f"There is no {'test' if cluster is None else 'cluster'} with this number.")
    return tests


def tests_now(project: Project, numbers: Iterable[int]) -> list[Test]:
    """The tests with these numbers, as they are called now, each once."""
    found = Test.objects.filter(project=project, number__in=[one for one in numbers if 0 <= one <= _LARGEST])
    rows = found.select_related("alias_of").order_by("number")
    return list({one.pk: one for one in (row.alias_of or row for row in rows)}.values())


def _members(project: Project, cluster: int | None, view: str) -> list[int]:
    """Of the current analysis: tests that fail together, or with the same words."""
    found = ClusterFinding.objects.filter(analysis=current_analysis(project.pk), view=view, number=cluster)
    data = found.values_list("data", flat=True).first() if cluster is not None and cluster <= _LARGEST else None
    return list(data["tests"]) if data else []


def clean_runs_needed(project: Project, tests: Sequence[Test]) -> int | None:
    """STATISTICS 4.3: what the test with the rarest failures needs; None where one of them has no number."""
    _, columns = analysed(project.pk)
    rows = rows_of(columns, [test.number for test in tests])
    needed = [rows[test.number].reruns.to_confirm if test.number in rows else None for test in tests]
    known = [one for one in needed if one is not None]
    return max(known) if known and len(known) == len(needed) else None


def asked_terms(
    project: Project, tests: Sequence[Test], told: Mapping[str, Any], *, cluster: int | None = None
) -> Terms:
    """What somebody said of a new quarantine; the owner is looked up where none is said."""
    return Terms(
        **{name: told[name] for name in CHANGEABLE if name in told and name != "owner"},
        owner=told.get("owner") or suggested_owner(project, tests),
        reason=told["reason"],
        expires_at=asked_expiry(told.get("expires_at"), told.get("days")),
        needed=clean_runs_needed(project, tests),
        cluster=cluster,
    )


def suggested_owner(project: Project, tests: Sequence[Test]) -> str:
    return owner_of(owner_book(project), tests)


def asked_expiry(expires_at: datetime | None, days: int | None) -> datetime | None:
    """A moment, or so many days from now; None for neither."""
    if expires_at is not None and days is not None:
        raise Unusable("Say expires_at or days, not both.")
    return timezone.now() + timedelta(days=days) if days is not None else expires_at
