"""The gate: an upload with the runner's exit code, answered with pass or fail and why."""

import json
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, QueryDict
from django.urls import reverse
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.reach.touches import Answer
from dashboard.api.errors import ApiError
from dashboard.api.listing import checked
from dashboard.api.project_view import ProjectView
from dashboard.api.reach.touched import TOUCHES
from dashboard.api.schema import INVALID
from dashboard.api.throttling import check_gate
from dashboard.api.upload.metadata import json_part, metadata_from, twice
from dashboard.api.upload.receipt import ReceivedBody, idempotency_key, receive, store
from dashboard.api.upload.schema import CREATE, ERRORS, WAIT
from dashboard.api.upload.serializers import ErrorSerializer, UploadFormSerializer
from dashboard.api.upload.waits import wait_seconds, wait_until
from dashboard.notify.pulls.services import pull_report_ask
from dashboard.quarantine.gate.inputs import Code, Note
from dashboard.quarantine.gate.runners import RUNNERS
from dashboard.quarantine.gate.service import answer_of, gate_ask, gate_decide, is_ready
from dashboard.quarantine.models import GateDecision
from dashboard.quarantine.selectors import decisions_of
from dashboard.tasks import wake_worker
from ingest.models import Project, Upload

GATE_CODES = tuple(code.value for code in Code)
GATE_NOTES = tuple(note.value for note in Note)
GATE_CLASSES = ("new", "flaky", "broken", "quarantined", "incident")
"""What `analytics.runs.failing_tests.Group.api_class` gives."""
EXIT_CODES = (-(2**31), 2**32 - 1)


class GateQuery(serializers.Serializer):
    """What is asked besides the upload."""

    exit_code = serializers.IntegerField(
        min_value=EXIT_CODES[0],
        max_value=EXIT_CODES[1],
        help_text="The command's exit code; negative: killed by that signal.",
        error_messages={"required": "exit_code is needed: the exit code of the command."},
    )
    runner = serializers.ChoiceField(
        RUNNERS,
        required=False,
        allow_blank=True,
        default="",
        help_text="The test runner; if not given, derived from the report's producer.",
    )


class GateReasonSerializer(serializers.Serializer):
    code = serializers.ChoiceField(GATE_CODES)
    sentence = serializers.CharField()


class GateNoteSerializer(serializers.Serializer):
    code = serializers.ChoiceField(GATE_NOTES)
    sentence = serializers.CharField()


class _FailingBase(serializers.Serializer):
    number = serializers.IntegerField()
    suite = serializers.CharField()
    classname = serializers.CharField()
    name = serializers.CharField()
    file = serializers.CharField()
    blocks = serializers.BooleanField()
    sentence = serializers.CharField()
    quarantine = serializers.IntegerField(allow_null=True, help_text="The id of its quarantine, expired or not.")
    reruns = serializers.IntegerField(
        allow_null=True, help_text="So many reruns get past it with 95 %; null: no number."
    )
    touches_change = serializers.ChoiceField(
        TOUCHES, help_text="Whether it uses what changed, as far as that is known. Nothing is decided by it."
    )
    touches_why = serializers.CharField(allow_blank=True)
    remedy = serializers.SerializerMethodField(help_text="What helps against its cause; empty where none is known.")

    def get_remedy(self, row: dict[str, Any]) -> str:
        """Decisions of before have none."""
        return str(row.get("remedy", ""))

    fixes = serializers.SerializerMethodField(help_text="Comparisons of commits that fixed tests like it; at most 3.")

    def get_fixes(self, row: dict[str, Any]) -> list[str]:
        return list(row.get("fixes", ()))


_CLASS = serializers.ChoiceField(
    GATE_CLASSES,
    help_text="What it is, as the run's page says it. A test is `new` too where no analysis covers the run.",
)
GateFailingSerializer = type("GateFailingSerializer", (_FailingBase,), {"class": _CLASS})
"""Built by a call, since `class` is no name for an attribute."""


class GateSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    passed = serializers.BooleanField(help_text="The build may pass.")
    decided = serializers.BooleanField(help_text="False: not processed in time; ask again at the same id.")
    sentence = serializers.CharField()
    exit_code = serializers.IntegerField()
    runner = serializers.CharField(help_text="Empty while it is undecided and was not given.")
    run = serializers.IntegerField(allow_null=True)
    page = serializers.CharField(allow_null=True, help_text="The run's page.")
    upload = serializers.IntegerField()
    reasons = GateReasonSerializer(many=True)
    notes = GateNoteSerializer(many=True, help_text="What to know besides; it decides nothing.")
    failing = GateFailingSerializer(many=True, help_text="Blocking tests first; at most 500 are listed.")


_NOT_TOLD = {"touches_change": Answer.UNKNOWN.value, "touches_why": ""}
"""Of decisions that were made before."""


def gate_answer(decision: GateDecision, slug: str) -> dict[str, Any]:
    """The body of the answer for a gate decision."""
    waiting = answer_of(decision)
    page = settings.PUBLIC_URL + reverse("run", args=(slug, decision.run_id)) if decision.run_id else None
    answer = {
        "id": decision.pk,
        "passed": decision.passed,
        "decided": waiting is None,
        "sentence": decision.sentence,
        "exit_code": decision.exit_code,
        "runner": decision.runner,
        "run": decision.run_id,
        "page": page,
        "upload": decision.upload_id,
        "reasons": decision.reasons,
        "notes": decision.notes,
        "failing": [{**_NOT_TOLD, **row} for row in decision.failing],
    }
    if waiting is not None:
        reasons = [{"code": reason.code.value, "sentence": reason.sentence} for reason in waiting.reasons]
        answer |= {"passed": False, "sentence": waiting.sentence, "reasons": reasons, "notes": []}
    return answer


_OURS = {"exit_code", "runner"}


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
        "notes": [],
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
                "touches_change": "no",
                "touches_why": "none of its 214 functions, 3 files",
                "remedy": "",
                "fixes": [],
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
    takes_uploads = True

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
            **{status: response for status, response in CREATE["responses"].items() if status >= 400},
            422: OpenApiResponse(ErrorSerializer, "Fields are wrong, or there is no file."),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_gate(request.auth, project)
        wait = _wait(request)
        upload, question = _receive(request, project)
        decision = gate_ask(upload=upload, **question)
        if upload.state == Upload.State.RECEIVED:
            wake_worker(upload.pk)
        return self.answer(_decided(decision, wait))


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
        return self.answer(_decided(decision, wait))


def _decided(decision: GateDecision, wait: int) -> GateDecision:
    """The decision once every upload of its run is processed, or as it is when the time is up."""
    wait_until(lambda: is_ready(decision), wait)
    decided = gate_decide(decision=decision)
    if decided.run is not None and decided.decided_at is not None:
        pull_report_ask(run=decided.run)
    return decided


def _wait(request: Request) -> int:
    return wait_seconds(request) if "wait" in request.query_params else settings.WAIT_SECONDS


# -- what is sent ------------------------------------------------------------------------------------------------


def _receive(request: Request, project: Project) -> tuple[Upload, dict[str, Any]]:
    """Store the upload like any other and return it with the gate's own fields."""
    http_request: HttpRequest = request._request
    key = idempotency_key(http_request)
    with receive(http_request) as received:
        question, metadata = _split_fields(http_request.GET, received)
        if metadata.experiment:
            raise ApiError(422, "experiment_at_gate", "The gate is asked about results of CI, not about an experiment.")
        upload, _ = store(received.body, metadata, project=project, token=request.auth, key=key)
    return upload, question


def _split_fields(query: QueryDict, received: ReceivedBody) -> tuple[dict[str, Any], Any]:
    """Separate the gate's own fields from the run's metadata, wherever each was sent (query, form or JSON part)."""
    metadata = json_part(received.metadata)
    ours = {name: metadata.pop(name) for name in _OURS if name in metadata}
    sent: dict[str, Any] = {}
    for source in (query, received.form, ours):
        for name in _OURS & source.keys():
            if str(sent.setdefault(name, source[name])) != str(source[name]):
                raise twice(name)
    part = json.dumps(metadata) if metadata else None
    return checked(GateQuery(data=sent)), metadata_from(_without(query), _without(received.form), part)


def _without(fields: QueryDict) -> QueryDict:
    rest = fields.copy()
    for name in _OURS:
        rest.pop(name, None)
    return rest
