"""Analyses: those that are kept, the current one, and one by hand."""

from datetime import date, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.models import Analysis, Refresh
from analytics.selectors import analyses_of, refresh_of
from dashboard import etags
from dashboard.api.analysis.orders import KnownOrdersSerializer
from dashboard.api.analysis.reruns import (
    ExposureCurveSerializer,
    LongestBurstsSerializer,
    RerunTimeSerializer,
    RetryCurveSerializer,
)
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.listing import AnalysisRefSerializer, PageQuery, PageSerializer, asked, page_asked, paged
from dashboard.api.schema import reading
from dashboard.api.upload.schema import ERRORS
from dashboard.tasks import refresh_now
from ingest.models import Project

_FIRST_DAY = date(1970, 1, 1)


class RefreshSerializer(serializers.Serializer):
    """What the next analysis waits for, or how far it is."""

    asked_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when something is new that the current one does not know; null for nothing."
    )
    due_at = serializers.DateTimeField(allow_null=True, help_text="When it begins.")
    running = serializers.BooleanField()
    began_at = serializers.DateTimeField(allow_null=True, help_text="When the last one began.")
    phase = serializers.CharField(allow_blank=True, help_text="What it is at.")
    share = serializers.FloatField(help_text="How much of it is done, 0 to 1.")
    error = serializers.CharField(allow_blank=True, help_text="Why the last one failed.")


def refresh_body(refresh: Refresh | None) -> dict[str, object]:
    """As `RefreshSerializer` shows it; all empty where none was ever asked for."""
    now = refresh or Refresh()
    shown = ("asked_at", "due_at", "began_at", "phase", "share", "error")
    return {"running": now.claim is not None, **{name: getattr(now, name) for name in shown}}


class StatesSerializer(serializers.Serializer):
    """How many tests are in each state."""

    stable = serializers.IntegerField()
    flaky = serializers.IntegerField()
    suspect = serializers.IntegerField()
    broken = serializers.IntegerField()
    recovered = serializers.IntegerField()
    unexecuted = serializers.IntegerField()


class RunEndsSerializer(serializers.Serializer):
    """How many runs ended how."""

    passed = serializers.IntegerField()
    flaky = serializers.IntegerField(help_text="Every failing test of them is flaky.")
    regression = serializers.IntegerField()
    broken = serializers.IntegerField(help_text="What failed in them, flaky tests aside, had failed before them.")
    incident = serializers.IntegerField()


class RunsSerializer(RunEndsSerializer):
    total = serializers.IntegerField()
    flaky_low = serializers.FloatField(allow_null=True)
    flaky_high = serializers.FloatField(allow_null=True, help_text="The interval of flaky / total.")


class HeadlineSerializer(AnalysisRefSerializer):
    """An analysis in a list."""

    current = serializers.BooleanField()
    started_at = serializers.DateTimeField()
    seconds = serializers.FloatField(help_text="How long it took.")
    tests = serializers.IntegerField()
    results = serializers.IntegerField()
    parameters = serializers.DictField(help_text="The settings of the statistics that it used.")
    excluded = serializers.DictField(child=serializers.IntegerField(), help_text="Reason -> how much was left out.")
    states = StatesSerializer()
    runs = RunsSerializer()


class AnalysisListSerializer(PageSerializer):
    results = HeadlineSerializer(many=True)


class DaySerializer(RunEndsSerializer):
    day = serializers.SerializerMethodField(help_text="UTC.")
    flaky_failed = serializers.IntegerField(help_text="First attempts of flaky tests that failed.")
    flaky_executed = serializers.IntegerField()

    def get_day(self, point: dict[str, int]) -> date:
        """It is stored as days since 1970."""
        return _FIRST_DAY + timedelta(days=point["day"])


class MostSerializer(serializers.Serializer):
    """How few items of the priorities explain most of the blocked runs."""

    items = serializers.IntegerField()
    tests = serializers.IntegerField()
    runs = serializers.IntegerField(help_text="Blocked runs that they explain.")
    blocked = serializers.IntegerField(help_text="All blocked runs.")


class SuiteSerializer(serializers.Serializer):
    """How a suite's flaky tests hang together."""

    suite = serializers.CharField()
    tests = serializers.IntegerField(help_text="Its flaky tests.")
    failed = serializers.IntegerField(help_text="Runs in which one of them failed.")
    runs = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    highest = serializers.FloatField(help_text="The highest rate of one of them: the lower bound of the suite's.")
    total = serializers.FloatField(help_text="The sum of their rates: the upper bound.")
    relation = serializers.CharField(help_text="related, independent, mixed, or single where there is but one.")


