"""Which failing tests are worth a rerun, within a budget."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.history.names import Names, names
from analytics.reach.plans import rerun_set_of, rerun_set_of_tests
from analytics.reach.rerun_set import Choice
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import JSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.reach.touched import TOUCHES
from dashboard.api.request_body import sent
from dashboard.api.schema import INVALID
from dashboard.api.throttling import check_schedules
from dashboard.api.upload.schema import ERRORS, TOO_OFTEN, error_answer
from ingest.models import Run, Test

MOST_SECONDS = 86_400
_MOST_TESTS = 500


def numbers_field(most: int, words: str) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 1),
        required=False,
        max_length=most,
        help_text=words,
    )


def budget_field(default: float) -> serializers.FloatField:
    return serializers.FloatField(min_value=0, max_value=MOST_SECONDS, default=default, help_text="Seconds for all.")


class RerunSetRequestSerializer(serializers.Serializer):
    run = serializers.IntegerField(
        required=False, min_value=1, max_value=2**63 - 1, help_text="The run whose failing tests are meant."
    )
    tests = numbers_field(_MOST_TESTS, "Only these tests, by number; needed where no run is given.")
    budget_seconds = budget_field(600.0)


class RerunChoiceSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    suite = serializers.CharField(allow_blank=True)
    classname = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    file = serializers.CharField(allow_blank=True)
    times = serializers.IntegerField(help_text="How often to run it again at most; the first pass ends it.")
    seconds = serializers.FloatField(help_text="That its reruns are expected to take.")
    chance_flaky = serializers.FloatField()
    touches_change = serializers.ChoiceField(TOUCHES)
    why = serializers.CharField()


class RerunSetSerializer(serializers.Serializer):
    budget_seconds = serializers.FloatField()
    seconds = serializers.FloatField(help_text="That all reruns are expected to take.")
    tests = RerunChoiceSerializer(many=True, help_text="What clears the most a second comes first.")
    left_out = RerunChoiceSerializer(many=True)


class RerunSetView(ProjectView):
    parser_classes = (JSONParser,)
    actions = {"POST": "upload"}

    @extend_schema(
        operation_id="rerun_set_create",
        summary="Which failing tests are worth a rerun",
        description="Chosen by the chance that a failure is flaky and that a rerun clears it, a second. Nothing is "
        "kept, and no answer of the gate depends on it: what is not rerun stays red.",
        request=RerunSetRequestSerializer,
        responses={
            200: RerunSetSerializer,
            **ERRORS,
            404: error_answer("No such run.", "not_found", "There is no such run."),
            422: INVALID,
            429: TOO_OFTEN,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project, body = self.project(), sent(RerunSetRequestSerializer, request)
        check_schedules(request.auth)
        budget, tests = body["budget_seconds"], body.get("tests")
        if "run" in body:
            run = Run.objects.filter(project=project, pk=body["run"]).first()
            if run is None:
                raise ApiError(404, "not_found", "There is no such run.")
            found = rerun_set_of(project, run, tests, budget)
        elif tests:
            own = Test.objects.filter(project=project, number__in=tests).order_by("number")
            found = rerun_set_of_tests(project, list(own.values_list("number", flat=True)), budget)
        else:
            raise ApiError(422, "invalid", "Say which run, or which tests.")
        every = [*found.chosen, *found.left_out[:_MOST_TESTS]]
        known = names(project.pk, tests=[choice.candidate.number for choice in every])
        answer = {
            "budget_seconds": budget,
            "seconds": found.seconds,
            "tests": [_row(choice, known) for choice in found.chosen],
            "left_out": [_row(choice, known) for choice in found.left_out[:_MOST_TESTS]],
        }
        return Response(RerunSetSerializer(answer).data)


def _row(choice: Choice, known: Names) -> dict[str, Any]:
    candidate, name = choice.candidate, known.test(choice.candidate.number)
    return {
        "number": candidate.number,
        **{part: getattr(name, part) for part in ("suite", "classname", "name", "file")},
        "times": candidate.times,
        "seconds": candidate.expected_seconds,
        "chance_flaky": candidate.chance,
        "touches_change": candidate.touches.value,
        "why": choice.why,
    }
