"""Quarantines: list, make, look up, act on, export."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.listing import asked, invalid, page_asked, paged
from dashboard.api.metadata import EnvironmentField
from dashboard.api.project_view import ProjectView
from dashboard.api.quarantines_serializers import (
    ActSerializer,
    ConflictSerializer,
    NewQuarantineSerializer,
    QuarantineDetailSerializer,
    QuarantineListSerializer,
    QuarantineQuery,
)
from dashboard.api.schema import INVALID
from dashboard.api.upload_schema import ERRORS
from dashboard.quarantine.asking import asked_expiry, asked_tests, clean_runs_needed, suggested_owner
from dashboard.quarantine.exports import FORMATS, Named, export
from dashboard.quarantine.models import Quarantine
from dashboard.quarantine.selectors import active_tests, members_of, progress_of, quarantines_of
from dashboard.quarantine.services import (
    Actor,
    AlreadyQuarantined,
    QuarantineConflict,
    Terms,
    Unusable,
    quarantine_act,
    quarantine_create,
)
from dashboard.quarantine.states import Action, ActorKind, NotAllowed, State, possible
from ingest.models import Project, Test, Token

ACTIONS = (
    *(Action.APPROVE, Action.REJECT, Action.CHANGE, Action.EXTEND),
    *(Action.RELEASE, Action.FIX, Action.REOPEN),
)
_TERMS = ("owner", "ticket_url", "branches", "environments", "mode")
_CONFLICT = OpenApiResponse(ConflictSerializer, "Somebody was quicker, or the state does not allow it.")


def sent(serializer: type[serializers.Serializer], request: Request) -> dict[str, Any]:
    """The body, checked; 422 with all that is wrong with it."""
    data = request.data
    if not isinstance(data, dict):
        raise ApiError(422, "invalid", "The body must be a JSON object.")
    read = serializer(data=data)
    unknown = sorted(set(data) - set(read.fields))
    if unknown:
        raise ApiError(
            422, "unknown_field", f"There is no field {unknown[0][:40]!r}; there are {', '.join(read.fields)}."
        )
    if not read.is_valid():
        raise invalid(read)
    return read.validated_data


def token_actor(request: Request) -> Actor:
    assert isinstance(request.auth, Token)
    return Actor(ActorKind.TOKEN, request.auth.name)


@contextmanager
def _told() -> Iterator[None]:
    """What the services refuse, as answers."""
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


def shown(quarantine: Quarantine, tests: Sequence[Test]) -> dict[str, Any]:
    return {
        "id": quarantine.pk,
        **{name: getattr(quarantine, name) for name in _SHOWN},
        "tests": tests,
        "progress": progress_of(quarantine, tests),
        "actions": [action.value for action in possible(State(quarantine.state)) if action in ACTIONS],
    }


def detailed(quarantine: Quarantine) -> Response:
    tests = members_of([quarantine]).get(quarantine.pk, [])
    body = {**shown(quarantine, tests), "events": quarantine.events.all()}
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
        found = quarantines_of(project.pk, states=query.get("state", ()), owner=query["owner"], text=query["text"])
        page = page_asked(query, found.count())
        rows = list(found[page.span])
        tests = members_of(rows)
        body = paged(request, None, page, [shown(row, tests.get(row.pk, [])) for row in rows])
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
        project, told = self.project(), sent(NewQuarantineSerializer, request)
        with _told():
            made = _make(project, told, token_actor(request))
        response = detailed(made)
        response.status_code = 201
        return response


def _make(project: Project, told: dict[str, Any], actor: Actor) -> Quarantine:
    tests = asked_tests(project, test=told.get("test"), cluster=told.get("cluster"))
    terms = Terms(
        **{name: told[name] for name in _TERMS if name in told and name != "owner"},
        owner=told.get("owner") or suggested_owner(project, tests),
        reason=told["reason"],
        expires_at=asked_expiry(told.get("expires_at"), told.get("days")),
        needed=clean_runs_needed(project, tests),
        cluster=told.get("cluster"),
    )
    action = Action.PROPOSE if told["state"] == State.PROPOSED else Action.QUARANTINE
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
        parameters=[OpenApiParameter("action", str, OpenApiParameter.PATH, enum=[one.value for one in ACTIONS])],
        request=ActSerializer,
        responses={200: QuarantineDetailSerializer, **ERRORS, 409: _CONFLICT, 422: INVALID},
    )
    def post(self, request: Request, slug: str, quarantine_id: int, action: str) -> Response:
        if action not in ACTIONS:
            raise Http404
        quarantine, told = self.quarantine(), sent(ActSerializer, request)
        with _told():
            changed = quarantine_act(
                quarantine=quarantine,
                version=told["version"],
                action=Action(action),
                actor=token_actor(request),
                reason=told["reason"],
                expires_at=asked_expiry(told.get("expires_at"), told.get("days")),
                changes={name: told[name] for name in _TERMS if name in told},
            )
        return detailed(changed)


# -- exports -----------------------------------------------------------------------------------------------------


class ExportQuery(serializers.Serializer):
    branch = serializers.CharField(
        max_length=255, default="", allow_blank=True, help_text="Only what holds on this branch."
    )
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
        tests = active_tests(project.pk, branch=query["branch"], environment=query.get("environment"))
        done = export(kind, [_named(test) for test in tests], _others(project, tests))
        content_type = "application/json" if kind == "json" else "text/plain; charset=utf-8"
        return HttpResponse(done.text, content_type, headers={"X-Left-Out": str(len(done.left_out))})


def _named(test: Test) -> Named:
    return Named(test.number, test.suite, test.classname, test.name, test.file)


def _others(project: Project, tests: Sequence[Test]) -> list[Named]:
    """The project's other tests, which no pattern may hit."""
    if not tests:
        return []
    rows = Test.objects.filter(project=project, alias_of=None).exclude(pk__in=[test.pk for test in tests])
    return [Named(*row) for row in rows.values_list("number", "suite", "classname", "name", "file")]
