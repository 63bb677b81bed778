"""Tokens as people make and revoke them: their own, and those of a project."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.people.audit import audit
from dashboard.people.models import PersonalToken
from ingest.models import Project, Token
from ingest.services import TOKEN_LIFE, token_create, token_revoke
from ingest.tokens import HINT_LENGTH, new_token, token_digest


@transaction.atomic
def personal_token_make(
    *, user: User, name: str, scope: str, life: timedelta = TOKEN_LIFE
) -> tuple[PersonalToken, str]:
    """A person's new token and its text, which is shown this once and never again."""
    text = new_token(scope)
    token = PersonalToken.objects.create(
        user=user,
        name=name,
        scope=scope,
        digest=token_digest(text),
        hint=text[:HINT_LENGTH],
        expires_at=timezone.now() + life,
    )
    audit("token.made", target=name, after={"name": name, "scope": scope, "of": user.get_username()}, actor=user)
    return token, text


@transaction.atomic
def personal_token_revoke(*, token: PersonalToken) -> None:
    if PersonalToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        audit("token.revoked", target=token.name, before={"scope": token.scope, "of": token.user.get_username()})


@transaction.atomic
def personal_tokens_revoke(*, user: User) -> int:
    """End all tokens of a person; how many were alive."""
    live = list(personal_tokens_live(user))
    for token in live:
        personal_token_revoke(token=token)
    return len(live)


def personal_tokens_live(user: User) -> "QuerySet[PersonalToken]":
    alive = PersonalToken.objects.filter(user=user, revoked_at=None, expires_at__gt=timezone.now())
    return alive.select_related("user")


@transaction.atomic
def project_token_make(*, project: Project, name: str, scope: str, by: User) -> tuple[Token, str]:
    token, text = token_create(project=project, name=name, scope=scope, created_by_id=by.pk)
    audit("token.made", project=project, target=name, after={"name": name, "scope": scope})
    return token, text


@transaction.atomic
def project_token_revoke(*, token: Token) -> None:
    token_revoke(token=token)
    if token.revoked_at is None:
        audit("token.revoked", project=token.project, target=token.name, before={"scope": token.scope})
