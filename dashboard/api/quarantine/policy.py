"""A project's policy: read, change, try."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.request_body import sent, token_actor
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS, TOO_OFTEN
from dashboard.api.upload.serializers import ErrorSerializer
from dashboard.quarantine.policy.plan import Plan
from dashboard.quarantine.policy.rehearsal import DAYS, Rehearsal, rehearse_asked
from dashboard.quarantine.policy.service import dry_run
from dashboard.quarantine.policy.settings import DEFAULTS, BadSettings, FirstRuns, Group, PolicyMode, PolicySettings
from dashboard.quarantine.policy.simulation import FailedRuns, Simulation
from dashboard.quarantine.selectors import PolicyNow, policy_of
from dashboard.quarantine.services import PolicyConflict, policy_set

POLICY_MODES = tuple(mode.value for mode in PolicyMode)


class PolicySettingsSerializer(serializers.Serializer):
    """Every setting; docs/quarantine.md says what each is for."""

    mode = serializers.ChoiceField(POLICY_MODES, required=False, default=DEFAULTS.mode.value)
    only = serializers.CharField(
        required=False, allow_blank=True, default=DEFAULTS.only, help_text="New quarantines only of tests that fit it."
    )
    least_evidence = serializers.IntegerField(required=False, default=DEFAULTS.least_evidence)
    least_rate = serializers.FloatField(required=False, default=DEFAULTS.least_rate)
    least_blocked = serializers.IntegerField(required=False, default=DEFAULTS.least_blocked)
    least_default_failures = serializers.IntegerField(required=False, default=DEFAULTS.least_default_failures)
    least_age_days = serializers.FloatField(required=False, default=DEFAULTS.least_age_days)
    most_tests = serializers.IntegerField(required=False, default=DEFAULTS.most_tests)
    most_share = serializers.FloatField(required=False, default=DEFAULTS.most_share)
    group = serializers.ChoiceField(
        tuple(Group), required=False, default=DEFAULTS.group.value, help_text="Which tests become one quarantine."
    )
    ticket = serializers.BooleanField(required=False, default=DEFAULTS.ticket)
    resolve = serializers.BooleanField(required=False, default=DEFAULTS.resolve)
    release = serializers.BooleanField(required=False, default=DEFAULTS.release)
    reopen = serializers.BooleanField(required=False, default=DEFAULTS.reopen)
    days = serializers.IntegerField(required=False, default=DEFAULTS.days)
    pause_days = serializers.IntegerField(required=False, default=DEFAULTS.pause_days)
    missing_share = serializers.FloatField(required=False, default=DEFAULTS.missing_share)
    first_runs = serializers.ChoiceField(
        tuple(FirstRuns), required=False, default=DEFAULTS.first_runs.value, help_text="Of runs without a norm."
    )
    exit_codes = serializers.DictField(
        child=serializers.ListField(child=serializers.IntegerField()), required=False, default=dict
    )


class PolicySerializer(serializers.Serializer):
    version = serializers.IntegerField(help_text="0: nobody has set one, and the defaults hold.")
    settings = PolicySettingsSerializer()
    created_at = serializers.DateTimeField(allow_null=True)
    created_by = serializers.CharField()


class NewPolicySerializer(serializers.Serializer):
    version = serializers.IntegerField(min_value=0, help_text="The version that this is made from.")
    settings = PolicySettingsSerializer(help_text="What is left out is as the default is.")


class DryRunRequestSerializer(serializers.Serializer):
    settings = PolicySettingsSerializer(required=False, help_text="The policy to try; the one in force if left out.")
    days = serializers.IntegerField(
        min_value=0, max_value=DAYS, default=DAYS, help_text="How far back to try it; 0: only today."
    )


class StepSerializer(serializers.Serializer):
    action = serializers.CharField()
    tests = serializers.ListField(child=serializers.IntegerField(), help_text="Test numbers.")
    quarantine = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()


class PlanSerializer(serializers.Serializer):
    steps = StepSerializer(many=True)
    cap = serializers.IntegerField()
    over = serializers.ListField(
        child=serializers.IntegerField(), help_text="Tests that the cap keeps out: it shouts instead."
    )
    paused = serializers.BooleanField(help_text="An incident is on: nothing new.")


class PastPlanSerializer(PlanSerializer):
    at = serializers.DateTimeField()
    quarantined = serializers.IntegerField(help_text="Tests quarantined after it.")


class MeantSerializer(serializers.Serializer):
    flaky = serializers.IntegerField(help_text="Runs that flaky tests alone made fail.")
    flaky_passed = serializers.IntegerField(help_text="Those of them that would have passed.")
    others = serializers.IntegerField(help_text="Runs that something else made fail.")
    others_passed = serializers.IntegerField(help_text="Those of them that would have been masked.")


class DryRunSerializer(serializers.Serializer):
    settings = PolicySettingsSerializer()
    today = PlanSerializer(allow_null=True, help_text="Null before the first analysis.")
    past = PastPlanSerializer(many=True)
    meant = MeantSerializer()
    complete = serializers.BooleanField(help_text="False: time was up before the newest day was tried.")


def plan_told(plan: Plan) -> dict[str, Any]:
    steps = [
        {"action": step.action.value, "tests": step.numbers, "quarantine": step.quarantine, "reason": step.reason}
        for step in plan.steps
    ]
    return {"steps": steps, "cap": plan.cap, "over": plan.over, "paused": plan.paused}


def past_told(rehearsal: Rehearsal) -> list[dict[str, Any]]:
    """The plans of a rehearsal, without quarantine ids, which mean nothing outside it."""
    rows = zip(rehearsal.simulation.plans, rehearsal.simulation.spans, strict=True)
    plans = [{**plan_told(plan), "at": at, "quarantined": len(span.numbers)} for (at, plan), span in rows]
    for row in plans:
        row["steps"] = [{**step, "quarantine": None} for step in row["steps"]]
    return plans


def _policy_response(policy: PolicyNow) -> Response:
    row = policy.row
    body = {
        "version": policy.version,
        "settings": policy.settings.as_json(),
        "created_at": row.created_at if row else None,
        "created_by": row.created_by if row else "",
    }
    return Response(PolicySerializer(body).data)


def _settings(values: Any) -> PolicySettings:
    """Read the settings that were sent; the policy itself checks their bounds."""
    if not isinstance(values, dict):
        raise ApiError(422, "invalid", "settings must be an object.")
    try:
        return PolicySettings.from_json(values)
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
        return _policy_response(policy_of(self.project().pk))

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
        project, values = self.project(), sent(NewPolicySerializer, request)
        settings = _settings(request.data["settings"])
        try:
            policy_set(project=project, settings=settings, version=values["version"], actor=token_actor(request))
        except PolicyConflict as error:
            raise ApiError(409, "conflict", error.sentence, version=error.version) from error
        return _policy_response(policy_of(project.pk))


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
        project, values = self.project(), sent(DryRunRequestSerializer, request)
        chosen = request.data.get("settings")
        settings = policy_of(project.pk).settings if chosen is None else _settings(chosen)
        today = dry_run(project, settings)
        past = rehearse_asked(project, settings, days=values["days"]) if values["days"] else _nothing(settings)
        body = {
            "settings": settings.as_json(),
            "today": None if today is None else plan_told(today),
            "past": past_told(past),
            "meant": past.meant,
            "complete": past.complete,
        }
        return Response(DryRunSerializer(body).data)


def _nothing(settings: PolicySettings) -> Rehearsal:
    return Rehearsal(Simulation(settings), FailedRuns(), complete=True)
