"""A project's policy: read, change, try."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.parsing import JSONParser
from dashboard.api.policy_serializers import (
    DryRunRequestSerializer,
    DryRunSerializer,
    NewPolicySerializer,
    PolicySerializer,
    past_told,
    plan_told,
)
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.sent import sent, token_actor
from dashboard.api.upload_schema import ERRORS, TOO_OFTEN
from dashboard.api.upload_serializers import ErrorSerializer
from dashboard.quarantine.applying import dry_run
from dashboard.quarantine.policy_settings import BadSettings, PolicySettings
from dashboard.quarantine.rehearsal import Rehearsal, rehearse_asked
from dashboard.quarantine.selectors import PolicyNow, policy_of
from dashboard.quarantine.services import PolicyConflict, policy_set
from dashboard.quarantine.simulation import Meant, Simulation


def _told(policy: PolicyNow) -> Response:
    row = policy.row
    body = {
        "version": policy.version,
        "settings": policy.settings.as_json(),
        "created_at": row.created_at if row else None,
        "created_by": row.created_by if row else "",
    }
    return Response(PolicySerializer(body).data)


def _settings(told: Any) -> PolicySettings:
    """Settings as sent; their bounds are the policy's own."""
    if not isinstance(told, dict):
        raise ApiError(422, "invalid", "settings must be an object.")
    try:
        return PolicySettings.from_json(told)
    except BadSettings as error:
        raise ApiError(422, "invalid", error.sentence) from error


class PolicyView(ProjectView):
    actions = {"PUT": "policy"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="policy_retrieve",
        summary="The policy in force",
        responses={200: PolicySerializer, **ERRORS},
    )
    def get(self, request: Request, slug: str) -> Response:
        return _told(policy_of(self.project().pk))

    @extend_schema(
        operation_id="policy_update",
        summary="Set the policy",
        description="Makes a new version; older ones are kept. Needs a token of the scope quarantine.",
        request=NewPolicySerializer,
        responses={
            200: PolicySerializer,
            **ERRORS,
            409: OpenApiResponse(ErrorSerializer, "The policy was changed meanwhile."),
            422: INVALID,
        },
    )
    def put(self, request: Request, slug: str) -> Response:
        project, told = self.project(), sent(NewPolicySerializer, request)
        settings = _settings(request.data["settings"])
        try:
            policy_set(project=project, settings=settings, version=told["version"], actor=token_actor(request))
        except PolicyConflict as error:
            raise ApiError(409, "conflict", error.sentence, version=error.version) from error
        return _told(policy_of(project.pk))


class DryRunView(ProjectView):
    actions = {"POST": "quarantine"}
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="policy_dry_run",
        summary="What a policy would do, and would have done",
        description="Today, by the current analysis; and at every seventh day of the last 90, by analyses of what was "
        "known then, proposals taken as approved. Nothing is changed. It stops after 20 seconds and says so. "
        "Needs a token of the scope quarantine. A project gets six a minute over past days.",
        request=DryRunRequestSerializer,
        responses={200: DryRunSerializer, **ERRORS, 422: INVALID, 429: TOO_OFTEN},
    )
    def post(self, request: Request, slug: str) -> Response:
        project, told = self.project(), sent(DryRunRequestSerializer, request)
        chosen = request.data.get("settings")
        settings = policy_of(project.pk).settings if chosen is None else _settings(chosen)
        today = dry_run(project, settings)
        past = rehearse_asked(project, settings, days=told["days"]) if told["days"] else _nothing(settings)
        body = {
            "settings": settings.as_json(),
            "today": None if today is None else plan_told(today),
            "past": past_told(past),
            "meant": past.meant,
            "complete": past.complete,
        }
        return Response(DryRunSerializer(body).data)


def _nothing(settings: PolicySettings) -> Rehearsal:
    return Rehearsal(Simulation(settings), Meant(), complete=True)
