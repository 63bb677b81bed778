"""Dependencies: list, state, retire."""

from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.lab.dependencies import KnownDependency, inferred_of, live, stored
from analytics.lab.models import Dependency
from analytics.lab.names import Resolver
from analytics.lab.services import DependencyRefused, dependency_retire, dependency_state
from analytics.selectors import current_analysis
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser
from dashboard.api.lab.answers import conditional
from dashboard.api.lab.dependency_bodies import as_csv, as_markers, dependency_bodies
from dashboard.api.lab.dependency_serializers import (
    DependencyListSerializer,
    DependencyQuery,
    DependencySerializer,
    NewDependencySerializer,
    RetirementSerializer,
)
from dashboard.api.listing import asked, page_asked, paged
from dashboard.api.negotiation import FormatIsOurs
from dashboard.api.project_view import ProjectView
from dashboard.api.request_body import sent
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS, error_answer
from dashboard.people.audit import audit
from dashboard.people.models import PersonalToken
from ingest.models import Project

_LARGEST_NUMBER = 2**31 - 1


class DependencyListView(ProjectView):
    actions = {"POST": "upload"}
    parser_classes = (JSONParser,)
    content_negotiation_class = FormatIsOurs

    @extend_schema(
        operation_id="dependencies_list",
        summary="List dependencies between tests",
        description="Shown by experiments, stated by people or CI, then those that the current analysis infers.",
        parameters=[DependencyQuery],
        responses={
            (200, "application/json"): DependencyListSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "text/plain"): OpenApiTypes.STR,
            304: OpenApiResponse(description="You have it already."),
            **ERRORS,
            422: INVALID,
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        project, query = self.project(), asked(DependencyQuery, request)
        found = _chosen(project, query)
        if query["format"] == "csv":
            return HttpResponse(as_csv(project, found), content_type="text/csv; charset=utf-8")
        if query["format"] == "pytest-order":
            return HttpResponse(as_markers(project, found), content_type="text/plain; charset=utf-8")
        page = page_asked(query, len(found))
        body = paged(request, None, page, dependency_bodies(project, found[page.span]))
        del body["analysis"]
        return conditional(request, DependencyListSerializer(body).data)

    @extend_schema(
        operation_id="dependencies_create",
        summary="State a dependency",
        description="Positive: the test needs the others before it. Negative: it must not run after them.",
        request=NewDependencySerializer,
        responses={
            201: OpenApiResponse(DependencySerializer, "Stated."),
            200: OpenApiResponse(DependencySerializer, "It was stated before."),
            **ERRORS,
            422: error_answer("A test is unknown, or depends on itself.", "unknown_test", "No test is called …"),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project, body = self.project(), sent(NewDependencySerializer, request)
        wanted = [body["after"], *body["before"], *body["cleaners"]]
        numbers = Resolver(project).numbers(wanted)
        if unknown := [name for name in wanted if name not in numbers]:
            raise ApiError(422, "unknown_test", f"No test of this project is called {unknown[0][:200]!r}.")
        key = request.auth
        try:
            row, new = dependency_state(
                project=project,
                after=numbers[body["after"]],
                before=[numbers[name] for name in body["before"]],
                positive=body["sign"] == "positive",
                cleaners=[numbers[name] for name in body["cleaners"]],
                reason=body["reason"],
                user_id=key.user_id if isinstance(key, PersonalToken) else None,
            )
        except DependencyRefused as refusal:
            raise ApiError(422, refusal.code, refusal.sentence) from refusal
        if new:
            audit("dependency.stated", project=project, target=f"dependency {row.pk}", after={"test": row.number})
        return _answer(project, row, 201 if new else 200)


def _chosen(project: Project, query: dict[str, Any]) -> list[KnownDependency]:
    found = _held(project, query)
    if query["role"]:
        found = [dependency for dependency in found if dependency.role == query["role"]]
    if query["ground"]:
        found = [dependency for dependency in found if dependency.ground == query["ground"]]
    if query["stale"]:
        found = [dependency for dependency in found if dependency.stale == (query["stale"] == "yes")]
    if query["test"]:
        number = _number(project, query["test"])
        found = [dependency for dependency in found if dependency.after == number]
    return found


def _held(project: Project, query: dict[str, Any]) -> list[KnownDependency]:
    if query["retired"] == "no":
        return live(project, inferred=True)
    rows = Dependency.objects.filter(project=project).select_related("first_experiment", "last_experiment")
    if query["retired"] == "yes":
        return stored(project, rows.exclude(retired_at=None))
    return [*stored(project, rows), *inferred_of(project, current_analysis(project.pk))]


def _number(project: Project, reference: str) -> int | None:
    if reference.isascii() and reference.isdecimal():
        return int(reference) if len(reference) < 11 and int(reference) <= _LARGEST_NUMBER else None
    return Resolver(project).numbers([reference]).get(reference) if "\0" not in reference else None


def _answer(project: Project, row: Dependency, status: int) -> Response:
    (body,) = dependency_bodies(project, stored(project, [row]))
    return Response(DependencySerializer(body).data, status=status)


class RetirementView(ProjectView):
    actions = {"POST": "upload"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="dependencies_retire",
        summary="Retire a dependency",
        description="It no longer constrains schedules. An experiment that shows it again makes a new one.",
        request=RetirementSerializer,
        responses={200: DependencySerializer, **ERRORS, 422: INVALID},
    )
    def post(self, request: Request, slug: str, dependency_id: int) -> Response:
        project = self.project()
        row = Dependency.objects.filter(project=project, pk=dependency_id).first()
        if row is None:
            raise Http404
        body = sent(RetirementSerializer, request)
        if dependency_retire(dependency=row, why=body["reason"] or "Retired by CI."):
            audit("dependency.retired", project=project, target=f"dependency {row.pk}", after={"why": body["reason"]})
        row.refresh_from_db()
        return _answer(project, row, 200)
