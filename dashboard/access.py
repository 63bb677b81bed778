"""Who may do what. Pages and API ask here, and nowhere else."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from ingest.models import Project, Token
from ingest.tokens import looks_like_token, token_digest

MAY: dict[str, frozenset[str]] = {
    "upload": frozenset({Token.Scope.UPLOAD}),
    "read": frozenset({Token.Scope.UPLOAD, Token.Scope.READ, Token.Scope.QUARANTINE}),
    "decide": frozenset({Token.Scope.UPLOAD}),
    "refresh": frozenset({Token.Scope.UPLOAD}),
    "gate": frozenset({Token.Scope.UPLOAD}),
    "quarantine": frozenset({Token.Scope.QUARANTINE}),
    "policy": frozenset({Token.Scope.QUARANTINE}),
}
"""Action -> token scopes that allow it."""


def token_find(text: str) -> Token | None:
    """The live token with this text."""
    if not looks_like_token(text):
        return None
    token = Token.objects.select_related("project").filter(digest=token_digest(text), revoked_at=None).first()
    if token is None or (token.expires_at is not None and token.expires_at <= timezone.now()):
        return None
    return token


def token_may(token: Token, action: str) -> bool:
    return token.scope in MAY[action]


def token_project(token: Token, slug: str) -> Project:
    """The token's project. Another project's slug is answered exactly as one that does not exist."""
    if token.project.slug != slug:
        raise Http404
    return token.project


def user_projects(user: AbstractBaseUser | AnonymousUser):
    """The projects that a signed-in person may see."""
    return Project.objects.all() if user.is_authenticated else Project.objects.none()


def user_project(user: AbstractBaseUser | AnonymousUser, slug: str) -> Project:
    project = user_projects(user).filter(slug=slug).first()
    if project is None:
        raise Http404
    return project


def user_may(user: AbstractBaseUser | AnonymousUser, project: Project, action: str) -> bool:
    """Whether a person may do this to a project that they may see."""
    return user.is_authenticated


def user_require(user: AbstractBaseUser | AnonymousUser, project: Project, action: str) -> None:
    if not user_may(user, project, action):
        raise PermissionDenied
