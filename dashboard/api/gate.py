"""The gate: an upload with the runner's exit code, answered with pass or fail and why."""

import json
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, QueryDict
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api.gate_serializers import GateQuery, GateSerializer, gate_answer
from dashboard.api.listing import checked
from dashboard.api.metadata import metadata_from
from dashboard.api.project_view import ProjectView
from dashboard.api.rates import check_gate
from dashboard.api.receiving import Received, idempotency_key, receive, store
from dashboard.api.schema import INVALID
from dashboard.api.upload_schema import CREATE, ERRORS, WAIT
from dashboard.api.upload_serializers import ErrorSerializer, UploadFormSerializer
from dashboard.api.waiting import wait_seconds, wait_until_done
from dashboard.quarantine.deciding import gate_ask, gate_decide
from dashboard.quarantine.models import GateDecision
from dashboard.quarantine.selectors import decisions_of
from dashboard.tasks import wake_worker
from ingest.models import Project, Upload

_OURS = ("exit_code", "runner")


class GateFormSerializer(UploadFormSerializer, GateQuery):
    """A multipart upload with the exit code."""


_EXAMPLE = OpenApiExample(
    "a build that may not pass",
    value={
        "id": 17,
        "passed": False,
        "decided": True,
        "sentence": "2 of 412 tests failed: 1 is quarantined, 1 blocks.",
        "exit_code": 1,
        "runner": "pytest",
        "run": 91,
        "page": "https://flakeboard.example/projects/shop/runs/91",
        "upload": 123,
        "reasons": [
            {
                "code": "not_quarantined",
                "sentence": "tests.test_cart test_total failed without being quarantined here.",
            }
        ],
        "failing": [
            {
                "number": 4,
                "suite": "",
                "classname": "tests.test_cart",
                "name": "test_total",
                "file": "tests/test_cart.py",
                "class": "new",
                "blocks": True,
                "sentence": "Nothing that is known explains this failure.",
                "quarantine": None,
                "reruns": None,
            }
        ],
    },
    response_only=True,
)


class GateAnswers(ProjectView):
    def answer(self, decision: GateDecision) -> Response:
        return Response(GateSerializer(gate_answer(decision, self.kwargs["slug"])).data)


class GateListView(GateAnswers):
    actions = {"POST": "gate"}

    @extend_schema(
        operation_id="gate_create",
        summary="Ask whether a red build may pass",
        description="An upload as POST uploads takes it, with the exit code of the command that wrote it. It passes "
        "only if every failing test is quarantined for this branch and environment and the report can be trusted. "
        "Waits until the upload is processed, 60 seconds unless `wait` says otherwise. The same content, run and exit "
        "code are answered with the same decision.",
        parameters=[GateQuery, *CREATE["parameters"]],
        request={**CREATE["request"], "multipart/form-data": GateFormSerializer},
        responses={
            200: OpenApiResponse(GateSerializer, "The answer.", examples=[_EXAMPLE]),
            **{status: told for status, told in CREATE["responses"].items() if status >= 400},
            422: OpenApiResponse(ErrorSerializer, "Fields are wrong, or there is no file."),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_gate(request.auth, project)
        wait = _wait(request)
        upload, asked = _receive(request, project)
        decision = gate_ask(upload=upload, **asked)
        if decision.decided_at is None and upload.state == Upload.State.RECEIVED:
            wake_worker(upload.pk)
        if decision.decided_at is None:
            wait_until_done(upload, wait)
        return self.answer(gate_decide(decision=decision))


class GateView(GateAnswers):
    @extend_schema(
        operation_id="gate_retrieve",
        summary="Look up a decision of the gate",
        description="Decides where the upload was not processed when it was asked for, and is now.",
        parameters=[WAIT],
        responses={200: OpenApiResponse(GateSerializer, "The answer.", examples=[_EXAMPLE]), **ERRORS, 422: INVALID},
    )
    def get(self, request: Request, slug: str, decision_id: int) -> Response:
        wait, decision = wait_seconds(request), decisions_of(self.project()).filter(pk=decision_id).first()
        if decision is None:
            raise Http404
        if decision.decided_at is None:
            wait_until_done(decision.upload, wait)
        return self.answer(gate_decide(decision=decision))


def _wait(request: Request) -> int:
    return wait_seconds(request) if "wait" in request.query_params else settings.WAIT_SECONDS


# -- what is sent ------------------------------------------------------------------------------------------------


def _receive(request: Request, project: Project) -> tuple[Upload, dict[str, Any]]:
    """The upload, stored as any other, and what is asked besides it."""
    http_request: HttpRequest = request._request
    key = idempotency_key(http_request)
    with receive(http_request) as received:
        asked, metadata = _asked(http_request.GET, received)
        upload, _ = store(received.body, metadata, project=project, token=request.auth, key=key)
    return upload, asked


def _asked(query: QueryDict, received: Received) -> tuple[dict[str, Any], Any]:
    """The gate's own fields, and the run's metadata, each from query, form or JSON part."""
    part, ours = _split_part(received.metadata)
    sent = {name: source[name] for source in (query, received.form, ours) for name in _OURS if name in source}
    return checked(GateQuery(data=sent)), metadata_from(_without(query), _without(received.form), part)


def _without(fields: QueryDict) -> QueryDict:
    rest = fields.copy()
    for name in _OURS:
        rest.pop(name, None)
    return rest


def _split_part(part: str | None) -> tuple[str | None, dict[str, Any]]:
    """The JSON part without the gate's fields, and those. One that cannot be read is left for metadata to refuse."""
    try:
        told = json.loads(part) if part else None
    except (ValueError, RecursionError):
        return part, {}
    if not isinstance(told, dict):
        return part, {}
    ours = {name: told.pop(name) for name in _OURS if name in told}
    return json.dumps(told), ours
