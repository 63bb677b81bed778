"""What a person sees when something is not there or goes wrong; programs get the same as JSON."""

import re

from django.core.exceptions import DisallowedHost, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from dashboard import access
from dashboard.error_sentences import NO_FILES, UNREADABLE
from dashboard.people.throttling import TooOften
from ingest.models import Project

_IN_PROJECT = re.compile(r"/projects/([-\w]+)(?:/|$)")


def _answer(request: HttpRequest, status: int, code: str, title: str, sentence: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"error": {"code": code, "sentence": sentence}}, status=status)
    return render(request, "error.html", {"title": title, "sentence": sentence}, status=status)


def _answer_in_project(request: HttpRequest, status: int, code: str, title: str, sentence: str) -> HttpResponse:
    """With the navigation of the project in the address, where the person may see that, else of the instance."""
    project, user = _project(request), getattr(request, "user", None)
    context = {"project": project, "title": title, "sentence": sentence}
    if project is not None:
        return render(request, "project/error.html", context, status=status)
    if user is None or not user.is_authenticated or request.path.startswith("/api/"):
        return _answer(request, status, code, title, sentence)
    return render(request, "error_signed_in.html", context, status=status)


def _project(request: HttpRequest) -> Project | None:
    match, user = _IN_PROJECT.match(request.path), getattr(request, "user", None)
    if match is None or user is None:
        return None
    try:
        return access.user_project(user, match[1])
    except Http404:
        return None


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if isinstance(exception, DisallowedHost):
        sentence = "This server is not known by the name in the address: whoever runs it can add it to ALLOWED_HOSTS."
        return _answer(request, 400, "unknown_host", "Unknown name", sentence)
    if isinstance(exception, TooManyFilesSent):
        return _answer(request, 415, "no_files", "No files here", NO_FILES)
    return _answer(request, 400, "bad_request", "Bad request", UNREADABLE)


def body_too_large(request: HttpRequest, most: int) -> HttpResponse:
    sentence = f"This takes at most {most:,} bytes. Send test results to the project's uploads."
    return _answer(request, 413, "limit_body", "Too large", sentence)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _answer_in_project(request, 403, "forbidden", "Not allowed", str(exception or "") or "You may not do that.")


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without our mark: made elsewhere, or older than the session."""
    sentence = "The form is too old or came from another site. Go back, load the page again and send it once more."
    return _answer(request, 403, "forged", "Not sent", sentence)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _answer(request, 404, "not_found", "", "There is no such thing here, or this token may not see it.")
    return _answer_in_project(request, 404, "not_found", "Not found", "There is no such page, or you may not see it.")


def broken(request: HttpRequest) -> HttpResponse:
    return _answer(request, 500, "internal", "Something broke", "It is in the server's log. Nothing was lost.")


def too_many(request: HttpRequest, refusal: TooOften) -> HttpResponse:
    """Something was done too often: say when to come again."""
    response = render(request, "error.html", {"title": "One moment", "sentence": refusal.sentence}, status=429)
    response.headers["Retry-After"] = str(refusal.seconds)
    return response
