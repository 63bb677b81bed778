"""Invitations: a link that works once, until it expires or is taken back."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from dashboard.people.audit import audit
from dashboard.people.members import member_add
from dashboard.people.models import Invitation, Membership
from dashboard.people.throttling import Rate, TooOften, take
from ingest.models import Project
from ingest.tokens import token_digest

LIFE = timedelta(days=7)
_RATE = Rate(60, 3_600)
"""Invitations of a project in an hour: each may send a mail to an address that somebody typed in."""


@transaction.atomic
def invitation_make(*, project: Project, role: str, email: str = "", by: User) -> tuple[Invitation, str]:
    """An invitation and its address, which is shown this once and never again."""
    if seconds := take("invitations", project.pk, _RATE):
        raise TooOften(f"This project made {_RATE.amount} invitations within an hour.", seconds)
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        email=email,
        digest=token_digest(secret),
        created_by=by,
        expires_at=timezone.now() + LIFE,
    )
    audit("invitation.made", project=project, target=email, after={"role": role})
    return invitation, settings.PUBLIC_URL + reverse("invitation", args=(secret,))


def invitation_find(secret: str) -> Invitation | None:
    """The invitation that this secret opens, if it is still open."""
    return open_invitations().filter(digest=token_digest(secret)).select_related("project", "created_by").first()


def open_invitations() -> "QuerySet[Invitation]":
    return Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


@transaction.atomic
def invitation_accept(*, invitation: Invitation, user: User) -> Membership | None:
    """Make the person a member; None where somebody was quicker with the same link."""
    claimed = open_invitations().filter(pk=invitation.pk).update(accepted_at=timezone.now(), accepted_by=user)
    if claimed != 1:
        return None
    audit("invitation.accepted", project=invitation.project, target=user.get_username(), actor=user)
    return member_add(project=invitation.project, user=user, role=invitation.role)


@transaction.atomic
def invitation_revoke(*, invitation: Invitation) -> None:
    if open_invitations().filter(pk=invitation.pk).update(revoked_at=timezone.now()):
        audit("invitation.revoked", project=invitation.project, target=invitation.email)
