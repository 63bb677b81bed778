"""How runs ended, asked of the database: as the analysis judged those of its window.

A run that came after it is judged by what it knows of the tests; one older than its window only by its counts."""

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

from analytics.columns.codec import Columns
from analytics.kernel.executions import Ints
from analytics.kernel.flakiness import FLAKY_OR_RECOVERED, State
from analytics.kernel.runs import RunEnd
from analytics.models import Analysis, IncidentDecision, IncidentFinding
from ingest.junit.report import Provenance
from ingest.models import Attempt, Failure, Report, Run, Test

PASSED, FLAKY, REGRESSION, INCIDENT, BROKEN = "passed", "flaky", "regression", "incident", "broken"
FAILED = "failed"
"""Failing, and not judged: there is no analysis, or it does not reach back so far."""
GONE = "gone"
"""Nothing is kept of what was reported."""
ENDS = (PASSED, REGRESSION, BROKEN, FLAKY, INCIDENT, FAILED)

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
    flaky, broken = _tests_in(analysis, columns, FLAKY_OR_RECOVERED, (State.BROKEN,))
    return [
        When(placed_at__lt=since, then=Value(FAILED)),
        *_analysis_ends(columns),
        When(incidents, then=Value(INCIDENT)),
        When(Q(errors) | Q(_Each(_unexplained(flaky + broken))), then=Value(REGRESSION)),
        When(_Each(_unexplained(flaky)), then=Value(BROKEN)),
        When(pk__isnull=False, then=Value(FLAKY)),
    ]


def _analysis_ends(columns: Columns) -> list[When]:
    """A condition for each red outcome in the analysis; runs that it counted as passed may still be red."""
    ends = (
        (RunEnd.INCIDENT, INCIDENT),
        (RunEnd.REGRESSION, REGRESSION),
        (RunEnd.BROKEN, BROKEN),
        (RunEnd.FLAKY, FLAKY),
    )
    if "run_id" not in columns:
        return []
    run, end = columns["run_id"], columns["run_end"]
    return [
        When(_one_of("pk", run[end == code].tolist()), then=Value(name)) for code, name in ends if (end == code).any()
    ]


def new_failures(columns: Columns, run: int) -> Ints | None:
    """Numbers of the tests whose failure in the run is new; None where the analysis did not judge the run.

    Of the others that failed, those that are neither flaky nor in an incident were broken before."""
    if "new_run" not in columns or not (columns["run_id"] == run).any():
        return None
    return np.asarray(columns["new_test"][columns["new_run"] == run])


def incident_reports(analysis: Analysis) -> "QuerySet[IncidentFinding]":
    """Those that the analysis took for incidents: by its rules, unless a person said otherwise."""
    confirmed, rejected = IncidentDecision.Word.CONFIRMED.value, IncidentDecision.Word.REJECTED.value
    by_rules = ~Q(data__why=[]) & ~Q(data__decided=rejected)
    return IncidentFinding.objects.filter(by_rules | Q(data__decided=confirmed), analysis=analysis)


def is_incident(why: Sequence[str], decided: str) -> bool:
    """The same of one finding, by what it stores."""
    by_rules = bool(why) and decided != IncidentDecision.Word.REJECTED
    return by_rules or decided == IncidentDecision.Word.CONFIRMED


def _unexplained(known: list[int]) -> "QuerySet[Failure]":
    """Failures that no later attempt cleared, of other tests than those that are known by their ids. Attempts whose
    relation is not known clear nothing."""
    later = Attempt.objects.filter(report=OuterRef("report"), test=OuterRef("test"), ordinal__gt=OuterRef("ordinal"))
    cleared = _Each(later.exclude(provenance=Provenance.AMBIGUOUS.value))
    failures = Failure.objects.filter(report__run=OuterRef("pk")).filter(~_one_of("test_id", known))
    return failures.filter(~cleared)


def _tests_in(analysis: Analysis, columns: Columns, *states: Sequence[State]) -> list[list[int]]:
    """Ids of the tests in each of these groups of states, under all their names."""
    if not len(columns):
        return [[] for _ in states]
    group_of = {}
    for group, of_group in enumerate(states):
        numbers = columns["number"][np.isin(columns["state"], of_group)]
        group_of.update(dict.fromkeys(numbers.tolist(), group))
    tests = Test.objects.filter(project=analysis.project_id)
    known = dict(tests.filter(_one_of("number", list(group_of))).values_list("pk", "number"))
    found: list[list[int]] = [[] for _ in states]
    for pk, number in known.items():
        found[group_of[number]].append(pk)
    for pk, now in tests.filter(_one_of("alias_of_id", list(known))).values_list("pk", "alias_of_id"):
        found[group_of[known[now]]].append(pk)
    return found
