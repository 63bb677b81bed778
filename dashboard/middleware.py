"""What every response gets, and what a lost database looks like to the one who asks."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

logger = logging.getLogger(__name__)
Handler = Callable[[HttpRequest], HttpResponse]

_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


def content_security_policy(get_response: Handler) -> Handler:
    """Scripts of ours alone, no inline ones: what a test's name says never runs."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        return response

    return middleware


def unavailable(request: HttpRequest) -> HttpResponse:
    """503, as JSON for programs and as a page for people."""
    sentence = "The database cannot be reached. Nothing is lost; try again in a few seconds."
    if request.path.startswith("/api/"):
        response: HttpResponse = JsonResponse({"error": {"code": "unavailable", "sentence": sentence}}, status=503)
    else:
        response = render(request, "error.html", {"title": "One moment", "sentence": sentence}, status=503)
    response.headers["Retry-After"] = "5"
    return response


class database_unavailable:  # noqa: N801 - a middleware factory, named like the others
    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, OperationalError | InterfaceError):
            return None
        logger.warning("the database cannot be reached: %s", str(exception).strip().splitlines()[0])
        connection.close()
        return None if settings.DEBUG else unavailable(request)
