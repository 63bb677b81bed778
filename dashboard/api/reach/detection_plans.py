"""Where to look for flaky tests that nobody knows."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.history.names import names
from analytics.reach.plans import project_plan
from dashboard.api.json_parser import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.reach.rerun_sets import budget_field, numbers_field
from dashboard.api.request_body import sent
from dashboard.api.schema import INVALID
from dashboard.api.throttling import check_schedules
from dashboard.api.upload.schema import ERRORS, TOO_OFTEN

_MOST_ASKED = 10_000
_MOST_LISTED = 5_000


class DetectionPlanRequestSerializer(serializers.Serializer):
    budget_seconds = budget_field(3_600.0)
    tests = numbers_field(_MOST_ASKED, "Only these tests, by number; by default all with a duration.")


class PlannedTestSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    suite = serializers.CharField(allow_blank=True)
    classname = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    file = serializers.CharField(allow_blank=True)
    executions = serializers.IntegerField()
    seconds = serializers.FloatField(help_text="Of one execution.")


class ExpectedSerializer(serializers.Serializer):
    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class DetectionPlanSerializer(serializers.Serializer):
    budget_seconds = serializers.FloatField()
    seconds = serializers.FloatField(help_text="That the plan takes.")
    expected = ExpectedSerializer(help_text="Flaky tests that it will show, with a 95 % interval.")
    share = serializers.FloatField(help_text="Of flaky tests in the project, which the plan goes by.")
    own_rates = serializers.BooleanField(help_text="False: too few flaky tests are known, so 416 published rates.")
    traced = serializers.IntegerField(help_text="Tests of which it is known what they use.")
    total = serializers.IntegerField(help_text="Tests that it runs at all.")
    tests = PlannedTestSerializer(many=True, help_text=f"The most often run first, at most {_MOST_LISTED:,}.")


class DetectionPlanView(ProjectView):
    parser_classes = (JSONParser,)
    actions = {"POST": "upload"}

    @extend_schema(
        operation_id="detection_plan_create",
        summary="Where to look for unknown flaky tests",
        description="How often to run which test within a budget, so that as many flaky ones as possible show both a "
        "pass and a failure. Tests that are known to be flaky or broken are left out. Nothing is kept.",
        request=DetectionPlanRequestSerializer,
        responses={200: DetectionPlanSerializer, **ERRORS, 422: INVALID, 429: TOO_OFTEN},
    )
    def post(self, request: Request, slug: str) -> Response:
        project, body = self.project(), sent(DetectionPlanRequestSerializer, request)
        check_schedules(request.auth)
        found = project_plan(project, body.get("tests"), body["budget_seconds"])
        plan = found.plan
        rows = [
            (int(times), number, float(seconds))
            for times, number, seconds in zip(plan.executions, found.numbers, found.seconds, strict=True)
            if times
        ]
        rows.sort(key=lambda row: (-row[0], row[1]))
        known = names(project.pk, tests=[number for _, number, _ in rows[:_MOST_LISTED]])
        tests = []
        for times, number, seconds in rows[:_MOST_LISTED]:
            name = known.test(number)
            parts = {part: getattr(name, part) for part in ("suite", "classname", "name", "file")}
            tests.append({"number": number, **parts, "executions": times, "seconds": seconds})
        answer = {
            "budget_seconds": body["budget_seconds"],
            "seconds": plan.seconds,
            "expected": {"value": plan.expected, "low": plan.low, "high": plan.high},
            "share": found.share,
            "own_rates": found.own_rates,
            "traced": found.traced,
            "total": len(rows),
            "tests": tests,
        }
        return Response(DetectionPlanSerializer(answer).data)
