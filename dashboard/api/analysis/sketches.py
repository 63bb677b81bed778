"""Sketches of tests: which are lacking, and those that come from the default branch."""

from collections.abc import Collection
from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.likeness.sketches import (
    MOST_BYTES,
    BadSketch,
    lacking,
    read_digests,
    read_key,
    read_tests,
    sketches_keep,
)
from dashboard.api.analysis.likeness_serializers import (
    DigestsSerializer,
    LackingSerializer,
    SketchesSerializer,
    StoredSerializer,
)
from dashboard.api.errors import ApiError
from dashboard.api.json_parser import LargeJSONParser
from dashboard.api.project_view import ProjectView
from dashboard.api.throttling import check_sketches
from dashboard.api.upload.schema import ERRORS, error_answer
from dashboard.ci_trust.admission import claimed
from ingest.default_branch import is_default
from ingest.metadata import RunMetadata
from ingest.models import Project

LIMIT = error_answer("Too many.", "limit_sketches", "A request has at most 5,000 tests; send the others with the next.")
NO_SKETCH = error_answer("Not readable.", "bad_sketch", "tests[3].sketch has 255 bytes and not 256.")
TOO_OFTEN = error_answer(
    "Sent too often; see Retry-After.", "too_many_sketches", "This token may send sketches 600 times an hour."
)
_ORIGIN = {"commit": 64, "branch": 255, "pull_request": 64}
_FIELDS = {"form", "key_id", "commit", "branch", "tests"}


def refused(error: BadSketch) -> ApiError:
    return ApiError(413 if error.code.startswith("limit_") else 422, error.code, error.sentence)


def origin_of(request: Request, more: Collection[str] = ()) -> tuple[dict[str, Any], RunMetadata]:
    """The body, and where it comes from: CI's own token overrules what the body says."""
    body = object_sent(request, _FIELDS | set(more))
    texts = {name: body.get(name, "") for name in _ORIGIN}
    for name, most in _ORIGIN.items():
        if not isinstance(texts[name], str) or len(texts[name]) > most or not texts[name].isprintable():
            raise BadSketch(f"{name} must be text of at most {most} characters.")
    if not texts["commit"]:
        raise BadSketch("commit must not be empty.")
    return body, claimed(RunMetadata(**texts), request.auth)


def object_sent(request: Request, fields: Collection[str]) -> dict[str, Any]:
    body = request.data
    if not isinstance(body, dict):
        raise BadSketch("The body must be a JSON object.")
    unknown = sorted(set(body) - set(fields))
    if unknown:
        raise ApiError(422, "unknown_field", f"There is no field {unknown[0][:40]!r}; there are {', '.join(fields)}.")
    return body


class SketchListView(ProjectView):
    parser_classes = (LargeJSONParser,)
    actions = {"POST": "upload"}
    largest_body = MOST_BYTES

    @extend_schema(
        operation_id="sketches_create",
        summary="Keep sketches of tests",
        description="256 numbers a test, made in CI with a key that is never sent; no source. Only those of the "
        "default branch are kept: pull requests teach nothing.",
        request=SketchesSerializer,
        responses={
            200: OpenApiResponse(StoredSerializer, "How many are kept, or why none is."),
            **ERRORS,
            413: LIMIT,
            422: NO_SKETCH,
            429: TOO_OFTEN,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_sketches(request.auth)
        try:
            body, origin = origin_of(request)
            key_id, tests = read_key(body), read_tests(body.get("tests"))
            why = _not_kept(project, origin)
            stored = 0
            if not why:
                stored = sketches_keep(project=project, key_id=key_id, commit=origin.commit, tests=tests)
        except BadSketch as error:
            raise refused(error) from error
        return Response({"stored": stored, "why": why})


def _not_kept(project: Project, origin: RunMetadata) -> str:
    if origin.fork or origin.pull_request:
        return "sketches of pull requests are not kept"
    if not origin.branch:
        return "no branch was said"
    if not is_default(project, origin.branch, ""):
        return "it is not the default branch"
    return ""


class KnownSketchView(ProjectView):
    parser_classes = (LargeJSONParser,)
    actions = {"POST": "upload"}
    largest_body = MOST_BYTES

    @extend_schema(
        operation_id="sketches_known",
        summary="Which sketches are lacking",
        description="By their digests: the same words make the same digest, and need not be sent again.",
        request=DigestsSerializer,
        responses={200: LackingSerializer, **ERRORS, 413: LIMIT, 422: NO_SKETCH, 429: TOO_OFTEN},
    )
    def post(self, request: Request, slug: str) -> Response:
        project = self.project()
        check_sketches(request.auth)
        try:
            body = object_sent(request, {"form", "key_id", "digests"})
            return Response({"lacking": lacking(project, read_key(body), read_digests(body.get("digests")))})
        except BadSketch as error:
            raise refused(error) from error
