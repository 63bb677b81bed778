"""Values of approximate assertions: what bounds follow from them, and what is kept of them."""

from typing import Any

import numpy as np
from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.lab.names import Resolver
from analytics.values.conclusions import Series, conclude
from analytics.values.series import runs_a_day, series_of_test
from dashboard.api.analysis.tests import test_now
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import LargeJSONParser
from dashboard.api.lab.answers import conditional
from dashboard.api.lab.value_body import MOST_BYTES, Measured, read_values
from dashboard.api.lab.value_serializers import (
    NewValuesSerializer,
    ValuesAnswerSerializer,
    ValueSeriesListSerializer,
    json_numbers,
)
from dashboard.api.project_view import ProjectView
from dashboard.api.throttling import check_values
from dashboard.api.upload.schema import ERRORS, error_answer
from ingest.lab.values import experiment_values_keep, floats
from ingest.models import Project, Test, ValueSeries

_KEEP = OpenApiParameter("keep", enum=["0", "1"], description="0: answer, and keep nothing.", default="1")


class ValuesView(ProjectView):
    parser_classes = (LargeJSONParser,)
    actions = {"POST": "upload"}
    largest_body = MOST_BYTES

    @extend_schema(
        operation_id="values_create",
        summary="Bounds that follow from the values of a test's assertions",
        description="`flakeboard bounds` sends them. At most 50 sites with 5,000 values each. They are kept with their "
        "test unless `keep=0`, and enter no rate, no evidence and no gate: their seeds were chosen.",
        parameters=[_KEEP],
        request=NewValuesSerializer,
        responses={
            200: ValuesAnswerSerializer,
            **ERRORS,
            422: error_answer("Not readable.", "bad_values", "Site 0 (tests/t.py): bound must be a number."),
            429: error_answer("Too often; see Retry-After.", "too_many_values", "Wait."),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        keep = request.query_params.get("keep", "1")
        if keep not in ("0", "1") or set(request.query_params) - {"keep"}:
            raise ApiError(422, "bad_values", "keep must be 0 or 1, and is the only parameter.")
        check_values(request.auth)
        measured = read_values(request.data)
        concluded = [_concluded(site.kind, site.op, site.bound, values, measured) for site, values in measured.sites]
        test = _test(project, measured.test)
        stored = _keep_all(project, test, measured, concluded) if keep == "1" and test is not None else 0
        places = [(site.file, site.line, site.ordinal) for site, _ in measured.sites]
        body = {
            "stored": stored,
            "why": "" if stored or keep == "0" else _why_not(test),
            "runs_a_day": runs_a_day(project),
            "url": "" if test is None else settings.PUBLIC_URL + reverse("test", args=(slug, test.number)),
            "sites": [
                {"file": file, "line": line, "ordinal": ordinal, "conclusion": conclusion}
                for (file, line, ordinal), conclusion in zip(places, concluded, strict=True)
            ],
        }
        return Response(ValuesAnswerSerializer(body).data)


def _concluded(kind: str, op: str, bound: float, values: list[float], measured: Measured) -> dict[str, Any]:
    return conclude(Series(kind, op, np.array(values), np.full(len(values), bound)), measured.tolerated)


def _test(project: Project, reference: str) -> Test | None:
    number = Resolver(project).numbers([reference]).get(reference)
    return None if number is None else Test.objects.get(project=project, number=number)


def _why_not(test: Test | None) -> str:
    if test is None:
        return "No report has named this test yet: send one first."
    return "The project keeps as many series of values as it may."


def _keep_all(project: Project, test: Test, measured: Measured, concluded: list[dict[str, Any]]) -> int:
    sites = [(site, values, body) for (site, values), body in zip(measured.sites, concluded, strict=True)]
    return experiment_values_keep(
        project=project,
        test=test,
        environment=measured.environment,
        commit=measured.commit,
        seeds=measured.seeds,
        runs=measured.runs,
        failed=measured.failed,
        sites=sites,
    )


class TestValuesView(ProjectView):
    __test__ = False

    @extend_schema(
        operation_id="tests_values",
        summary="Values of a test's approximate assertions",
        description="By assertion and environment, each with what is concluded from it; those of `flakeboard bounds` "
        "and those that CI's reports brought, the newest 1,000 of each.",
        responses={
            200: ValueSeriesListSerializer,
            304: OpenApiResponse(description="You have it already."),
            **ERRORS,
        },
    )
    def get(self, request: Request, slug: str, number: int) -> HttpResponse:
        test = test_now(self.project(), number)
        body = {"results": [_series_body(row) for row in series_of_test(test)]}
        return conditional(request, ValueSeriesListSerializer(body).data)


def _series_body(row: ValueSeries) -> dict[str, Any]:
    names = ("file", "line", "ordinal", "origin", "environment", "commit", "seeds", "runs", "failed", "updated_at")
    values = json_numbers(floats(row.values).tolist())
    return {**{name: getattr(row, name) for name in names}, "conclusion": row.answer or None, "values": values}
