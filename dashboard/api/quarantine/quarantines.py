"""Quarantines: list, make, look up, act on, export."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser
from dashboard.api.listing import asked, page_asked, paged
from dashboard.api.project_view import ProjectView
from dashboard.api.quarantine.quarantine_serializers import (
    ActSerializer,
    BranchQuery,
    ConflictSerializer,
    NewQuarantineSerializer,
    QuarantineDetailSerializer,
    QuarantineListSerializer,
    QuarantineQuery,
)
from dashboard.api.request_body import sent, token_actor
from dashboard.api.schema import INVALID
from dashboard.api.upload.metadata import EnvironmentField
from dashboard.api.upload.schema import ERRORS
from dashboard.quarantine.active_export import active_export, content_type
from dashboard.quarantine.exports import FORMATS
from dashboard.quarantine.fixes import Fix, fixes_of
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.progress import Progress, progress_of, progresses
from dashboard.quarantine.requests import asked_expiry, asked_terms, asked_tests
from dashboard.quarantine.selectors import members_of, quarantines_of
from dashboard.quarantine.services import (
    CHANGEABLE,
    Actor,
    AlreadyQuarantined,
    QuarantineConflict,
    Unusable,
    quarantine_act,
    quarantine_create,
)
from dashboard.quarantine.states import Action, NotAllowed, State, possible
from ingest.models import Project, Test

ACTIONS = (
    *(Action.APPROVE, Action.REJECT, Action.CHANGE, Action.EXTEND),
    *(Action.RELEASE, Action.FIX, Action.REOPEN),
)
_CONFLICT = OpenApiResponse(ConflictSerializer, "Somebody was quicker, or the state does not allow it.")


@contextmanager
def _answer_refusals() -> Iterator[None]:
    """Turn the services' refusals into API errors."""
    try:
        yield
    except QuarantineConflict as error:
        now = {"state": error.quarantine.state, "version": error.quarantine.version}
        raise ApiError(409, "conflict", error.sentence, **now) from error
    except NotAllowed as error:
        raise ApiError(409, "not_allowed", error.sentence, state=error.state.value) from error
    except AlreadyQuarantined as error:
        other = error.quarantine.pk if error.quarantine else None
        raise ApiError(409, "already_quarantined", error.sentence, quarantine=other) from error
    except Unusable as error:
        raise ApiError(422, "invalid", error.sentence) from error


# -- as JSON -----------------------------------------------------------------------------------------------------

_SHOWN = (
    *("state", "version", "cluster", "owner", "reason", "ticket_url", "branches", "environments", "mode"),
    *("expires_at", "policy_version", "created_at", "created_by", "activated_at", "ended_at"),
)


def shown(quarantine: Quarantine, tests: Sequence[Test], progress: Progress, fix: Fix | None) -> dict[str, Any]:
    return {
        "id": quarantine.pk,
        **{name: getattr(quarantine, name) for name in _SHOWN},
        "tests": tests,
        "progress": progress,
        "fix": fix,
        "actions": [action.value for action in possible(State(quarantine.state)) if action in ACTIONS],
    }


def detailed(quarantine: Quarantine) -> Response:
    tests = members_of([quarantine]).get(quarantine.pk, [])
    fix = fixes_of([quarantine], {quarantine.pk: tests}).get(quarantine.pk)
    body = {**shown(quarantine, tests, progress_of(quarantine, tests), fix), "events": quarantine.events.all()}
    return Response(QuarantineDetailSerializer(body).data)


