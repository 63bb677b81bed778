"""Clusters: tests that fail together, and tests that fail with the same message."""

from collections.abc import Iterable
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from analytics.history.names import Names, names
from analytics.models import Analysis, ClusterFinding
from analytics.selectors import clusters_of
from dashboard.api.analysis.name_serializers import ReportNameSerializer, SignatureCountSerializer, TestNameSerializer
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.listing import AnswerSerializer, PageQuery, PageSerializer, asked, one_of, page_asked, paged
from dashboard.api.schema import reading
from ingest.models import Project


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


_LISTED = 10


class ClusterQuery(PageQuery):
    view = one_of("view", ClusterFinding.View.values, "Only clusters by co-failure, or only those by signature.")


def _names(project: Project, found: Iterable[ClusterFinding], tests: int | None) -> Names:
    """Look up the names these clusters refer to, for at most `tests` tests of each."""
    data = [cluster.data for cluster in found]
    return names(
        project.pk,
        tests=(number for cluster in data for number in cluster["tests"][:tests]),
        reports=(
            report
            for cluster in data
            for report in (cluster["first_report"], cluster["last_report"], *cluster["reports"])
        ),
        signatures=(signature["id"] for cluster in data for signature in cluster["signatures"]),
    )


def _cluster_body(cluster: ClusterFinding, known: Names, tests: int | None) -> dict[str, Any]:
    data = cluster.data
    return {
        **data,
        "view": cluster.view,
        "number": cluster.number,
        "size": len(data["tests"]),
        "tests": [known.test(number) for number in data["tests"][:tests]],
        "first_report": known.report(data["first_report"]),
        "last_report": known.report(data["last_report"]),
        "signatures": [{**signature, "text": known.signature(signature["id"])} for signature in data["signatures"]],
    }


@extend_schema_view(
    get=reading(
        "clusters_list",
        "List clusters",
        "First those that fail together, then those that fail with the same message; by runs with a failure.",
        ClusterListSerializer,
        ClusterQuery,
    )
)
class ClusterListView(AnalysisView):
    serializer_class = ClusterListSerializer

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(ClusterQuery, self.request)
        found = clusters_of(analysis)
        if query["view"]:
            found = found.filter(view=query["view"])
        page = page_asked(query, found.count())
        shown = list(found[page.span])
        known = _names(project, shown, _LISTED)
        return paged(self.request, analysis, page, [_cluster_body(cluster, known, _LISTED) for cluster in shown])


@extend_schema_view(
    get=reading(
        "clusters_retrieve",
        "One cluster",
        "All its tests, and what they did in its latest reports.",
        ClusterDetailSerializer,
    )
)
class ClusterView(AnalysisView):
    serializer_class = ClusterDetailSerializer

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        cluster = clusters_of(analysis).filter(view=self.kwargs["view"], number=self.kwargs["number"]).first()
        if cluster is None:
            raise Http404
        known = _names(project, [cluster], None)
        detail = {
            **_cluster_body(cluster, known, None),
            "reports": [known.report(report) for report in cluster.data["reports"]],
            "cells": [
                {"test": test, "cells": cells}
                for test, cells in zip(cluster.data["tests"], cluster.data["cells"], strict=False)
            ],
        }
        return {"analysis": analysis, "cluster": detail}
