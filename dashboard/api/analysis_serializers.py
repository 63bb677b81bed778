"""An analysis as a whole: its window, what it left out, and what it says of the project."""

from datetime import date, timedelta

from rest_framework import serializers

from dashboard.api.listing import AnalysisRefSerializer, PageSerializer
from dashboard.api.orders import KnownOrdersSerializer
from dashboard.api.refreshes import RefreshSerializer
from dashboard.api.rerun_serializers import ExposureCurveSerializer, LongestBurstsSerializer, RetryCurveSerializer

_FIRST_DAY = date(1970, 1, 1)


class StatesSerializer(serializers.Serializer):
    """How many tests are in each state."""

    stable = serializers.IntegerField()
    flaky = serializers.IntegerField()
    suspect = serializers.IntegerField()
    broken = serializers.IntegerField()
    infrastructure = serializers.IntegerField()
    recovered = serializers.IntegerField()
    unexecuted = serializers.IntegerField()


class RunEndsSerializer(serializers.Serializer):
    """How many runs ended how."""

    passed = serializers.IntegerField()
    flaky = serializers.IntegerField(help_text="Every failing test of them is flaky.")
    regression = serializers.IntegerField()
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

    def get_day(self, told: dict[str, int]) -> date:
        """It is stored as days since 1970."""
        return _FIRST_DAY + timedelta(days=told["day"])


class MostSerializer(serializers.Serializer):
    """How few items of the priorities explain most of the blocked runs."""

    items = serializers.IntegerField()
    tests = serializers.IntegerField()
    share = serializers.FloatField()


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


class SummarySerializer(serializers.Serializer):
    states = StatesSerializer()
    runs = RunsSerializer()
    days = DaySerializer(many=True)
    most = MostSerializer(allow_null=True)
    blocked = serializers.IntegerField()
    retries = SummaryRetriesSerializer()
    exposure = ExposureCurveSerializer()
    bursts = LongestBurstsSerializer()
    orders = KnownOrdersSerializer()
    causes = serializers.DictField(child=serializers.IntegerField())
    suites = SuiteSerializer(many=True)
    incidents = serializers.IntegerField()
    clusters = serializers.IntegerField()
    prior = serializers.ListField(
        child=serializers.FloatField(), help_text="Beta(a, b) of the chance that a rerun after a failure fails."
    )


class CurrentAnalysisSerializer(serializers.Serializer):
    analysis = HeadlineSerializer(allow_null=True, help_text="Null before the first analysis.")
    summary = SummarySerializer(allow_null=True)
    refresh = RefreshSerializer()
