"""A policy and its dry run as JSON."""

from typing import Any

from rest_framework import serializers

from dashboard.quarantine.policy import Plan
from dashboard.quarantine.policy_settings import DEFAULTS, PolicyMode
from dashboard.quarantine.rehearsal import DAYS, Rehearsal

POLICY_MODES = tuple(mode.value for mode in PolicyMode)


class PolicySettingsSerializer(serializers.Serializer):
    """Every setting; docs/quarantine.md says what each is for."""

    mode = serializers.ChoiceField(POLICY_MODES, required=False, default=DEFAULTS.mode.value)
    least_evidence = serializers.IntegerField(required=False, default=DEFAULTS.least_evidence)
    least_rate = serializers.FloatField(required=False, default=DEFAULTS.least_rate)
    least_blocked = serializers.IntegerField(required=False, default=DEFAULTS.least_blocked)
    least_default_failures = serializers.IntegerField(required=False, default=DEFAULTS.least_default_failures)
    least_age_days = serializers.FloatField(required=False, default=DEFAULTS.least_age_days)
    most_tests = serializers.IntegerField(required=False, default=DEFAULTS.most_tests)
    most_share = serializers.FloatField(required=False, default=DEFAULTS.most_share)
    release = serializers.BooleanField(required=False, default=DEFAULTS.release)
    reopen = serializers.BooleanField(required=False, default=DEFAULTS.reopen)
    days = serializers.IntegerField(required=False, default=DEFAULTS.days)
    pause_days = serializers.IntegerField(required=False, default=DEFAULTS.pause_days)
    missing_share = serializers.FloatField(required=False, default=DEFAULTS.missing_share)
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
        {"action": one.action.value, "tests": one.numbers, "quarantine": one.quarantine, "reason": one.reason}
        for one in plan.steps
    ]
    return {"steps": steps, "cap": plan.cap, "over": plan.over, "paused": plan.paused}


def past_told(rehearsal: Rehearsal) -> list[dict[str, Any]]:
    """Quarantine ids of a rehearsal mean nothing outside it."""
    rows = zip(rehearsal.simulation.plans, rehearsal.simulation.spans, strict=True)
    told = [{**plan_told(plan), "at": at, "quarantined": len(span.numbers)} for (at, plan), span in rows]
    for row in told:
        row["steps"] = [{**step, "quarantine": None} for step in row["steps"]]
    return told
