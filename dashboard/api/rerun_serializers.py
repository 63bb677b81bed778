"""Reruns: how many, for what, and at what cost."""

from rest_framework import serializers

from dashboard.api.listing import AnswerSerializer, PageSerializer
from dashboard.api.name_serializers import IntervalSerializer, TestNameSerializer
from dashboard.api.row_serializers import AgainSerializer, RerunsSerializer


class RetryCurveSerializer(serializers.Serializer):
    """What n reruns of every failure clear, and what they cost; columns of one curve."""

    n = serializers.ListField(child=serializers.IntegerField())
    share = serializers.ListField(child=serializers.FloatField(allow_null=True), help_text="Flaky failures cleared.")
    low = serializers.ListField(child=serializers.FloatField(allow_null=True))
    high = serializers.ListField(child=serializers.FloatField(allow_null=True))
    minutes = serializers.ListField(child=serializers.FloatField(), help_text="Machine minutes in the window.")
    untimed = serializers.IntegerField(help_text="Failures of tests whose duration is not known: not in the minutes.")
    recommended = serializers.IntegerField(allow_null=True)
    failures = serializers.IntegerField(help_text="Flaky failures that the curve rests on.")


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


class RerunDetailSerializer(AnswerSerializer):
    asked = serializers.IntegerField(help_text="The number that was asked for; of a renamed test, its old one.")
    test = TestRerunsSerializer()
    confidence = serializers.FloatField(allow_null=True)
    fails_again = IntervalSerializer(
        allow_null=True, help_text="The chance that a rerun after a failure fails too; null where no rerun is advised."
    )
    exposure = ExposurePointSerializer(many=True)
    costs = RerunCostsSerializer()
