"""A request is let in by a token in the Authorization header, a project's or a person's, and by nothing else."""

from typing import Any
from urllib.parse import unquote

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions, permissions
from rest_framework.request import Request
from rest_framework.views import APIView

from dashboard import access
from dashboard.access import Key
from dashboard.api.errors import ApiError
from dashboard.ci_trust.ci_login import repository_let_in
from dashboard.ci_trust.id_tokens import NotTrusted, looks_like_id_token
from dashboard.ci_trust.keys import IssuerAway
from ingest.services import token_touch
from ingest.tokens import holds_token


class Caller:
    """Who asks: a token, in the place where DRF expects a user."""

    is_authenticated = True

    def __init__(self, token: Key) -> None:
        self.token = token


class TokenAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Caller, Key] | None:
        if holds_token(unquote(request.META.get("QUERY_STRING", ""))):
            sentence = "A token was sent in the URL, where logs keep it. Revoke it, and send it in the header."
            raise ApiError(400, "token_in_url", sentence)
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return None
        token = _key(text.strip(), request) if scheme.lower() in ("bearer", "token") else None
        if token is None:
            raise exceptions.AuthenticationFailed("The token is unknown, expired or revoked.")
        token_touch(token=token)
        request._request.key = token  # kept for the audit log
        return Caller(token), token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="flakeboard"'


def _key(text: str, request: Request) -> Key | None:
    """A token of ours, or the repository whose CI job shows its ID token."""
    if not looks_like_id_token(text):
        return access.token_find(text)
    slug = (request.parser_context or {}).get("kwargs", {}).get("slug", "")
    try:
        return repository_let_in(text, request._request, slug)
    except NotTrusted as refusal:
        raise exceptions.AuthenticationFailed(refusal.sentence) from refusal
    except IssuerAway as error:
        sentence = "The issuer of the ID token does not tell its keys now; try again in a few seconds."
        raise ApiError(503, "unavailable", sentence, headers={"Retry-After": "10"}) from error


class TokenSchema(OpenApiAuthenticationExtension):
    target_class = "dashboard.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        description = "A project's token or your own (flk_...), or an ID token of CI"
        return {"type": "http", "scheme": "bearer", "description": description}


class MayByScope(permissions.BasePermission):
    """Views name the action of each method in `actions`; the token's scope must allow it.

    The project comes first: what a token may do elsewhere tells nothing of a project that is not its own."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.auth is None:
            raise exceptions.NotAuthenticated
        project = access.token_project(request.auth, view.kwargs["slug"])
        action = getattr(view, "actions", {}).get(request.method, "read")
        if not access.token_may(request.auth, project, action):
            raise ApiError(403, "forbidden", access.token_refusal(request.auth, project, action))
        return True
