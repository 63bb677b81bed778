"""Which tests CI traces: those that the server knows as flaky or suspect, and the key of their digests."""

import hashlib
import hmac

import numpy as np
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from flakeboard.traces.trace import LEVELS, SOURCES
from rest_framework import serializers
from rest_framework.request import Request

from analytics.columns.codec import Columns
from analytics.columns.query import Choice, chosen_rows
from analytics.history.names import names
from analytics.kernel.flakiness import State
from analytics.selectors import current_tests
from dashboard.api.lab.answers import NamedTestSerializer, conditional, test_body
from dashboard.api.project_view import ProjectView
from dashboard.api.upload.schema import ERRORS
from ingest.models import Project

_MOST = 200
_STATES = tuple(state.name.lower() for state in (State.FLAKY, State.SUSPECT))


class TracedTestsSerializer(serializers.Serializer):
    tests = NamedTestSerializer(many=True, help_text="The dearest first, at most 200.")
    level = serializers.ChoiceField(LEVELS, help_text="How closely they are recorded.")
    key = serializers.CharField(help_text="Texts are told as digests by this key, as hexadecimal digits.")


def trace_key(project: Project) -> str:
    """The project's key for digests. It follows from SECRET_KEY, so a copy of the database alone tells no word."""
    message = f"trace key of project {project.pk} {project.created_at.isoformat()}"
    return hmac.new(settings.SECRET_KEY.encode(), message.encode(), hashlib.sha256).hexdigest()


def tests_to_trace(columns: Columns) -> list[int]:
    """Numbers of flaky and suspect tests, the dearest first."""
    rows = chosen_rows(columns, Choice(state=_STATES))
    if not len(rows):
        return []
    cost = np.nan_to_num(columns["cost"][rows].astype(np.float64))
    return columns["number"][rows[np.lexsort((rows, -cost))][:_MOST]].tolist()


class TracedTestsView(ProjectView):
    actions = {"GET": "upload"}

    @extend_schema(
        operation_id="traced_tests_list",
        summary="Which tests to trace",
        description="Flaky and suspect tests, the dearest first. `pytest --flakeboard-trace=flaky` asks for it. Needs "
        "scope upload: who knows the key and reads traces can guess the words behind digests.",
        responses={
            200: TracedTestsSerializer,
            304: OpenApiResponse(description="You have it already."),
            **ERRORS,
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        project = self.project()
        numbers = tests_to_trace(current_tests(project.pk)[1])
        known = names(project.pk, tests=numbers)
        body = {"tests": [test_body(known, number) for number in numbers], "level": SOURCES, "key": trace_key(project)}
        return conditional(request, TracedTestsSerializer(body).data)
