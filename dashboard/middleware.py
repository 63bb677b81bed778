"""What every response gets, and what a lost database looks like to the one who asks."""

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from dashboard.people.request_context import asking
from dashboard.people.sessions import session_seen
from dashboard.web.errors import body_too_large

logger = logging.getLogger(__name__)
Handler = Callable[[HttpRequest], HttpResponse]
_NEVER = ("camera", "display-capture", "geolocation", "microphone", "payment", "publickey-credentials-get", "usb")
"""What no page of ours needs of a browser."""

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


_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Permissions-Policy": ", ".join(f"{name}=()" for name in _NEVER),
    "Cross-Origin-Resource-Policy": "same-origin",
}


def headers(get_response: Handler) -> Handler:
    """Scripts of ours alone, no inline ones: what a test's name says never runs. And what a page says of a project is
    kept by no cache and shown within no other site."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        keep = "private, no-cache" if request.path.startswith("/api/") else "private, no-store"
        response.headers.setdefault("Cache-Control", keep)
        return response

    return middleware


def who_asks(get_response: Handler) -> Handler:
    """Services that write down who changed what find out here; and sessions that are in use are noted as such."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with asking(request):
            response = get_response(request)
            user_was_read = hasattr(request, "_cached_user")  # where the page did not ask who it is, nor do we
            if user_was_read and response.status_code < 400 and request.user.is_authenticated:
                session_seen(request)
            return response

    return middleware


class small_bodies:  # noqa: N801 - a middleware factory, named like the others
    """Only uploads may be large: any other request is refused by its stated length, before a byte of it is read.

    A view that needs more than a form says so in `largest_body`."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        shown = getattr(view, "cls", None)
        if getattr(shown, "takes_uploads", False):
            return None
        written, most = request.META.get("CONTENT_LENGTH") or "0", getattr(shown, "largest_body", settings.BODY_BYTES)
        small = written.isascii() and written.isdecimal() and len(written) < 20 and int(written) <= most
        return None if small else body_too_large(request, most)


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
