"""What the OpenAPI schema says of uploads, with examples of what is sent and answered."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer

from dashboard.api.upload.metadata import MetadataSerializer
from dashboard.api.upload.serializers import ErrorSerializer, UploadFormSerializer, UploadSerializer

_ADDRESS = "https://flakeboard.example"
_RECEIVED: dict[str, Any] = {
    "id": 42,
    "state": "received",
    "url": f"{_ADDRESS}/api/v1/projects/shop/uploads/42",
    "page": f"{_ADDRESS}/projects/shop/uploads/42",
    "received_at": "2026-01-31T12:00:03.250000Z",
    "finished_at": None,
    "size": 75,
    "file_count": 1,
    "tries": 0,
    "metadata": {"commit": "1f6e2c0", "branch": "main", "build_id": "1234"},
    "run": None,
    "error": None,
    "untrusted": False,
    "removed_at": None,
    "kept_until": None,
    "ledger": {"read": 0, "not_results": 0, "not_understood": 0, "unclear": 0},
    "files": [],
}
_FILE = {
    "path": "report.xml",
    "kind": "junit",
    "account": "read",
    "producer": "pytest",
    "suites": 1,
    "tests": 1,
    "passed": 1,
    "failed": 0,
    "errored": 0,
    "skipped": 0,
    "attempts": 0,
    "order_reliable": True,
    "partial": False,
    "ended_failing": False,
    "run_errors": 0,
    "not_understood": [],
    "warnings": [],
    "error": None,
}
_PROCESSED = _RECEIVED | {
    "state": "processed",
    "finished_at": "2026-01-31T12:00:03.410000Z",
    "tries": 1,
    "run": 17,
    "kept_until": "2027-03-07T12:00:03.250000Z",
    "ledger": {"read": 1, "not_results": 0, "not_understood": 0, "unclear": 0},
    "files": [_FILE],
}
_UPLOADS = {"received": _RECEIVED, "processed": _PROCESSED}


def upload_answer(description: str, state: str) -> OpenApiResponse:
    """An answer that is an upload in this state."""
    example = OpenApiExample(f"a {state} upload", value=_UPLOADS[state], response_only=True)
    return OpenApiResponse(UploadSerializer, description, examples=[example])


def error_answer(description: str, code: str, sentence: str) -> OpenApiResponse:
    """An answer that says no, for example with this code."""
    value = {"error": {"code": code, "sentence": sentence}}
    return OpenApiResponse(
        ErrorSerializer, description, examples=[OpenApiExample(code, value=value, response_only=True)]
    )


TOO_OFTEN = error_answer(
    "Asked for too often; see Retry-After.", "too_often", "This was done too often. Try again in 1 minute."
)
ERRORS = {
    400: error_answer(
        "The request cannot be read or was cut short, or a token was sent in the URL.",
        "token_in_url",
        "A token was sent in the URL, where logs keep it. Revoke it, and send it in the header.",
    ),
    401: error_answer(
        "No token, or one that is unknown, expired or revoked.",
        "unauthenticated",
        "The token is unknown, expired or revoked.",
    ),
    403: error_answer(
        "The token's scope does not allow this.", "forbidden", "This token's scope is read; this needs upload."
    ),
    404: error_answer(
        "Not there, or not this token's project.",
        "not_found",
        "There is no such thing here, or this token may not see it.",
    ),
}
WAIT = OpenApiParameter(
    "wait",
    int,
    description="Answer when processed, after at most this many seconds. A busy server holds only so many requests "
    "(half of WEB_THREADS a process): past that it answers at once, as if this was not given.",
    required=False,
)
_METADATA = [
    OpenApiParameter(name, int if name == "attempt" else str, description=str(field.help_text), required=False)
    for name, field in MetadataSerializer().fields.items()
]
_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Your name for this upload, at most 255 characters: sent again, it is answered with the same upload.",
    required=False,
)
_SENT = [
    OpenApiExample(
        "a raw report",
        value="<testsuite name='s'><testcase classname='c' name='t' time='0.1'/></testsuite>",
        media_type="application/xml",
        request_only=True,
    ),
    OpenApiExample(
        "a report and its run",
        value={"file": ["report.xml"], "commit": "1f6e2c0", "branch": "main", "build_id": "1234", "attempt": 1},
        media_type="multipart/form-data",
        request_only=True,
    ),
]

CREATE: dict[str, Any] = {
    "operation_id": "uploads_create",
    "summary": "Send test results",
    "description": "Send any number of reports as multipart/form-data, or one as the raw body; plain, gzip, "
    "zip or tar.gz by content. Read are JUnit XML, TRX, NUnit 3, xUnit.net, TestNG, Robot, TAP, go test -json, CTRF "
    "and Playwright JSON. Once this has answered 202, nothing is lost. The same content for the same run "
    "is the same upload: it is counted once and answered with the same id.",
    "parameters": [WAIT, *_METADATA, _KEY],
    "request": {
        "multipart/form-data": UploadFormSerializer,
        "application/xml": bytes,
        "application/gzip": bytes,
        "application/zip": bytes,
    },
    "responses": {
        200: upload_answer("Processed while waiting, or known before.", "processed"),
        202: upload_answer("Accepted and stored; a worker processes it.", "received"),
        **ERRORS,
        409: error_answer(
            "The idempotency key was used with another body, or for another run.",
            "idempotency_conflict",
            "This Idempotency-Key was used before with another body, or for another run.",
        ),
        413: error_answer(
            "Over a limit; the error names it and its value.",
            "limit_bytes_in",
            "The upload is too large: the limit is 209,715,200 (LIMIT_BYTES_IN).",
        ),
        415: OpenApiResponse(ErrorSerializer, "A content type that is never a report."),
        422: OpenApiResponse(
            PolymorphicProxySerializer("RefusedUpload", [ErrorSerializer, UploadSerializer], None),
            "Fields are wrong, or (with wait) no file could be read: then it is the upload with its errors.",
        ),
        429: error_answer(
            "Too many uploads a minute, bytes an hour or cases a day; see Retry-After.",
            "too_many_uploads",
            "This token may send 60 uploads a minute (UPLOADS_PER_MINUTE).",
        ),
        507: error_answer(
            "The project keeps as many bytes as it may, or no space is left to receive it.",
            "project_full",
            "The uploads that this project keeps would be more than 200,000,000,000 bytes (PROJECT_BYTES).",
        ),
    },
    "examples": _SENT,
}
