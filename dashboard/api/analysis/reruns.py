"""Reruns: a project's curves, the tests that need more, and the numbers of one test."""

from typing import Any

import numpy as np
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.columns.codec import Columns
from analytics.columns.rows import test_rows
from analytics.history.names import names
from analytics.kernel.parameters import DEFAULTS
from analytics.models import Analysis
from analytics.rerun_advice import rerun_advice
from analytics.rerun_context import Dependence, context_advice
from analytics.selectors import test_finding, tests_of
from dashboard import etags
from dashboard.api.analysis.finding_serializers import RerunContextSerializer
from dashboard.api.analysis.name_serializers import IntervalSerializer, TestNameSerializer
from dashboard.api.analysis.row_serializers import AgainSerializer, RerunsSerializer, named_row
from dashboard.api.analysis.tests import test_now
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.listing import AnswerSerializer, PageQuery, PageSerializer, asked, page_asked, paged
from dashboard.api.schema import reading
from ingest.models import Project


class RetryCurveSerializer(serializers.Serializer):
    """What n reruns of every failure clear, and what they cost; columns of one curve."""

    n = serializers.ListField(child=serializers.IntegerField())
    share = serializers.ListField(child=serializers.FloatField(allow_null=True), help_text="Flaky failures cleared.")
    low = serializers.ListField(child=serializers.FloatField(allow_null=True))
    high = serializers.ListField(child=serializers.FloatField(allow_null=True))
    minutes = serializers.ListField(
        child=serializers.FloatField(allow_null=True), help_text="Machine minutes in the window; null: not known."
    )
    untimed = serializers.IntegerField(help_text="Failures of tests whose duration is not known: not in the minutes.")
    recommended = serializers.IntegerField(allow_null=True, help_text="For a CI setting: at most 3.")
    later = serializers.FloatField(
        allow_null=True, help_text="Share of flaky failures that no rerun at once gets past: later or on another host."
    )
    failures = serializers.IntegerField(help_text="Flaky failures that the curve rests on.")


class RerunTimeSerializer(serializers.Serializer):
    """Seconds of all tests in the window, and how many of them went to running again what had run."""

    attempts = serializers.FloatField(help_text="In attempts after the first, of runs that are no repetition.")
    repeated = serializers.FloatField(help_text="In runs that repeat one of their kind at the same revision.")
    total = serializers.FloatField()
    share = serializers.FloatField(allow_null=True, help_text="Both of the total; null where no duration is known.")
    repeated_runs = serializers.IntegerField()
    runs = serializers.IntegerField()
    untimed = serializers.IntegerField(help_text="Reports without any duration: not in the seconds.")


class ExposureCurveSerializer(serializers.Serializer):
    """The share of flaky tests that n executions expose with a chance of 50 % and of 95 %."""

    n = serializers.ListField(child=serializers.IntegerField())
    half = serializers.ListField(child=serializers.FloatField())
    sure = serializers.ListField(child=serializers.FloatField())
    tests = serializers.IntegerField()
    median = serializers.FloatField(allow_null=True, help_text="Executions that expose the median test.")


class LongestBurstsSerializer(serializers.Serializer):
    """How many flaky tests have which longest burst."""

    longest = serializers.ListField(child=serializers.IntegerField())
    tests = serializers.ListField(child=serializers.IntegerField())


class TestRerunsSerializer(TestNameSerializer):
    reruns = RerunsSerializer()
    again = AgainSerializer()
    seconds = serializers.FloatField(allow_null=True)


class RerunListSerializer(PageSerializer):
    confidence = serializers.FloatField(allow_null=True)
    limit = serializers.IntegerField(allow_null=True, help_text="More reruns in a row are not worth it.")
    retries = RetryCurveSerializer(allow_null=True)
    rerun_time = RerunTimeSerializer(allow_null=True)
    exposure = ExposureCurveSerializer(allow_null=True)
    bursts = LongestBurstsSerializer(allow_null=True)
    results = TestRerunsSerializer(many=True, help_text="Tests that need more than the recommended number.")


class ExposurePointSerializer(serializers.Serializer):
    n = serializers.IntegerField()
    chance = serializers.FloatField(help_text="U(n): that n executions show a pass and a failure.")


