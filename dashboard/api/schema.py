"""What the OpenAPI schema says of every view of an analysis."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.serializers import Serializer

from dashboard.api.upload.schema import ERRORS, error_answer

_KNOWN = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of an earlier answer: 304 without a body where that still holds.",
    required=False,
)
INVALID = error_answer(
    "A parameter is wrong; the sentence says what is allowed.",
    "invalid",
    "page must be a whole number from 1 to 1,000,000.",
)


def reading(
    operation_id: str,
    summary: str,
    description: str,
    answer: type[Serializer],
    query: type[Serializer] | None = None,
) -> Any:
    """A GET that answers from the current analysis."""
    responses: dict[int, Any] = {200: answer, 304: OpenApiResponse(description="You have it already."), **ERRORS}
    if query is not None:
        responses[422] = INVALID
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        parameters=[*([] if query is None else [query]), _KNOWN],
        responses=responses,
    )


def promise_everywhere(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Document the errors that every operation, or every one with a body, can answer, so that no view forgets them."""
    for operation in (method for methods in result["paths"].values() for method in methods.values()):
        descriptions = {"503": "The database is away; see Retry-After."}
        if "requestBody" in operation:
            descriptions["415"] = "A content type that is not taken here."
            descriptions["413"] = "A body that is larger than what is taken here."
        for status, words in descriptions.items():
            content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
            operation["responses"].setdefault(status, {"description": words, "content": content})
    return result
