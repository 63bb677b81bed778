"""Reads: the current analysis, its tests, and what it keeps of each and of several."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.models import QuerySet

from analytics.columns.codec import Columns, Retired, columns_of
from analytics.kernel.window import CONFIRMED, REJECTED
from analytics.models import (
    Analysis,
    ClusterFinding,
    IncidentDecision,
    IncidentFinding,
    PriorityFinding,
    Refresh,
    TestFinding,
)

Result = TypeVar("Result")
_READS = 3
"""An analysis that is replaced while it is read is read again, so often at most."""


def current_analyses() -> "QuerySet[Analysis]":
    """Those that pages and API read, at most one a project: none that was stored in an older form."""
    return Analysis.objects.filter(current=True, form=Analysis.FORM).defer("columns")


def current_analysis(project_id: int) -> Analysis | None:
    """The analysis that pages and API read; None before the first one."""
    return current_analyses().filter(project_id=project_id).first()


def read_again(read: Callable[[], Result]) -> Result:
    """What `read` makes of the current analysis, which it asks for itself. It is called again where it meets Retired:
    another analysis took the place of the one that it was reading."""
    for _ in range(_READS - 1):
        try:
            return read()
        except Retired:
            continue
    return read()


def current_tests(project_id: int) -> tuple[Analysis | None, Columns]:
    """The current analysis and its tests, both of the same analysis; as before the first one where none stays for as
    long as it takes to read it."""

    def read() -> tuple[Analysis | None, Columns]:
        analysis = current_analysis(project_id)
        return analysis, tests_of(analysis)

    try:
        return read_again(read)
    except Retired:
        return None, Columns(b"")


def is_outdated(project_id: int) -> bool:
    """Whether there is an analysis, but in a form that is no longer read: the sweep has a new one made."""
    return Analysis.objects.filter(project_id=project_id, current=True).exclude(form=Analysis.FORM).exists()


def analyses_of(project_id: int):
    return Analysis.objects.filter(project_id=project_id).defer("columns").order_by("-finished_at", "-pk")


def tests_of(analysis: Analysis | None) -> Columns:
    """One row a test; no rows where there is no analysis."""
    return columns_of(analysis) if analysis is not None and analysis.current else Columns(b"")


def test_finding(analysis: Analysis | None, number: int) -> dict[str, object]:
    """What is kept of a test that failed; empty for others."""
    if analysis is None:
        return {}
    found = TestFinding.objects.filter(analysis=analysis, number=number).values_list("data", flat=True).first()
    return found or {}


def test_findings(analysis: Analysis | None, numbers: Sequence[int]) -> dict[int, dict[str, object]]:
    if analysis is None:
        return {}
    return dict(TestFinding.objects.filter(analysis=analysis, number__in=numbers).values_list("number", "data"))


def priorities_of(analysis: Analysis | None, most: int | None = None) -> list[dict[str, Any]]:
    """What to fix by rank; by default all of it: flaky tests are few, and totals need each."""
    if analysis is None:
        return []
    found = PriorityFinding.objects.filter(analysis=analysis).order_by("rank").values_list("rank", "data")
    return [{"rank": rank, **data} for rank, data in found[:most]]


def clusters_of(analysis: Analysis | None) -> "QuerySet[ClusterFinding]":
    """Those that fail together first, then those that share a signature; each by runs with a failure."""
    found = ClusterFinding.objects.filter(analysis=analysis) if analysis else ClusterFinding.objects.none()
    return found.order_by("-view", "-data__runs", "number")


def incidents_of(analysis: Analysis | None) -> "QuerySet[IncidentFinding]":
    """Newest first, those that a person rejected included."""
    found = IncidentFinding.objects.filter(analysis=analysis) if analysis else IncidentFinding.objects.none()
    return found.order_by("-report__placed_at", "-report_id")


def decisions_of(project_id: int) -> dict[int, int]:
    """Report id -> what a person said of it as an incident."""
    decisions = IncidentDecision.objects.filter(project_id=project_id).values_list("report_id", "word")
    return {report: CONFIRMED if word == IncidentDecision.Word.CONFIRMED else REJECTED for report, word in decisions}


def refresh_of(project_id: int) -> Refresh | None:
    return Refresh.objects.filter(project_id=project_id).first()
