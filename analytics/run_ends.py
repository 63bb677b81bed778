"""How runs ended, asked of the database: the rule of `analytics.kernel.runs` by what is known of their tests now.

A run that came after the analysis is judged by it as well; one that is older than its window only by its counts."""

from collections.abc import Sequence
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

from analytics.columns import Columns
from analytics.kernel.flakiness import State
from analytics.models import Analysis, IncidentDecision, IncidentFinding
from ingest.junit.report import Provenance
from ingest.models import Attempt, Failure, Report, Run, Test

PASSED, FLAKY, REGRESSION, INCIDENT = "passed", "flaky", "regression", "incident"
FAILED = "failed"
"""Failing, and not judged: there is no analysis, or it does not reach back so far."""
GONE = "gone"
"""Nothing is kept of what was reported."""
ENDS = (PASSED, REGRESSION, FLAKY, INCIDENT, FAILED)

RED = Q(failed__gt=0) | Q(errored__gt=0) | ~Q(run_errors=[])
"""Reports that make a run fail."""
_EXPLAINS = (State.FLAKY, State.RECOVERED)


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


def with_ends(runs: "QuerySet[Run]", analysis: Analysis | None, columns: Columns) -> "QuerySet[Run]":
    """Runs with `end`, one of ENDS or GONE; what it costs grows with the rows that are read and not with the tests."""
    reports = Report.objects.filter(run=OuterRef("pk"))
    red = _Each(reports.filter(RED))
    judged = [] if analysis is None or analysis.since is None else _judged(analysis, analysis.since, columns, reports)
    cases = [When(~_Each(reports), then=Value(GONE)), When(~red, then=Value(PASSED)), *judged]
    return runs.annotate(end=Case(*cases, default=Value(FAILED), output_field=CharField()))


def _judged(analysis: Analysis, since: datetime, columns: Columns, reports: "QuerySet[Report]") -> list[When]:
    incidents = _Each(reports.filter(pk__in=incident_reports(analysis).values("report_id")))
    errors = _Each(reports.exclude(run_errors=[]))
    return [
        When(started_at__lt=since, then=Value(FAILED)),
        When(incidents, then=Value(INCIDENT)),
        When(Q(errors) | Q(_Each(_unexplained(analysis, columns))), then=Value(REGRESSION)),
        When(pk__isnull=False, then=Value(FLAKY)),
    ]


def incident_reports(analysis: Analysis) -> "QuerySet[IncidentFinding]":
    """Those that the analysis took for incidents: by its rules, unless a person said otherwise."""
    confirmed, rejected = IncidentDecision.Word.CONFIRMED.value, IncidentDecision.Word.REJECTED.value
    by_rules = ~Q(data__why=[]) & ~Q(data__decided=rejected)
    return IncidentFinding.objects.filter(by_rules | Q(data__decided=confirmed), analysis=analysis)


def is_incident(why: Sequence[str], decided: str) -> bool:
    """The same of one finding, by what it stores."""
    by_rules = bool(why) and decided != IncidentDecision.Word.REJECTED
    return by_rules or decided == IncidentDecision.Word.CONFIRMED


def _unexplained(analysis: Analysis, columns: Columns) -> "QuerySet[Failure]":
    """Failures that no later attempt cleared, of tests that are not flaky. Attempts whose relation is not known clear
    nothing."""
    later = Attempt.objects.filter(report=OuterRef("report"), test=OuterRef("test"), ordinal__gt=OuterRef("ordinal"))
    cleared = _Each(later.exclude(provenance=Provenance.AMBIGUOUS.value))
    failures = Failure.objects.filter(report__run=OuterRef("pk")).filter(~_one_of("test_id", _flaky(analysis, columns)))
    return failures.filter(~cleared)


def _flaky(analysis: Analysis, columns: Columns) -> list[int]:
    """Ids of the tests that are flaky now or were, under all their names: what explains a failure."""
    if not len(columns):
        return []
    numbers = columns["number"][np.isin(columns["state"], _EXPLAINS)].tolist()
    tests = Test.objects.filter(project=analysis.project_id).values_list("pk", flat=True)
    now = list(tests.filter(_one_of("number", numbers)))
    return now + list(tests.filter(_one_of("alias_of_id", now)))
