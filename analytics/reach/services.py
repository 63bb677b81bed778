"""Notes whether the failing tests of a run touch its change."""

import logging

import numpy as np

from analytics.reach.models import TouchedFailure
from analytics.reach.selectors import change_of, touched
from analytics.reach.touches import Answer
from analytics.runs.failure_facts import read_reports
from analytics.runs.report_vectors import Renames, report_vectors
from ingest.models import Project, Report, Run
from ingest.verdict import Verdict

logger = logging.getLogger(__name__)
_MOST_NOTED = 500
"""Failing tests of a run that are noted: of more, something else is the matter."""
_BASE_REPORTS = 20


def touched_note(*, run: Run) -> int:
    """Note of each failing test of a run whether it touches the change; again, after each upload of the run. Returns
    how many are noted. Runs of forks that nobody admitted are left out. An error here loses no result."""
    try:
        return _noted(run)
    except Exception:
        logger.exception("run %s: whether its failures touch its change is not noted", run.pk)
        return 0


def _noted(run: Run) -> int:
    if run.untrusted or run.experiment_id is not None:
        return 0
    change = change_of(run)
    if change is None or change.unknown:
        return 0
    failing = read_reports(run.project, [run.pk]).failing.tolist()[:_MOST_NOTED]
    passed = _passed_at(run.project, change.base, failing)
    rows = [
        TouchedFailure(
            project=run.project,
            run=run,
            number=number,
            touches=touch.answer.value,
            passed_at_base=number in passed,
            at=run.placed_at,
        )
        for number, touch in touched(run.project, run, failing).items()
        if touch.answer is not Answer.UNKNOWN
    ]
    TouchedFailure.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=("run", "number"), update_fields=("touches", "passed_at_base")
    )
    return len(rows)


def _passed_at(project: Project, commit: str, numbers: list[int]) -> set[int]:
    """Of these tests, those that passed in a run of this commit."""
    if not commit or not numbers:
        return set()
    reports = Report.counted.filter(project=project, run__commit=commit).order_by("-pk")
    ids = list(reports.values_list("pk", flat=True)[:_BASE_REPORTS])
    found: set[int] = set()
    for vectors in report_vectors(ids, Renames(project.pk), durations=False).values():
        passed = vectors.numbers[vectors.verdicts == Verdict.PASS]
        found.update(np.intersect1d(passed, np.array(numbers, dtype=np.int64)).tolist())
    return found
