"""Analyses: those that are kept, the current one, and one by hand."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.models import Analysis
from analytics.selectors import analyses_of, refresh_of
from dashboard.api import etags
from dashboard.api.analysis_serializers import AnalysisListSerializer, CurrentAnalysisSerializer
from dashboard.api.analysis_view import AnalysisView
from dashboard.api.listing import PageQuery, asked, page_asked, paged
from dashboard.api.refreshes import RefreshSerializer, refresh_now, refresh_told
from dashboard.api.schema import reading
from dashboard.api.upload_schema import ERRORS
from ingest.models import Project

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
        shown = [_headline(one) for one in _headlines(project)[page.span]]
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
        return Response(RefreshSerializer(refresh_told(refresh_of(project.pk))).data, status=202)


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
        refresh = refresh_told(refresh_of(project.pk))
        if analysis is None:
            return {"analysis": None, "summary": None, "refresh": refresh}
        told = {name: getattr(analysis, name) for name in _HEADLINE}
        parts = {name: analysis.summary[name] for name in ("states", "runs")}
        return {"analysis": {**told, **parts}, "summary": analysis.summary, "refresh": refresh}
