"""A request is let in by a project's token in the Authorization header, and by nothing else."""

from typing import Any
from urllib.parse import unquote

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions, permissions
from rest_framework.request import Request
from rest_framework.views import APIView

from dashboard import access
from dashboard.api.errors import ApiError
from ingest.models import Token
from ingest.services import token_touch
from ingest.tokens import holds_token


class Caller:
    """Who asks: a token, in the place where DRF expects a user."""

    is_authenticated = True

    def __init__(self, token: Token) -> None:
        self.token = token


class TokenAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Caller, Token] | None:
        if holds_token(unquote(request.META.get("QUERY_STRING", ""))):
            sentence = "A token was sent in the URL, where logs keep it. Revoke it, and send it in the header."
            raise ApiError(400, "token_in_url", sentence)
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return None
        token = access.token_find(text.strip()) if scheme.lower() in ("bearer", "token") else None
        if token is None:
            raise exceptions.AuthenticationFailed("The token is unknown, expired or revoked.")
        token_touch(token=token)
        return Caller(token), token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="flakeboard"'


class TokenSchema(OpenApiAuthenticationExtension):
    target_class = "dashboard.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A project's token, flk_upload_... or flk_read_..."}


class MayByScope(permissions.BasePermission):
    """Views name the action of each method in `actions`; the token's scope must allow it."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, Token):
            raise exceptions.NotAuthenticated
        action = getattr(view, "actions", {}).get(request.method, "read")
        if not access.token_may(request.auth, action):
            needed = " or ".join(sorted(access.MAY[action]))
            raise ApiError(403, "forbidden", f"This token's scope is {request.auth.scope}; this needs {needed}.")
        return True
