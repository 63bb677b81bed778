"""The order that a nightly build should run next."""

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from flakeboard.orders.next_order import AUTO, GOALS
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.lab.names import reference_of
from analytics.lab.order_proposals import NoRoster, Proposal, TooManyTests, proposal
from dashboard.api.errors import ApiError
from dashboard.api.lab.schedule_serializers import NameField
from dashboard.api.listing import asked, one_of
from dashboard.api.negotiation import FormatIsOurs
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.upload.schema import ERRORS, error_answer

FORMATS = ("json", "text")
_LONGEST = 255
_MOST = 32


class EnvironmentField(serializers.CharField):
    """`os=Linux,python=3.12` as pairs."""

    def run_validation(self, data: Any = serializers.empty) -> dict[str, str]:
        return super().run_validation(data) or {}  # an empty text is not converted

    def to_internal_value(self, data: Any) -> dict[str, str]:
        written = super().to_internal_value(data)
        parts = [part.partition("=") for part in written.split(",") if part.strip()]
        if len(parts) > _MOST or not all(sign and name.strip() for name, sign, _ in parts):
            raise serializers.ValidationError("environment must be name=value, several with commas between.")
        return {name.strip(): value.strip() for name, _, value in parts}


class NextOrderQuery(serializers.Serializer):
    job = serializers.CharField(
        default="", allow_blank=True, max_length=_LONGEST, help_text="Whose suite; by default that of any job."
    )
    environment = EnvironmentField(
        default=dict,
        allow_blank=True,
        max_length=8_000,
        help_text="Only runs with these parts of the environment, as os=Linux,python=3.12.",
    )
    goal = one_of("goal", GOALS, "What the order is to show.", AUTO)
    format = one_of("format", FORMATS, "json, or text: a test a line.", "json")


class SeenPairsSerializer(serializers.Serializer):
    """Ordered pairs of tests that ran one directly after the other, the second passing."""

    seen = serializers.IntegerField()
    of = serializers.IntegerField()
    this_order = serializers.IntegerField(help_text="Pairs that this order would show for the first time.")


class NextOrderSerializer(serializers.Serializer):
    goal = serializers.CharField(help_text="What it serves: reverse, pairs, units or random.")
    seed = serializers.CharField(allow_blank=True, help_text="What it was drawn by, if it was.")
    why = serializers.CharField()
    order = serializers.ListField(child=serializers.IntegerField(), help_text="Numbers of the tests.")
    names = serializers.ListField(child=NameField(), help_text="[class, name, file] of each, in the same order.")
    pairs = SeenPairsSerializer()
    orders_left = serializers.IntegerField(help_text="At least so many orders, this included, until all are seen.")
    tests = serializers.IntegerField()


class NextOrderView(ProjectView):
    content_negotiation_class = FormatIsOurs

    @extend_schema(
        operation_id="orders_next",
        summary="The order that a nightly build should run next",
        description="The reverse of an order that passed, else an order with many pairs of neighbours that nobody has "
        "seen, else a random one. The same question gets the same answer until a new order is known; nothing is kept.",
        parameters=[NextOrderQuery],
        responses={
            (200, "application/json"): NextOrderSerializer,
            (200, "text/plain"): OpenApiResponse(OpenApiTypes.STR, "A test a line, as pytest calls it."),
            **ERRORS,
            404: error_answer("No report.", "no_roster", "No whole report of such a job is there yet."),
            409: error_answer("Too many.", "too_many_tests", "Pairs are kept of at most 5,000 tests."),
            422: INVALID,
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        project, query = self.project(), asked(NextOrderQuery, request)
        try:
            found = proposal(project, query["goal"] or AUTO, query["job"], query["environment"])
        except NoRoster:
            raise ApiError(404, "no_roster", "No whole report of such a job is there yet: send one first.") from None
        except TooManyTests as error:
            sentence = f"Pairs are kept of at most 5,000 tests; these are {error.tests:,}."
            raise ApiError(409, "too_many_tests", sentence) from None
        answer = _text(found) if query["format"] == "text" else Response(_body(found))
        answer.headers["Cache-Control"] = "no-store"
        return answer


def _text(found: Proposal) -> HttpResponse:
    lines = "".join(" ".join(reference_of(name).split()) + "\n" for name in found.names)
    return HttpResponse(lines, content_type="text/plain; charset=utf-8")


def _body(found: Proposal) -> dict[str, Any]:
    return {
        "goal": found.goal,
        "seed": found.seed,
        "why": found.why,
        "order": [name.number for name in found.names],
        "names": [[name.classname, name.name, name.file] for name in found.names],
        "pairs": {"seen": found.seen, "of": found.pairs, "this_order": found.this_order},
        "orders_left": found.orders_left,
        "tests": len(found.names),
    }
