"""How runs ended, asked of the database: as the analysis judged those of its window.

A run that came after it is judged as on its own page; one older than its window only by its counts."""

from collections.abc import Container, Iterator, Sequence
from datetime import datetime

import numpy as np
from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)

from analytics.columns.codec import Columns
from analytics.kernel.executions import Ints
from analytics.kernel.runs import RunEnd
from analytics.models import Analysis
from analytics.runs.failing_tests import FailureFacts, Group, group_of
from analytics.runs.failure_facts import facts_after, read_reports
from analytics.runs.incident_findings import incident_reports
from ingest.models import Report, Run, Upload

PASSED, FLAKY, REGRESSION, INCIDENT, BROKEN = "passed", "flaky", "regression", "incident", "broken"
FAILED = "failed"
"""Failing, and not judged: there is no analysis, it does not reach back so far, or it is late."""
GONE = "gone"
"""Nothing is kept of what was reported."""
ENDS = (PASSED, REGRESSION, BROKEN, FLAKY, INCIDENT, FAILED)

_NAMES = {
    RunEnd.INCIDENT: INCIDENT,
    RunEnd.REGRESSION: REGRESSION,
    RunEnd.BROKEN: BROKEN,
    RunEnd.FLAKY: FLAKY,
}
_LATE = 1_000
"""The newest uploads, of which some may have come after the analysis began: to look at all takes too long."""
_FRESH = 2_000
"""Red runs that are judged without an analysis, the newest ones; the others are taken for not judged."""
_AT_ONCE = 200
RED = Q(failed__gt=0) | Q(errored__gt=0) | ~Q(run_errors=[])
"""Reports that make a run fail."""


class _OneOf(Func):
    """`IN` with one value, an array: thousands of numbers are written in no time."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()


def _one_of(name: str, values: list[int]) -> Q:
    return Q(_OneOf(F(name), Value(values, output_field=ArrayField(IntegerField()))))


class _Each(Exists):
    """Asked of each row that is read: without the offset PostgreSQL reads all failures of all projects beforehand."""

    template = "EXISTS(%(subquery)s OFFSET 0)"


def with_ends(
    runs: "QuerySet[Run]", analysis: Analysis | None, columns: Columns, *, listed: Sequence[int] | None = None
) -> "QuerySet[Run]":
    """Runs with `end`, one of ENDS or GONE. Those that the analysis has not judged cost time each: ask for few runs
    where few are shown, and say which they are: else the database is told of every red run of the window."""
    reports = Report.objects.filter(run=OuterRef("pk"))
    red = _Each(reports.filter(RED))
    judged = (
        [] if analysis is None or analysis.since is None else _judged(runs, analysis, analysis.since, columns, listed)
    )
    cases = [When(~_Each(reports), then=Value(GONE)), When(~red, then=Value(PASSED)), *judged]
    return runs.annotate(end=Case(*cases, default=Value(FAILED), output_field=CharField()))


def ends_of(runs: Sequence[Run], analysis: Analysis | None, columns: Columns) -> dict[int, str]:
    """By run id: how each of these ended."""
    listed = [run.pk for run in runs]
    of_these = with_ends(Run.objects.filter(pk__in=listed), analysis, columns, listed=listed)
    return dict(of_these.values_list("pk", "end"))


def _judged(
    runs: "QuerySet[Run]", analysis: Analysis, since: datetime, columns: Columns, listed: Sequence[int] | None
) -> list[When]:
    late = _late_runs(analysis)
    known = _analysis_ends(columns, late, listed)
    ends = known | dict(_fresh_ends(runs, analysis, since, columns, known))
    by_end = {end: [run for run, of_run in ends.items() if of_run == end] for end in sorted(set(ends.values()))}
    return [When(_one_of("pk", ended), then=Value(end)) for end, ended in by_end.items()]


def _late_runs(analysis: Analysis) -> Ints:
    """Runs that got results after the analysis began: it may have seen some of them, and never all."""
    newest = Upload.objects.filter(project=analysis.project_id).order_by("-id").values("id")[:_LATE]
    late = Upload.objects.filter(pk__in=newest, finished_at__gt=analysis.started_at, run__isnull=False)
    return np.unique(np.array(late.values_list("run_id", flat=True), dtype=np.int64))


def _analysis_ends(columns: Columns, late: Ints, listed: Sequence[int] | None) -> dict[int, str]:
    """By run, of those that the analysis judged as red; one that it counted as passed may still be red."""
    if "run_id" not in columns:
        return {}
    judged = np.isin(columns["run_id"], late, invert=True) & (columns["run_end"] != RunEnd.PASSED)
    if listed is not None:
        judged &= np.isin(columns["run_id"], np.array(listed, dtype=np.int64))
    rows = zip(columns["run_id"][judged].tolist(), columns["run_end"][judged].tolist(), strict=True)
    return {run: _NAMES[end] for run, end in rows}


def _fresh_ends(
    runs: "QuerySet[Run]", analysis: Analysis, since: datetime, columns: Columns, known: Container[int]
) -> Iterator[tuple[int, str]]:
    """Of red runs that the analysis has not judged as such: by what their own pages say of their failing tests."""
    red = Report.objects.filter(RED, project=analysis.project_id, placed_at__gte=since).values("run_id")
    found = Run.objects.filter(pk__in=runs.order_by().values("pk")).filter(pk__in=red, placed_at__gte=since)
    ids = [pk for pk in found.order_by("-placed_at", "-pk").values_list("pk", flat=True) if pk not in known]
    for first in range(0, min(len(ids), _FRESH), _AT_ONCE):
        fresh = list(Run.objects.select_related("project").filter(pk__in=ids[first : first + _AT_ONCE]))
        content = read_reports(fresh[0].project, [run.pk for run in fresh])
        incidents = set(incident_reports(analysis).filter(report__run__in=fresh).values_list("report_id", flat=True))
        parts = [(run, content.of_runs(run.pk)) for run in fresh]
        judged = facts_after(fresh[0].project, parts, analysis, columns, incidents)
        for (run, part), facts in zip(parts, judged, strict=True):
            yield run.pk, _end_of(part.reports, facts, incidents)


def _end_of(reports: Sequence[Report], facts: Sequence[FailureFacts], incidents: Container[int]) -> str:
    groups = {group_of(fact) for fact in facts}
    if Group.INCIDENT in groups or any(report.pk in incidents for report in reports):
        return INCIDENT
    if Group.NEW in groups or any(report.run_errors for report in reports):
        return REGRESSION
    return BROKEN if Group.BROKEN in groups else FLAKY
