"""Incidents: a list, one of them, and a person's word on it."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.history.names import Names, names
from analytics.kernel.incidents import IncidentRule
from analytics.models import Analysis, IncidentDecision, IncidentFinding
from analytics.runs.incident_findings import is_incident
from analytics.selectors import incidents_of
from analytics.services import incident_decide
from dashboard import etags
from dashboard.api.analysis.name_serializers import ReportNameSerializer
from dashboard.api.analysis.view import AnalysisView
from dashboard.api.json_parser import JSONParser
from dashboard.api.listing import AnswerSerializer, PageQuery, PageSerializer, asked, checked, one_of, page_asked, paged
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID, reading
from dashboard.api.upload.schema import ERRORS
from dashboard.tasks import refresh_now
from ingest.models import Project, Report

WHY = tuple(why.name.lower() for why in IncidentRule if why and why.name)


class IncidentSerializer(serializers.Serializer):
    report = ReportNameSerializer()
    host = serializers.CharField()
    environment = serializers.DictField(child=serializers.CharField())
    incident = serializers.BooleanField(help_text="Whether the analysis left its failures out.")
    failing = serializers.IntegerField(help_text="Tests that failed in it.")
    executed = serializers.IntegerField()
    expected = serializers.FloatField(allow_null=True, help_text="Failing tests that their own rates make likely.")
    beyond = serializers.FloatField(allow_null=True, help_text="Failing tests beyond those that were expected to.")
    p_value = serializers.FloatField(allow_null=True, help_text="Chance of as many, before correction.")
    why = serializers.ListField(child=serializers.ChoiceField(WHY), help_text="Which rules it meets.")
    signature = serializers.CharField(allow_null=True, help_text="The commonest words of its failures.")
    signature_failures = serializers.IntegerField()
    decided = serializers.ChoiceField(
        IncidentDecision.Word.choices, allow_null=True, help_text="What a person said; null for nothing."
    )
    applied = serializers.BooleanField(help_text="Whether the analysis knows that decision; the next one does.")


class IncidentListSerializer(PageSerializer):
    results = IncidentSerializer(many=True)


class IncidentDetailSerializer(AnswerSerializer):
    incident = IncidentSerializer()


class DecisionSerializer(serializers.Serializer):
    word = serializers.ChoiceField(
        ["", *IncidentDecision.Word.values],
        help_text="confirmed, rejected, or empty to take it back.",
        error_messages=dict.fromkeys(
            ("invalid_choice", "required", "null"), "word must be one of confirmed, rejected, or empty."
        ),
    )


class DecidedSerializer(serializers.Serializer):
    report = serializers.IntegerField()
    word = serializers.CharField(allow_blank=True)
    decided_at = serializers.DateTimeField(allow_null=True)


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


def _incident_bodies(found: list[IncidentFinding], project: Project) -> list[dict[str, Any]]:
    known = names(
        project.pk,
        reports=(incident.report_id for incident in found),
        signatures=(incident.data["signature"] for incident in found),
    )
    decisions = IncidentDecision.objects.filter(report__in=[incident.report_id for incident in found])
    word = dict(decisions.values_list("report_id", "word"))
    return [
        _incident_body(incident, known, word.get(incident.report_id))
        for incident in found
        if incident.report_id in known.reports
    ]


def _incident_body(incident: IncidentFinding, known: Names, decided: str | None) -> dict[str, Any]:
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
        "Reports whose failures are infrastructure incidents, newest first, including those that a person rejected.",
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
        return paged(self.request, analysis, page, _incident_bodies(list(found[page.span]), project))


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
        incidents = _incident_bodies(list(incidents_of(analysis).filter(report_id=self.kwargs["report_id"])), project)
        if not incidents:
            raise Http404
        return {"analysis": analysis, "incident": incidents[0]}


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
