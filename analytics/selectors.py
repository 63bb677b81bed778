"""Reads: the current analysis, its tests, and what it keeps of each."""

from collections.abc import Sequence

from analytics.columns import Columns, columns_of
from analytics.kernel.window import CONFIRMED, REJECTED
from analytics.models import Analysis, IncidentDecision, Refresh, TestFinding


def current_analysis(project_id: int) -> Analysis | None:
    """The analysis that pages and API read; None before the first one."""
    return Analysis.objects.filter(project_id=project_id, current=True).defer("columns").first()


def analyses_of(project_id: int):
    return Analysis.objects.filter(project_id=project_id).defer("columns").order_by("-finished_at", "-pk")


def tests_of(analysis: Analysis | None) -> Columns:
    """One row a test; no rows where there is no analysis."""
    return columns_of(analysis.pk) if analysis is not None and analysis.current else Columns(b"")


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


def decisions_of(project_id: int) -> dict[int, int]:
    """Report id -> what a person said of it as an incident."""
    said = IncidentDecision.objects.filter(project_id=project_id).values_list("report_id", "word")
    return {report: CONFIRMED if word == IncidentDecision.Word.CONFIRMED else REJECTED for report, word in said}


def refresh_of(project_id: int) -> Refresh | None:
    return Refresh.objects.filter(project_id=project_id).first()