class QuarantineListView(ProjectView):
    actions = {"POST": "quarantine"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="quarantines_list",
        summary="List quarantines, newest first",
        parameters=[QuarantineQuery],
        responses={200: QuarantineListSerializer, **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str) -> Response:
        query, project = asked(QuarantineQuery, request), self.project()
        words = {name: query[name] for name in ("owner", "text", "branch", "pull_request")}
        found = quarantines_of(project.pk, states=query.get("state", ()), **words)
        page = page_asked(query, found.count())
        rows = list(found[page.span])
        tests = members_of(rows)
        progress, fixes = progresses(rows, tests), fixes_of(rows, tests)
        results = [shown(row, tests.get(row.pk, []), progress[row.pk], fixes.get(row.pk)) for row in rows]
        body = paged(request, None, page, results)
        return Response(QuarantineListSerializer(body).data)

    @extend_schema(
        operation_id="quarantines_create",
        summary="Propose a quarantine, or begin one",
        description="Of a test or of all tests of a cluster. Where no owner is said, it is looked up. Needs a token of "
        "the scope quarantine.",
        request=NewQuarantineSerializer,
        responses={201: QuarantineDetailSerializer, **ERRORS, 409: _CONFLICT, 422: INVALID},
    )
    def post(self, request: Request, slug: str) -> Response:
        project, values = self.project(), sent(NewQuarantineSerializer, request)
        with _answer_refusals():
            made = _make(project, values, token_actor(request))
        response = detailed(made)
        response.status_code = 201
        return response


def _make(project: Project, values: dict[str, Any], actor: Actor) -> Quarantine:
    tests = asked_tests(project, test=values.get("test"), cluster=values.get("cluster"))
    terms = asked_terms(project, tests, values, cluster=values.get("cluster"))
    action = Action.PROPOSE if values["state"] == State.PROPOSED else Action.QUARANTINE
    return quarantine_create(project=project, tests=tests, actor=actor, terms=terms, action=action)


class OneQuarantineView(ProjectView):
    def quarantine(self) -> Quarantine:
        found = quarantines_of(self.project().pk).filter(pk=self.kwargs["quarantine_id"]).first()
        if found is None:
            raise Http404
        return found


class QuarantineView(OneQuarantineView):
    @extend_schema(
        operation_id="quarantines_retrieve",
        summary="One quarantine, with its events",
        responses={200: QuarantineDetailSerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str, quarantine_id: int) -> Response:
        return detailed(self.quarantine())


class QuarantineActView(OneQuarantineView):
    actions = {"POST": "quarantine"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="quarantines_act",
        summary="Approve, reject, change, extend, release, fix or reopen",
        description="Decided on a version: where somebody changed it meanwhile, 409 says who, and what it is now. "
        "Needs a token of the scope quarantine.",
        parameters=[OpenApiParameter("action", str, OpenApiParameter.PATH, enum=[action.value for action in ACTIONS])],
        request=ActSerializer,
        responses={200: QuarantineDetailSerializer, **ERRORS, 409: _CONFLICT, 422: INVALID},
    )
    def post(self, request: Request, slug: str, quarantine_id: int, action: str) -> Response:
        if action not in ACTIONS:
            raise Http404
        quarantine, values = self.quarantine(), sent(ActSerializer, request)
        with _answer_refusals():
            changed = quarantine_act(
                quarantine=quarantine,
                version=values["version"],
                action=Action(action),
                actor=token_actor(request),
                reason=values["reason"],
                expires_at=asked_expiry(values.get("expires_at"), values.get("days")),
                changes={name: values[name] for name in CHANGEABLE if name in values},
            )
        return detailed(changed)


# -- exports -----------------------------------------------------------------------------------------------------


class ExportQuery(BranchQuery):
    environment = EnvironmentField(required=False, help_text="Only what holds here, as os=linux,python=3.12.")


class QuarantineExportView(ProjectView):
    @extend_schema(
        operation_id="quarantines_export",
        summary="The tests that are quarantined now, as a test runner takes them",
        description="What a runner's selector cannot say exactly is left out; the header X-Left-Out counts it. "
        "docs/quarantine.md shows how each is used.",
        parameters=[OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=list(FORMATS)), ExportQuery],
        responses={(200, "text/plain"): OpenApiTypes.STR, **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str, kind: str) -> HttpResponse:
        if kind not in FORMATS:
            raise Http404
        query, project = asked(ExportQuery, request), self.project()
        where = {name: query[name] for name in ("branch", "pull_request")}
        done = active_export(project, kind, **where, environment=query.get("environment"))
        return HttpResponse(done.text, content_type(kind), headers={"X-Left-Out": str(len(done.left_out))})