class RerunCostSerializer(serializers.Serializer):
    executions = serializers.FloatField(allow_null=True, help_text="To expect; null where there is no number.")
    seconds = serializers.FloatField(allow_null=True, help_text="Null where the test's duration is not known.")


class RerunCostsSerializer(serializers.Serializer):
    get_past = RerunCostSerializer(help_text="Reruns until the first pass, at most to_get_past of them.")
    expose = RerunCostSerializer(help_text="Executions until it has passed and failed, at most to_expose of them.")
    confirm = RerunCostSerializer(help_text="All to_confirm executions.")


class ContextRateSerializer(RerunContextSerializer):
    low = serializers.FloatField()
    high = serializers.FloatField()


class ContextAdviceSerializer(serializers.Serializer):
    """Where to rerun it: by whether it depends on other tests, with how often reruns passed in each context."""

    dependence = serializers.ChoiceField([choice.value for choice in Dependence])
    to_pass = serializers.ChoiceField(("alone", "file", "suite"))
    to_reproduce = serializers.ChoiceField(("alone", "suite"))
    sentence = serializers.CharField()
    rates = ContextRateSerializer(many=True)


class RerunDetailSerializer(AnswerSerializer):
    asked = serializers.IntegerField(help_text="The number that was asked for; of a renamed test, its old one.")
    test = TestRerunsSerializer()
    confidence = serializers.FloatField(allow_null=True)
    fails_again = IntervalSerializer(
        allow_null=True, help_text="The chance that a rerun after a failure fails too; null where no rerun is advised."
    )
    where = ContextAdviceSerializer(allow_null=True, help_text="Null where no rerun is advised.")
    exposure = ExposurePointSerializer(many=True)
    costs = RerunCostsSerializer()


@extend_schema_view(
    get=reading(
        "reruns_list",
        "Curves of the project, and the tests that need more reruns",
        "What n reruns of every failure would clear and cost; how many executions expose flaky tests; and the tests "
        "that need more than the recommended number, by number.",
        RerunListSerializer,
        PageQuery,
    )
)
class RerunListView(AnalysisView):
    serializer_class = RerunListSerializer

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(PageQuery, self.request)
        exceptions = [] if analysis is None else analysis.summary["retries"]["exceptions"]
        page = page_asked(query, len(exceptions))
        results = _rows(project, tests_of(analysis), exceptions[page.span])
        return {**paged(self.request, analysis, page, results), **_curves(analysis)}


def _rows(project: Project, columns: Columns, numbers: list[int]) -> list[dict[str, Any]]:
    known = names(project.pk, tests=numbers)
    rows = test_rows(columns, np.array(list(columns.rows(numbers).values()), dtype=np.int64))
    return [named_row(known.test(row.number), row) for row in rows]


def _curves(analysis: Analysis | None) -> dict[str, Any]:
    if analysis is None:
        return dict.fromkeys(("confidence", "limit", "retries", "rerun_time", "exposure", "bursts"))
    return {
        "confidence": analysis.parameters["confidence"],
        "limit": analysis.parameters["rerun_limit"],
        **{name: analysis.summary[name] for name in ("retries", "rerun_time", "exposure", "bursts")},
    }


@extend_schema_view(
    get=reading(
        "reruns_retrieve",
        "How many reruns one test is worth",
        "Three numbers with their confidence, what they rest on, and what they cost.",
        RerunDetailSerializer,
    )
)
class RerunView(AnalysisView):
    serializer_class = RerunDetailSerializer
    versions = (etags.aliases,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        test = test_now(project, self.kwargs["number"])
        confidence = DEFAULTS.confidence if analysis is None else analysis.parameters["confidence"]
        prior = {} if analysis is None else analysis.summary["prior"]
        advice = rerun_advice(tests_of(analysis), test.number, prior, confidence)
        return {
            "analysis": analysis,
            "asked": self.kwargs["number"],
            "test": named_row(test.test_name, advice.row),
            "confidence": None if analysis is None else confidence,
            "fails_again": advice.fails_again,
            "where": advice.fails_again and context_advice(test_finding(analysis, test.number), confidence),
            "exposure": advice.exposure,
            "costs": {"get_past": advice.get_past, "expose": advice.expose, "confirm": advice.confirm},
        }
