"""The newest order in which all tests passed: what schedules believe rather than a dependency that it refutes."""

import numpy as np

from analytics.kernel.executions import Ints
from analytics.runs.report_vectors import Renames, report_vectors
from ingest.models import Project, Report, Roster
from ingest.vectors import decode_order

_WHOLE = 0.9
"""Such a share of the collected tests must have run in it."""


def passing_order(project: Project, numbers: Ints) -> list[int] | None:
    """Places of the collected tests (by number, -1 for unknown ones) in that order; None where none is known."""
    passed = Report.counted.filter(
        project=project, partial=False, order_reliable=True, failed=0, errored=0, run_errors=[]
    )
    whole = passed.filter(tests__gte=int(_WHOLE * len(numbers))).order_by("-placed_at", "-pk")
    report = whole.only("pk", "order", "roster_id").first()
    if report is None:
        return None
    vectors = report_vectors([report.pk], Renames(project.pk), durations=False).get(report.pk)
    if vectors is None:
        return None
    stored = report.order
    if stored is None:
        stored = Roster.objects.values_list("usual_order", flat=True).get(pk=report.roster_id)
    rows = decode_order(stored or b"", len(vectors.numbers))
    place_of = {int(number): place for place, number in enumerate(numbers) if number >= 0}
    ran = [place_of[number] for number in vectors.numbers[rows].tolist() if number in place_of]
    if len(ran) < _WHOLE * len(numbers):
        return None
    missing = np.setdiff1d(np.arange(len(numbers)), ran)
    return [*ran, *missing.tolist()]
