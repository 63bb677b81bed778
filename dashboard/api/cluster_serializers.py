"""Clusters: tests whose failures are related."""

from rest_framework import serializers

from analytics.models import ClusterFinding
from dashboard.api.listing import AnswerSerializer, PageSerializer
from dashboard.api.name_serializers import ReportNameSerializer, SignatureCountSerializer, TestNameSerializer


class AgreementSerializer(serializers.Serializer):
    """How the other view sees the members."""

    together = serializers.IntegerField(help_text="The most of them that it holds for one cluster too.")
    apart = serializers.IntegerField(help_text="Those that it puts into other clusters.")
    alone = serializers.IntegerField(help_text="Those that it puts into none.")


class ClusterSerializer(serializers.Serializer):
    view = serializers.ChoiceField(ClusterFinding.View.choices)
    number = serializers.IntegerField(help_text="The lowest number of its tests.")
    size = serializers.IntegerField(help_text="How many tests it has.")
    tests = TestNameSerializer(many=True, help_text="In lists the first ten.")
    runs = serializers.IntegerField(help_text="Runs in which one of its tests failed.")
    shared_runs = serializers.IntegerField(help_text="Runs in which at least two of them failed.")
    first_report = ReportNameSerializer(allow_null=True)
    last_report = ReportNameSerializer(allow_null=True)
    signatures = SignatureCountSerializer(many=True)
    agreement = AgreementSerializer()


class ClusterListSerializer(PageSerializer):
    results = ClusterSerializer(many=True)


class CellsSerializer(serializers.Serializer):
    test = serializers.IntegerField()
    cells = serializers.CharField(help_text="One sign a report: F failed in it, P passed, - was not in it.")


class ClusterCellsSerializer(ClusterSerializer):
    reports = ReportNameSerializer(many=True, allow_null=True, help_text="The latest with a failure, by time.")
    cells = CellsSerializer(many=True, help_text="What its first 200 tests did in these reports.")


class ClusterDetailSerializer(AnswerSerializer):
    cluster = ClusterCellsSerializer()
