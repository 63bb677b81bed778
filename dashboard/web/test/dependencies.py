"""The part of a test's page on what it depends on: shown, stated, and how experiments saw it."""

from typing import Any

from analytics.columns.codec import Columns
from analytics.history.executions import History
from analytics.lab.dependencies import live
from analytics.lab.dependents import DependentTest, dependents, never_failed
from analytics.lab.models import ExperimentFinding
from analytics.wording import counted
from dashboard.web.lab.experiment import KINDS
from dashboard.web.test.sections import Section
from ingest.models import Project

_EXPERIMENTS_SHOWN = 5


def dependency_section(project: Project, history: History, columns: Columns) -> tuple[Section, bool]:
    """The section, and whether only experiments made the test fail."""
    numbers = [name.number for name in history.names]
    known = next(iter(dependents(project, columns, live(project, of=numbers)).values()), None)
    findings = list(
        ExperimentFinding.objects.filter(project=project, number__in=numbers, kind__in=ExperimentFinding.OF_ORDERS)
        .select_related("experiment")
        .defer("experiment__results", "experiment__parameters")
        .order_by("-experiment__began_at")[:_EXPERIMENTS_SHOWN]
    )
    part: dict[str, Any] = {
        "known": known,
        "seen": [(finding, KINDS[ExperimentFinding.Kind(finding.kind)]) for finding in findings],
        "number": numbers[0],
    }
    latent = bool(known and known.latent) or _is_latent(findings, columns, numbers[0])
    return Section("dependencies", "Dependencies", _fact(known, findings), part, open=known is not None), latent


def _fact(known: DependentTest | None, findings: list[ExperimentFinding]) -> str:
    if known is not None:
        return f"{known.role}, {counted(len(known.dependencies), 'dependency', 'dependencies')}, {known.ground}"
    return f"{findings[0].kind} in an experiment" if findings else "none known"


def _is_latent(findings: list[ExperimentFinding], columns: Columns, number: int) -> bool:
    """The newest experiment says that it depends on the order, and CI's window has no failure of it."""
    return bool(findings) and findings[0].kind == ExperimentFinding.Kind.OD and never_failed(columns, number)