class SummaryRetriesSerializer(RetryCurveSerializer):
    exceptions = serializers.ListField(
        child=serializers.IntegerField(), help_text="Tests that need more than the recommended number."
    )


class BlockedSerializer(serializers.Serializer):
    runs = serializers.IntegerField(help_text="Runs that tests which are flaky now blocked, or would have.")
    would = serializers.IntegerField(help_text="Those of them that a broken test blocked too.")
    masked = serializers.IntegerField(help_text="Runs that passed because all that failed was in quarantine.")
    masked_failures = serializers.IntegerField(help_text="Failures of flaky tests that a quarantine masked.")


class HiddenSerializer(serializers.Serializer):
    """How many flaky tests there are, those included that have not failed yet."""

    found = serializers.IntegerField(help_text="Flaky tests that failed in the window.")
    once = serializers.IntegerField(help_text="Those that failed in one run.")
    twice = serializers.IntegerField(help_text="Those that failed in two runs.")
    at_least = serializers.IntegerField(help_text="A lower bound on all flaky tests, hidden ones included.")


class SummarySerializer(serializers.Serializer):
    states = StatesSerializer()
    runs = RunsSerializer()
    days = DaySerializer(many=True)
    most = MostSerializer(allow_null=True)
    blocked = BlockedSerializer()
    retries = SummaryRetriesSerializer()
    rerun_time = RerunTimeSerializer()
    exposure = ExposureCurveSerializer()
    bursts = LongestBurstsSerializer()
    orders = KnownOrdersSerializer()
    causes = serializers.DictField(child=serializers.IntegerField())
    hidden = HiddenSerializer(required=False, help_text="Absent from analyses that were made before it was computed.")
    suites = SuiteSerializer(many=True)
    incidents = serializers.IntegerField()
    clusters = serializers.IntegerField()
    prior = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField()),
        help_text="By context of a rerun: the Beta that a test with little data is thought to be like.",
    )


class CurrentAnalysisSerializer(serializers.Serializer):
    analysis = HeadlineSerializer(allow_null=True, help_text="Null before the first analysis.")
    summary = SummarySerializer(allow_null=True)
    refresh = RefreshSerializer()


_HEADLINE = (
    *("id", "current", "started_at", "finished_at", "since", "until", "seconds", "reports", "tests", "results"),
    *("parameters", "excluded"),
)


def _headlines(project: Project) -> QuerySet[Analysis, dict[str, Any]]:
    """Without the rest of the summaries, which are long."""
    parts = {"states": KeyTransform("states", "summary"), "ends": KeyTransform("runs", "summary")}
    return analyses_of(project.pk).values(*_HEADLINE, **parts)


def _headline(analysis: dict[str, Any]) -> dict[str, Any]:
    return {**analysis, "runs": analysis["ends"]}


@extend_schema_view(
    get=reading(
        "analyses_list",
        "List analyses, newest first",
        "The current one, and one a day of the last 90 days.",
        AnalysisListSerializer,
        PageQuery,
    )
)
class AnalysisListView(AnalysisView):
    actions = {"POST": "refresh"}
    serializer_class = AnalysisListSerializer

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(PageQuery, self.request)
        page = page_asked(query, analyses_of(project.pk).count())
        shown = [_headline(analysis) for analysis in _headlines(project)[page.span]]
        return paged(self.request, analysis, page, shown)

    @extend_schema(
        operation_id="analyses_create",
        summary="Ask for an analysis now",
        description="Answered at once; a worker does it. A project's analysis never runs twice at once: asked for "
        "while one runs, the next follows it. Needs a token of the scope upload.",
        request=None,
        responses={202: RefreshSerializer, **ERRORS},
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        refresh_now(project)
        return Response(RefreshSerializer(refresh_body(refresh_of(project.pk))).data, status=202)


@extend_schema_view(
    get=reading(
        "analyses_current",
        "The current analysis",
        "All that it says of the project as a whole, and how far the next one is.",
        CurrentAnalysisSerializer,
    )
)
class CurrentAnalysisView(AnalysisView):
    serializer_class = CurrentAnalysisSerializer
    versions = (etags.refresh,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        refresh = refresh_body(refresh_of(project.pk))
        if analysis is None:
            return {"analysis": None, "summary": None, "refresh": refresh}
        headline = {name: getattr(analysis, name) for name in _HEADLINE}
        parts = {name: analysis.summary[name] for name in ("states", "runs")}
        return {"analysis": {**headline, **parts}, "summary": analysis.summary, "refresh": refresh}
