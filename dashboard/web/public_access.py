"""Who may read what is meant for programs as well as people: badges and feeds."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import unquote

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe

from dashboard import access
from dashboard.etags import etag_of
from ingest.models import Project
from ingest.services import token_touch
from ingest.tokens import holds_token

View = Callable[..., HttpResponse]


def for_readers(view: View) -> View:
    """Let in who may see the project, or sends a token of it in the Authorization header; never one in the URL.

    What is public may be shown by other sites, such as a badge in a README."""

    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        if holds_token(unquote(request.META.get("QUERY_STRING", ""))):
            sentence = "A token was sent in the URL, where logs keep it. Revoke it, and send it in the header."
            return HttpResponse(sentence, status=400, content_type="text/plain")
        project = _by_token(request, slug) if request.headers.get("Authorization") else _by_person(request, slug)
        if project is None:
            sentence = "Sign in, or send a token of the project in the Authorization header."
            headers = {"WWW-Authenticate": 'Bearer realm="flakeboard"'}
            return HttpResponse(sentence, status=401, content_type="text/plain", headers=headers)
        response = view(request, project, **kwargs)
        if project.public:
            response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return response

    return wrapped


def _by_token(request: HttpRequest, slug: str) -> Project | None:
    scheme, _, text = request.headers["Authorization"].partition(" ")
    token = access.token_find(text.strip()) if scheme.lower() in ("bearer", "token") else None
    if token is None:
        return None
    project = access.token_project(token, slug)
    if not access.token_may(token, project, "read"):
        raise Http404
    token_touch(token=token)
    return project


def _by_person(request: HttpRequest, slug: str) -> Project | None:
    """Public projects are for everybody; of others, whoever is not signed in learns nothing."""
    try:
        return access.user_project(request.user, slug)
    except Http404:
        if request.user.is_authenticated:
            raise
        return None


def cached(request: HttpRequest, parts: tuple[object, ...], make: Callable[[], str], kind: str) -> HttpResponse:
    """What rests on `parts` alone: 304 to who has it already."""
    etag = etag_of(*parts, request.get_full_path())
    response = get_conditional_response(request, etag=etag) or HttpResponse(make(), content_type=kind)
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "private, max-age=60"
    patch_vary_headers(response, ("Authorization", "Cookie"))
    return response
