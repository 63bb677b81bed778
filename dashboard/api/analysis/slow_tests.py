"""Slow tests: tests by time, suites, changes of durations, and the longest jobs of builds."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.history.names import names
from analytics.models import Analysis
from analytics.selectors import tests_of
from analytics.slow.timed_tests import SORTS, timed_tests
from dashboard import etags
from dashboard.api.analysis.name_serializers import TestNameSerializer
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.listing import PageQuery, PageSerializer, asked, one_of, page_asked, paged
from dashboard.api.schema import reading
from ingest.models import Project

_SORTS = tuple(f"{sign}{name}" for name in SORTS for sign in ("-", ""))
_NOTHING: dict[str, Any] = {"run_seconds": None, "tested": 0, "paths": None, "suites": [], "changes": []}
"""Before the first analysis."""


class SlowTestsQuery(PageQuery):
    sort = one_of("sort", _SORTS, "By total time, mean duration or executions; - for the most first.", default="-total")


class SlowTestSerializer(TestNameSerializer):
    seconds = serializers.FloatField(help_text="The mean of its passing executions.")
    executed = serializers.IntegerField(help_text="All attempts in the window.")
    total = serializers.FloatField(help_text="Seconds of the window, at that mean.")
    share = serializers.FloatField(help_text="Of the time of all tests.")


class SuiteSecondsSerializer(serializers.Serializer):
    suite = serializers.CharField(allow_blank=True)
    tests = serializers.IntegerField()
    seconds = serializers.FloatField()


class DurationChangeSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    report = serializers.IntegerField(help_text="The most likely first report after the change.")
    before = serializers.FloatField(help_text="Median seconds.")
    after = serializers.FloatField()
    ratio = serializers.FloatField(help_text="Times as long, kinds of runs and speeds of machines allowed for.")
    low = serializers.FloatField(help_text="Of its 95 % interval.")
    high = serializers.FloatField()
    p_value = serializers.FloatField(help_text="By Pettitt's test, corrected for the number of tests.")


class LongestPartSerializer(serializers.Serializer):
    build = serializers.CharField()
    run = serializers.IntegerField()
    label = serializers.CharField(allow_blank=True)
    parts = serializers.IntegerField(help_text="Jobs or shards of the build.")
    longest = serializers.FloatField(help_text="Seconds of its tests.")
    even = serializers.FloatField(help_text="Seconds that each would take if all took the same.")


class LongestPathsSerializer(serializers.Serializer):
    kind = serializers.ChoiceField(("shards", "jobs"))
    builds = serializers.IntegerField()
    longest = serializers.FloatField(help_text="Median seconds.")
    even = serializers.FloatField()
    usual = serializers.CharField(allow_blank=True, help_text="What is the longest most often.")
    often = serializers.IntegerField()
    newest = LongestPartSerializer(many=True)


class SlowTestListSerializer(PageSerializer):
    run_seconds = serializers.FloatField(allow_null=True, help_text="Test time of a run, median.")
    suites = SuiteSecondsSerializer(many=True)
    changes = DurationChangeSerializer(many=True, help_text="Tests that became slower or faster.")
    tested = serializers.IntegerField(help_text="Tests with enough data to tell.")
    paths = LongestPathsSerializer(allow_null=True)
    results = SlowTestSerializer(many=True)


@extend_schema_view(
    get=reading(
        "slow_tests_list",
        "Tests by the time that they take, and which became slower",
        "Durations of the window: tests, suites, changes with their significance, and the longest job of each build.",
        SlowTestListSerializer,
        SlowTestsQuery,
    )
)
class SlowTestListView(AnalysisView):
    serializer_class = SlowTestListSerializer
    versions = (etags.aliases,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(SlowTestsQuery, self.request)
        tests = timed_tests(tests_of(analysis), query["sort"] or "-total")
        page = page_asked(query, len(tests))
        shown = tests.rows(page.span)
        known = names(project.pk, tests=[test.number for test in shown])
        results = [{**asdict(known.test(test.number)), **asdict(test)} for test in shown]
        slow = analysis.summary["slow"] if analysis else _NOTHING
        return {
            **paged(self.request, analysis, page, results),
            **{name: slow[name] for name in _NOTHING},
        }
