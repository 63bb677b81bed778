"""Comparing: after traces have arrived, in the background, so that pages only read what was found."""

import logging
from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError
from django.db.models import Exists, OuterRef
from django.utils import timezone
from flakeboard.differences.comparison import EXPLAINED

from analytics.why.findings import finding_of
from analytics.why.models import DifferenceFinding
from analytics.why.traced_runs import TraceCounts, trace_counts, traced_runs
from ingest.models import Project, Test, Trace

FAILED = "could not be compared"
logger = logging.getLogger(__name__)
_GROWTH = 1.2
"""Passing traces alone change little: compared anew when there are so many times as many."""


def differences_due(project_id: int) -> list[int]:
    """Numbers of tests whose traces should be compared, those that failed last first."""
    counts = trace_counts(project_id)
    known = {
        finding.number: TraceCounts(finding.failing, finding.passing, finding.newest_failing)
        for finding in DifferenceFinding.objects.filter(project_id=project_id).defer("data", "sentence")
    }
    due = [number for number, count in counts.items() if _is_due(count, known.get(number))]
    return sorted(due, key=lambda number: -counts[number].newest_failing)


def _is_due(now: TraceCounts, then: TraceCounts | None) -> bool:
    if then is None:
        return True
    return now.newest_failing > then.newest_failing or (now.failing > 0 and now.passing > _GROWTH * then.passing)


def projects_with_differences_due() -> list[int]:
    """Projects with a test whose traces should be compared."""
    traced = Trace.objects.filter(project=OuterRef("pk"))
    projects = Project.objects.filter(Exists(traced)).values_list("pk", flat=True)
    return [project_id for project_id in projects if differences_due(project_id)]


def differences_refresh(*, project_id: int, enough: Callable[[], bool] = lambda: False) -> int:
    """Compare what is due until the time is over; how many tests were compared."""
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return 0
    done = 0
    for number in differences_due(project_id):
        if enough():
            break
        difference_compare(project=project, number=number)
        done += 1
    return done


def _compared(project: Project, number: int) -> dict[str, Any]:
    """The comparison; an error of ours is told, and not met again every minute."""
    try:
        return finding_of(traced_runs(project, Test.objects.get(project=project, number=number)))
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("test %s of project %s: its traces could not be compared", number, project.pk)
        return {"verdict": FAILED, "sentence": "Its traces could not be compared; the log says why.", "differences": []}


def difference_compare(*, project: Project, number: int) -> DifferenceFinding:
    """Compare the traces of a test, and keep what was found in place of what was found before."""
    counts = trace_counts(project.pk, [number]).get(number, TraceCounts())
    found = _compared(project, number)
    differences = found["differences"]
    finding, _ = DifferenceFinding.objects.update_or_create(
        project=project,
        number=number,
        defaults={
            "verdict": found["verdict"],
            "category": differences[0]["category"] if found["verdict"] == EXPLAINED else "",
            "sentence": found["sentence"],
            "data": found,
            "newest_failing": counts.newest_failing,
            "failing": counts.failing,
            "passing": counts.passing,
            "compared_at": timezone.now(),
        },
    )
    return finding
