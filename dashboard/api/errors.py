"""Every error of the API has one form: a stable code, a sentence, and details where they help."""

import errno
import logging
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.db import InterfaceError, OperationalError, connection
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from dashboard.error_sentences import NO_FILES, UNREADABLE
from dashboard.people.throttling import TooOften
from ingest.junit.problems import Refused
from ingest.tokens import redact

logger = logging.getLogger(__name__)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ApiError(Exception):
    """An answer that says no: HTTP status, code, sentence, details and headers."""

    def __init__(
        self, status_code: int, code: str, sentence: str, *, headers: dict[str, str] | None = None, **details: Any
    ) -> None:
        super().__init__(code)
        self.status_code = status_code
        self.code = code
        self.sentence = sentence
        self.headers = headers or {}
        self.details = details

    def response(self) -> Response:
        body = {"error": {"code": self.code, "sentence": self.sentence, **self.details}}
        return Response(_redacted(body), status=self.status_code, headers=self.headers)


def _redacted(value: Any) -> Any:
    """Errors repeat what was sent, and CI keeps them in its logs: no token may be in one."""
    if isinstance(value, dict):
        return {_redacted(name): _redacted(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(inner) for inner in value]
    return redact(value) if isinstance(value, str) else value


def from_refusal(refusal: Refused) -> ApiError:
    """A limit that was hit while receiving is 413; anything else about the content is 422."""
    too_large = refusal.code.startswith("limit_")
    return ApiError(413 if too_large else 422, refusal.code, refusal.sentence)


_NOT_FOUND = ApiError(404, "not_found", "There is no such thing here, or this token may not see it.")
_KNOWN: dict[type[Exception], ApiError] = {
    Http404: _NOT_FOUND,
    exceptions.NotFound: _NOT_FOUND,
    PermissionDenied: ApiError(403, "forbidden", "This token may not do that."),
    exceptions.PermissionDenied: ApiError(403, "forbidden", "This token may not do that."),
    exceptions.MethodNotAllowed: ApiError(405, "method_not_allowed", "This address does not take that method."),
    exceptions.ParseError: ApiError(400, "bad_request", UNREADABLE),
    TooManyFilesSent: ApiError(415, "no_files", NO_FILES),
    RequestDataTooBig: ApiError(413, "limit_fields", "The form fields are too large: send files as files."),
}


def handle(exception: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: whatever was raised, in our form."""
    set_rollback()
    if isinstance(exception, ApiError | TooOften):
        return _refused(exception).response()
    if isinstance(exception, OperationalError | InterfaceError):
        logger.warning("the database cannot be reached: %s", str(exception).strip().splitlines()[0])
        connection.close()
        sentence = "The database cannot be reached; try again in a few seconds."
        return ApiError(503, "unavailable", sentence, headers={"Retry-After": "5"}).response()
    if isinstance(exception, OSError) and exception.errno in _NO_SPACE:
        logger.error("no space is left to receive a body: %s", exception)
        sentence = "The server has no space left to receive this; nothing of it was kept. Try again later."
        return ApiError(507, "no_space", sentence, headers={"Retry-After": "60"}).response()
    for kind, error in _KNOWN.items():
        if isinstance(exception, kind):
            return error.response()
    if isinstance(exception, exceptions.ValidationError):
        return ApiError(422, "invalid", "Some fields are not as they should be.", fields=exception.detail).response()
    if isinstance(exception, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return _unauthenticated(exception)
    if isinstance(exception, exceptions.APIException):
        return ApiError(exception.status_code, exception.default_code, str(exception.detail)).response()
    if isinstance(exception, SuspiciousOperation):
        return ApiError(status.HTTP_400_BAD_REQUEST, "bad_request", UNREADABLE).response()
    logger.exception("unexpected error in the API", exc_info=exception)
    return ApiError(500, "internal", "Something went wrong on our side; it is in the server's log.").response()


def _refused(exception: ApiError | TooOften) -> ApiError:
    if isinstance(exception, ApiError):
        return exception
    return ApiError(429, "too_often", exception.sentence, headers={"Retry-After": str(exception.seconds)})


def _unauthenticated(exception: exceptions.APIException) -> Response:
    sentence = (
        str(exception.detail)
        if isinstance(exception, exceptions.AuthenticationFailed)
        else ("Send the project's token: Authorization: Bearer flk_...")
    )
    headers = {"WWW-Authenticate": 'Bearer realm="flakeboard"'}
    return ApiError(401, "unauthenticated", sentence, headers=headers).response()
