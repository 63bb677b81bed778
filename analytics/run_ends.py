"""How runs ended, asked of the database: the rule of `analytics.kernel.runs` by what is known of their tests now.

A run that came after the analysis is judged by it as well; one that is older than its window only by its counts."""

from datetime import datetime

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from analytics.columns import Columns
from analytics.kernel.flakiness import State
from analytics.models import Analysis, IncidentDecision, IncidentFinding
from ingest.junit.report import Provenance
from ingest.models import Attempt, Failure, Report, Run

PASSED, FLAKY, REGRESSION, INCIDENT = "passed", "flaky", "regression", "incident"
FAILED = "failed"
"""Failing, and not judged: there is no analysis, or it does not reach back so far."""
GONE = "gone"
"""Nothing is kept of what was reported."""
ENDS = (PASSED, REGRESSION, FLAKY, INCIDENT, FAILED)

RED = Q(failed__gt=0) | Q(errored__gt=0) | ~Q(run_errors=[])
"""Reports that make a run fail."""
_EXPLAINS = (State.FLAKY, State.RECOVERED)


def with_ends(runs: "QuerySet[Run]", analysis: Analysis | None, columns: Columns) -> "QuerySet[Run]":
    """Runs with `end`, one of ENDS or GONE; what it costs grows with the rows that are read and not with the tests."""
    reports = Report.objects.filter(run=OuterRef("pk"))
    red = Exists(reports.filter(RED))
    judged = [] if analysis is None or analysis.since is None else _judged(analysis, analysis.since, columns, reports)
    cases = [When(~Exists(reports), then=Value(GONE)), When(~red, then=Value(PASSED)), *judged]
    return runs.annotate(end=Case(*cases, default=Value(FAILED), output_field=CharField()))


def _judged(analysis: Analysis, since: datetime, columns: Columns, reports: "QuerySet[Report]") -> list[When]:
    incidents = Exists(reports.filter(pk__in=incident_reports(analysis).values("report_id")))
    errors = Exists(reports.exclude(run_errors=[]))
    return [
        When(started_at__lt=since, then=Value(FAILED)),
        When(incidents, then=Value(INCIDENT)),
        When(Q(errors) | Q(Exists(_unexplained(columns))), then=Value(REGRESSION)),
        When(pk__isnull=False, then=Value(FLAKY)),
    ]


def incident_reports(analysis: Analysis) -> "QuerySet[IncidentFinding]":
    """Those that the analysis took for incidents: by its rules, unless a person said otherwise."""
    confirmed, rejected = IncidentDecision.Word.CONFIRMED.value, IncidentDecision.Word.REJECTED.value
    by_rules = ~Q(data__why=[]) & ~Q(data__decided=rejected)
    return IncidentFinding.objects.filter(by_rules | Q(data__decided=confirmed), analysis=analysis)


def _unexplained(columns: Columns) -> "QuerySet[Failure]":
    """Failures that no later attempt cleared, of tests that are not flaky. Attempts whose relation is not known clear
    nothing."""
    later = Attempt.objects.filter(report=OuterRef("report"), test=OuterRef("test"), ordinal__gt=OuterRef("ordinal"))
    cleared = Exists(later.exclude(provenance=Provenance.AMBIGUOUS.value))
    failures = Failure.objects.filter(~cleared, report__run=OuterRef("pk"))
    number = Coalesce(F("test__alias_of__number"), F("test__number"))
    return failures.annotate(now=number).exclude(now__in=flaky_numbers(columns))


def flaky_numbers(columns: Columns) -> list[int]:
    """Tests that are flaky now or were: what explains a failure."""
    if not len(columns):
        return []
    explains = (columns["state"] == _EXPLAINS[0]) | (columns["state"] == _EXPLAINS[1])
    numbers: list[int] = columns["number"][explains].tolist()
    return numbers
