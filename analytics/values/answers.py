"""Stored series of values: what is concluded from them with an analysis, and which are near their bound."""

from collections.abc import Sequence

from analytics.kernel.tails.recency import start_of_current
from analytics.values.conclusions import Series, conclude
from ingest.lab.values import floats, numbers
from ingest.models import Project, ValueSeries

MOST_ANSWERS = 100
"""Series of a project that an analysis concludes anew."""


def series_of(row: ValueSeries) -> Series:
    """A stored series; of what CI sent, since the values last changed."""
    values, bounds = floats(row.values), floats(row.bounds)
    start = 0
    if row.origin == ValueSeries.Origin.CI:
        whole = Series(row.kind, row.op, values, bounds)
        start = start_of_current(whole.question_values[2])
    return Series(row.kind, row.op, values, bounds, start)


def answers_refresh(*, project: Project) -> int:
    """Conclude anew where values have arrived: those whose latest value failed first. Returns how many."""
    stale = list(
        ValueSeries.objects.filter(project=project, is_stale=True).order_by("-updated_at")[: 20 * MOST_ANSWERS]
    )
    stale.sort(key=lambda row: not _failed_last(row))
    for row in stale[:MOST_ANSWERS]:
        concluded = conclude(series_of(row))
        same = ValueSeries.objects.filter(pk=row.pk, updated_at=row.updated_at)
        same.update(answer=concluded, is_stale=False)
    return min(len(stale), MOST_ANSWERS)


def _failed_last(row: ValueSeries) -> bool:
    values, bounds = floats(row.values)[-1:], floats(row.bounds)[-1:]
    beyond = (values - bounds) * (-1 if row.op.startswith(">") else 1)
    return bool(len(beyond) and not beyond[0] < 0)


def report_since(row: ValueSeries, start: int) -> int | None:
    """The report from which values count, if older ones do not."""
    reports = numbers(row.reports)
    return int(reports[start]) if 0 < start < len(reports) else None


def near_their_bound(rows: Sequence[ValueSeries]) -> list[ValueSeries]:
    """Series whose bound fails, or may fail, more often than tolerated; the most frequent failures first."""
    near = [row for row in rows if row.answer.get("present") and _is_near(row)]
    return sorted(near, key=lambda row: (-row.answer["present"]["share"], row.pk))


def _is_near(row: ValueSeries) -> bool:
    """Of few values, or of values that do not vary, only failures tell: their interval is wide for want of runs."""
    present, tolerated = row.answer["present"], row.answer["tolerated"]
    return bool(present["share" if row.answer["obstacle"] else "high"] > tolerated)
