"""Who may do what. Pages and API ask here, and nowhere else."""

from typing import TypeAlias

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.utils import timezone

from dashboard.ci_trust.models import TrustedRepository
from dashboard.people.models import Membership, PersonalToken, Role
from ingest.models import Project, Token
from ingest.tokens import looks_like_token, token_digest

Person: TypeAlias = AbstractBaseUser | AnonymousUser
Key: TypeAlias = Token | PersonalToken | TrustedRepository
"""What a program shows to be let in."""

LEAST: dict[str, Role] = {
    "read": Role.VIEWER,
    "see_members": Role.VIEWER,
    "decide": Role.MAINTAINER,
    "refresh": Role.MAINTAINER,
    "reprocess": Role.MAINTAINER,
    "quarantine": Role.MAINTAINER,
    "upload": Role.MAINTAINER,
    "gate": Role.MAINTAINER,
    "policy": Role.ADMINISTRATOR,
    "settings": Role.ADMINISTRATOR,
    "tokens": Role.ADMINISTRATOR,
    "members": Role.ADMINISTRATOR,
    "audit": Role.ADMINISTRATOR,
    "delete": Role.ADMINISTRATOR,
}
"""Action -> the least role of a person that allows it."""

_Scope = Token.Scope
MAY: dict[str, frozenset[str]] = {
    "upload": frozenset({_Scope.UPLOAD}),
    "reprocess": frozenset({_Scope.UPLOAD}),
    "read": frozenset({_Scope.UPLOAD, _Scope.GATE, _Scope.READ, _Scope.QUARANTINE}),
    "decide": frozenset({_Scope.UPLOAD}),
    "refresh": frozenset({_Scope.UPLOAD}),
    "gate": frozenset({_Scope.UPLOAD, _Scope.GATE}),
    "quarantine": frozenset({_Scope.QUARANTINE}),
    "policy": frozenset({_Scope.QUARANTINE}),
    "settings": frozenset({_Scope.QUARANTINE}),
}
"""Action -> token scopes that allow it. What is not here, no token may: none makes tokens or members."""

BY_ID_TOKEN = frozenset({"upload", "gate", "read"})
"""What a CI job may do that shows no secret but its ID token."""

_RANK = {role: rank for rank, role in enumerate(Role)}


# -- people ------------------------------------------------------------------------------------------------------


def user_projects(user: Person) -> "QuerySet[Project]":
    """The projects a user may see: all for instance administrators, otherwise the user's own and public ones."""
    if not user.is_authenticated:
        return Project.objects.filter(public=True)
    if is_instance_administrator(user):
        return Project.objects.all()
    project_ids = Membership.objects.filter(user_id=user.pk).values("project_id")
    return Project.objects.filter(Q(pk__in=project_ids) | Q(public=True))


def user_project(user: Person, slug: str) -> Project:
    """The project, if the person may see it: another one is answered exactly as one that does not exist."""
    found = user_projects(user).filter(slug=slug)
    if user.is_authenticated:
        role = Membership.objects.filter(user_id=user.pk, project=OuterRef("pk")).values("role")
        found = found.annotate(role=Subquery(role))
    project = found.first()
    if project is None:
        raise Http404
    if user.is_authenticated:
        _roles(user)[project.pk] = Role(project.role) if project.role else None
    return project


def user_may(user: Person, project: Project, action: str) -> bool:
    """Whether a person may do this to a project."""
    if is_instance_administrator(user) or (action == "read" and project.public):
        return True
    role = user_role(user, project)
    return role is not None and _RANK[role] >= _RANK[LEAST[action]]


def user_require(user: Person, project: Project, action: str) -> None:
    """Let pass who may do this; tell others which role it takes."""
    if not user_may(user, project, action):
        role = user_role(user, project)
        yours = f"yours is {role}" if role else "you have none"
        sentence = f"This takes the role {LEAST[action]} in this project; {yours}. Its administrators can change that."
        raise PermissionDenied(sentence)


def user_role(user: Person, project: Project) -> Role | None:
    """A person's role in a project, asked for once a request."""
    if not user.is_authenticated:
        return None
    if is_instance_administrator(user):
        return Role.ADMINISTRATOR
    known = _roles(user)
    if project.pk not in known:
        stored = Membership.objects.filter(user_id=user.pk, project=project).values_list("role", flat=True).first()
        known[project.pk] = Role(stored) if stored else None
    return known[project.pk]


def _roles(user: Person) -> dict[int, Role | None]:
    """The roles that are known of a person, by project."""
    if not hasattr(user, "known_roles"):
        user.known_roles = {}  # type: ignore[union-attr]
    return user.known_roles  # type: ignore[union-attr]


def is_instance_administrator(user: Person) -> bool:
    return isinstance(user, User) and user.is_active and user.is_superuser


# -- tokens ------------------------------------------------------------------------------------------------------


def token_find(text: str) -> Key | None:
    """The live token with this text, a project's or a person's."""
    if not looks_like_token(text):
        return None
    live = {"digest": token_digest(text), "revoked_at": None}
    found: Key | None = Token.objects.select_related("project").filter(**live).first()
    if found is None:
        found = PersonalToken.objects.select_related("user").filter(**live, user__is_active=True).first()
    if found is None or (found.expires_at is not None and found.expires_at <= timezone.now()):
        return None
    return found


def token_project(token: Key, slug: str) -> Project:
    """The project, if the token opens it. Another project's slug is answered exactly as one that does not exist."""
    if isinstance(token, PersonalToken):
        return user_project(token.user, slug)
    if token.project.slug != slug:
        raise Http404
    return token.project


def token_may(token: Key, project: Project, action: str) -> bool:
    """Whether the scope allows it; and, of a person's token, their role in the project too."""
    if token.scope not in MAY.get(action, frozenset()):
        return False
    if isinstance(token, TrustedRepository) and action not in BY_ID_TOKEN:
        return False
    return user_may(token.user, project, action) if isinstance(token, PersonalToken) else token.project_id == project.pk


def token_refusal(token: Key, project: Project, action: str) -> str:
    """Why a token may not do this."""
    scopes = MAY.get(action, frozenset())
    if token.scope not in scopes:
        needed = " or ".join(sorted(scopes)) or "a person, signed in"
        return f"This token's scope is {token.scope}; this needs {needed}."
    if isinstance(token, TrustedRepository):
        return "An ID token of CI may send results, ask the gate and read. This needs a token of the project."
    return f"This needs the role {LEAST[action]} in this project, which the token's owner does not have."
