"""Clusters: tests that fail together, and tests that fail with the same words."""

from collections.abc import Iterable
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema_view

from analytics.models import Analysis, ClusterFinding
from analytics.naming import Names, names
from analytics.selectors import clusters_of
from dashboard.api.analysis_view import AnalysisView
from dashboard.api.cluster_serializers import ClusterDetailSerializer, ClusterListSerializer
from dashboard.api.listing import PageQuery, asked, one_of, page_asked, paged
from dashboard.api.schema import reading
from ingest.models import Project

_LISTED = 10


class ClusterQuery(PageQuery):
    view = one_of("view", ClusterFinding.View.values, "Only clusters by co-failure, or only those by signature.")


def _names(project: Project, found: Iterable[ClusterFinding], tests: int | None) -> Names:
    """The names that these clusters need, of so many tests of each."""
    data = [one.data for one in found]
    return names(
        project.pk,
        tests=(number for one in data for number in one["tests"][:tests]),
        reports=(report for one in data for report in (one["first_report"], one["last_report"], *one["reports"])),
        signatures=(signature["id"] for one in data for signature in one["signatures"]),
    )


def _told(cluster: ClusterFinding, known: Names, tests: int | None) -> dict[str, Any]:
    data = cluster.data
    return {
        **data,
        "view": cluster.view,
        "number": cluster.number,
        "size": len(data["tests"]),
        "tests": [known.test(number) for number in data["tests"][:tests]],
        "first_report": known.report(data["first_report"]),
        "last_report": known.report(data["last_report"]),
        "signatures": [{**one, "text": known.signature(one["id"])} for one in data["signatures"]],
    }


@extend_schema_view(
    get=reading(
        "clusters_list",
        "List clusters",
        "First those that fail together, then those that fail with the same words; by runs with a failure.",
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
        return paged(self.request, analysis, page, [_told(one, known, _LISTED) for one in shown])


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
        told = {
            **_told(cluster, known, None),
            "reports": [known.report(one) for one in cluster.data["reports"]],
            "cells": [
                {"test": test, "cells": cells}
                for test, cells in zip(cluster.data["tests"], cluster.data["cells"], strict=False)
            ],
        }
        return {"analysis": analysis, "cluster": told}
