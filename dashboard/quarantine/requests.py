"""What somebody who asks for a quarantine names, and what we add: the tests, the clean runs needed, the owner."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from analytics.models import ClusterFinding
from analytics.selectors import current_analysis, current_tests
from dashboard.quarantine.gate.service import rows_of
from dashboard.quarantine.owners.store import owner_book, owner_of
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
    """The tests with these numbers under their current names, without duplicates."""
    found = Test.objects.filter(project=project, number__in=[number for number in numbers if 0 <= number <= _LARGEST])
    rows = found.select_related("alias_of").order_by("number")
    return list({test.pk: test for test in (row.alias_of or row for row in rows)}.values())


def _members(project: Project, cluster: int | None, view: str) -> list[int]:
    """Of the current analysis: tests that fail together, or with the same message."""
    found = ClusterFinding.objects.filter(analysis=current_analysis(project.pk), view=view, number=cluster)
    data = found.values_list("data", flat=True).first() if cluster is not None and cluster <= _LARGEST else None
    return list(data["tests"]) if data else []


def clean_runs_needed(project: Project, tests: Sequence[Test]) -> int | None:
    """STATISTICS 4.3: what the test with the rarest failures needs; None where one of them has no number."""
    _, columns = current_tests(project.pk)
    rows = rows_of(columns, [test.number for test in tests])
    needed = [rows[test.number].reruns.to_confirm if test.number in rows else None for test in tests]
    known = [runs for runs in needed if runs is not None]
    return max(known) if known and len(known) == len(needed) else None


def asked_terms(
    project: Project, tests: Sequence[Test], values: Mapping[str, Any], *, cluster: int | None = None
) -> Terms:
    """The requested terms of a new quarantine, with a suggested owner if none is given."""
    return Terms(
        **{name: values[name] for name in CHANGEABLE if name in values and name != "owner"},
        owner=values.get("owner") or suggested_owner(project, tests),
        reason=values["reason"],
        expires_at=asked_expiry(values.get("expires_at"), values.get("days")),
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
