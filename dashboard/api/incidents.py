"""Incidents: a list, one of them, and a person's word on it."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.models import Analysis, IncidentDecision, IncidentFinding
from analytics.naming import Names, names
from analytics.run_ends import is_incident
from analytics.selectors import incidents_of
from analytics.services import incident_decide
from dashboard.api import etags
from dashboard.api.analysis_view import AnalysisView
from dashboard.api.incident_serializers import (
    WHY,
    DecidedSerializer,
    DecisionSerializer,
    IncidentDetailSerializer,
    IncidentListSerializer,
)
from dashboard.api.listing import PageQuery, asked, checked, one_of, page_asked, paged
from dashboard.api.parsing import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.refreshes import refresh_now
from dashboard.api.schema import INVALID, reading
from dashboard.api.upload_schema import ERRORS
from ingest.models import Project, Report

_UNDECIDED = "none"
_WORD = "report__incidentdecision__word"


class IncidentQuery(PageQuery):
    decided = one_of("decided", (*IncidentDecision.Word.values, _UNDECIDED), "Only those of which a person said this.")
    why = one_of("why", WHY, "Only those that meet this rule.")


def _chosen(found: QuerySet[IncidentFinding], query: dict[str, Any]) -> QuerySet[IncidentFinding]:
    if query["decided"]:
        word = query["decided"]
        found = found.filter(**{f"{_WORD}__isnull": True} if word == _UNDECIDED else {_WORD: word})
    return found.filter(data__why__contains=query["why"]) if query["why"] else found


def _told(found: list[IncidentFinding], project: Project) -> list[dict[str, Any]]:
    known = names(
        project.pk,
        reports=(one.report_id for one in found),
        signatures=(one.data["signature"] for one in found),
    )
    said = IncidentDecision.objects.filter(report__in=[one.report_id for one in found])
    word = dict(said.values_list("report_id", "word"))
    return [_one(one, known, word.get(one.report_id)) for one in found if one.report_id in known.reports]


def _one(incident: IncidentFinding, known: Names, decided: str | None) -> dict[str, Any]:
    data = incident.data
    return {
        **data,
        "report": known.report(incident.report_id),
        "incident": is_incident(data["why"], data["decided"]),
        "signature": known.signature(data["signature"]),
        "decided": decided,
        "applied": (decided or "") == data["decided"],
    }


@extend_schema_view(
    get=reading(
        "incidents_list",
        "List incidents",
        "Reports whose failures belong to the machines, newest first; those that a person rejected included.",
        IncidentListSerializer,
        IncidentQuery,
    )
)
class IncidentListView(AnalysisView):
    serializer_class = IncidentListSerializer
    versions = (etags.decisions,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        query = asked(IncidentQuery, self.request)
        found = _chosen(incidents_of(analysis), query)
        page = page_asked(query, found.count())
        return paged(self.request, analysis, page, _told(list(found[page.span]), project))


@extend_schema_view(
    get=reading(
        "incidents_retrieve",
        "One incident",
        "By the id of its report.",
        IncidentDetailSerializer,
    )
)
class IncidentView(AnalysisView):
    serializer_class = IncidentDetailSerializer
    versions = (etags.decisions,)

    def body(self, project: Project, analysis: Analysis | None) -> dict[str, Any]:
        told = _told(list(incidents_of(analysis).filter(report_id=self.kwargs["report_id"])), project)
        if not told:
            raise Http404
        return {"analysis": analysis, "incident": told[0]}


class DecisionView(ProjectView):
    actions = {"POST": "decide"}
    parser_classes = (JSONParser, FormParser, MultiPartParser)

    @extend_schema(
        operation_id="incidents_decide",
        summary="Say whether a report is an incident",
        description="Kept, and applied by the next analysis, which is asked for at once. Any report of the project can "
        "be confirmed, also one that our rules did not find. Needs a token of the scope upload.",
        request=DecisionSerializer,
        responses={200: DecidedSerializer, **ERRORS, 422: INVALID},
    )
    def post(self, request: Request, slug: str, report_id: int) -> Response:
        project = self.project()
        report = Report.objects.filter(project=project, pk=report_id).only("pk").first()
        if report is None:
            raise Http404
        word = checked(DecisionSerializer(data=request.data))["word"]
        decision = incident_decide(project=project, report=report, word=word, user_id=None)
        refresh_now(project)
        decided_at = decision.decided_at if decision else None
        return Response(DecidedSerializer({"report": report.pk, "word": word, "decided_at": decided_at}).data)
