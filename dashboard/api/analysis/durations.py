"""How long one test takes in CI, host by host: what a time limit or a wait has to allow for."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.history.executions import history_of
from analytics.history.host_durations import durations_by_host
from analytics.models import Analysis
from dashboard import etags
from dashboard.api.analysis.tests import test_now
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.schema import reading
from ingest.models import Project


class HostDurationsSerializer(serializers.Serializer):
    host = serializers.CharField(allow_blank=True, help_text="Empty where CI does not say it.")
    executions = serializers.IntegerField(help_text="Passing ones; five at least.")
    median = serializers.FloatField(help_text="Seconds.")
    high = serializers.FloatField(help_text="Seconds: 95th percentile.")


class TestDurationsSerializer(serializers.Serializer):
    test = serializers.IntegerField(help_text="Its number now.")
    hosts = HostDurationsSerializer(many=True, help_text="The slowest first.")
    slowest = serializers.FloatField(allow_null=True, help_text="Seconds: 95th percentile on the slowest host.")
    runs_a_day = serializers.FloatField(allow_null=True, help_text="Reports that speak of it, a day.")

    __test__ = False


@extend_schema_view(
    get=reading(
        "tests_durations",
        "How long one test takes, by host",
        "Of its newest passing executions. `flakeboard waits` asks how much slower CI is than your machine.",
        TestDurationsSerializer,
    )
)
class TestDurationsView(AnalysisView):
    serializer_class = TestDurationsSerializer
    versions = (etags.aliases,)

    __test__ = False

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        test = test_now(project, self.kwargs["number"])
        found = durations_by_host(history_of(project, test, analysis))
        return {"test": test.number, **asdict(found)}
