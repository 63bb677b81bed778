"""Schedules: an order, a selection or a split of collected tests."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.lab.schedules.models import Split
from analytics.lab.schedules.scheduler import NoCoverage, Schedule, make_schedule
from analytics.lab.schedules.splits import parts_of, tests_of_split
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import LargeJSONParser
from dashboard.api.lab.schedule_body import schedule_request
from dashboard.api.lab.schedule_serializers import (
    ScheduleRequestSerializer,
    ScheduleSerializer,
    SplitQuery,
    SplitSerializer,
)
from dashboard.api.listing import asked
from dashboard.api.project_view import ProjectView
from dashboard.api.schema import INVALID
from dashboard.api.throttling import check_schedules
from dashboard.api.upload.schema import ERRORS, error_answer

_TOO_OFTEN = error_answer(
    "Asked for too often; see Retry-After.", "too_many_schedules", "This token may ask for 600 schedules an hour."
)


class ScheduleListView(ProjectView):
    parser_classes = (LargeJSONParser,)
    actions = {"POST": "upload"}
    largest_body = 20_000_000

    @extend_schema(
        operation_id="schedules_create",
        summary="Order, select or split the tests of a run",
        description="The tests are those that the runner collected, in original order; the answer speaks of them by "
        "their places. A split is made once for a build, job and number of shards: whoever asks later, and however "
        "often, gets a part of the same split. Nothing else is kept.",
        request=ScheduleRequestSerializer,
        responses={
            200: OpenApiResponse(ScheduleSerializer, "An order, a selection, or a split that was there before."),
            201: OpenApiResponse(ScheduleSerializer, "A new split."),
            **ERRORS,
            409: error_answer("No coverage is kept.", "no_coverage", "No coverage of this project is kept."),
            413: error_answer("Too many tests.", "limit_tests", "A schedule is of at most 100,000 tests."),
            422: INVALID,
            429: _TOO_OFTEN,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_schedules(request.auth)
        wish = schedule_request(request.data)
        try:
            schedule = make_schedule(project, wish)
        except NoCoverage as error:
            raise ApiError(409, "no_coverage", error.sentence) from error
        return Response(_answer(schedule), status=201 if schedule.is_new else 200)


def _answer(schedule: Schedule) -> dict[str, Any]:
    differs = schedule.difference
    return {
        "id": schedule.id,
        "kind": schedule.kind,
        "by": schedule.by,
        "order": schedule.order,
        "shards": schedule.shards,
        **schedule.details,
        "collection_differs": None
        if differs is None
        else {
            "lacks": len(differs.lacking),
            "lacking": list(schedule.lacking),
            "more": list(differs.more),
        },
        "safe": schedule.safe,
        "sentence": schedule.sentence,
        "warnings": list(schedule.warnings),
    }


class ScheduleView(ProjectView):
    @extend_schema(
        operation_id="schedules_retrieve",
        summary="A split, one shard of it, or a selection",
        description="By names, so that whoever did not collect the tests can read it.",
        parameters=[SplitQuery],
        responses={200: SplitSerializer, **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str, schedule_id: int) -> Response:
        index = asked(SplitQuery, request)["index"]
        split = Split.objects.select_related("collection").filter(project=self.project(), pk=schedule_id).first()
        if split is None:
            raise Http404
        if index > split.total:
            raise ApiError(422, "invalid", f"index must be at most {split.total:,}: that is the last shard.")
        names, parts = tests_of_split(split).names, parts_of(split)
        shown = [parts[index - 1]] if index else parts
        return Response(
            {
                "id": split.pk,
                "kind": split.kind,
                "build": split.build,
                "job": split.job,
                "total": split.total,
                "by": split.by,
                "created_at": split.created_at,
                "tests": split.collection.size,
                "seconds": split.details["seconds"],
                "shards": [[names[place] for place in part] for part in shown],
            }
        )
