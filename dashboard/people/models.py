"""People as they are stored: roles, invitations, their own tokens and sessions, and the audit log."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.models import Project, Token

_USER = settings.AUTH_USER_MODEL


class Role(models.TextChoices):
    """What a person may do in one project; each may what the one before it may."""

    VIEWER = "viewer"
    MAINTAINER = "maintainer"
    ADMINISTRATOR = "administrator"


class Membership(models.Model):
    """A person's role in a project."""

    user = models.ForeignKey(_USER, models.CASCADE, related_name="memberships")
    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=13, choices=Role)
    by_group = models.BooleanField(default=False)
    """Given by a group of the single sign-on: the next sign-in may change or end it."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("user", "project"), name="membership_once"),)


class Invitation(models.Model):
    """A link that makes whoever opens it a member, once. Only the digest of its secret is kept."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=13, choices=Role)
    email = models.EmailField(blank=True)
    """To whom it was sent; empty where the link was handed over by other means."""
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(_USER, models.SET_NULL, null=True, related_name="+")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(_USER, models.SET_NULL, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "-pk")


class PersonalToken(models.Model):
    """A person's own key to the API: it may what its scope and the person's role in the project both allow."""

    user = models.ForeignKey(_USER, models.CASCADE, related_name="personal_tokens")
    name = models.CharField(max_length=120)
    scope = models.CharField(max_length=12, choices=Token.Scope)
    digest = models.BinaryField(max_length=32, unique=True)
    hint = models.CharField(max_length=24)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "-pk")


class SignedIn(models.Model):
    """A session of a person, so that it can be listed and ended."""

    user = models.ForeignKey(_USER, models.CASCADE, related_name="sessions")
    key = models.CharField(max_length=40, unique=True)
    device = models.CharField(max_length=300)
    """What the browser calls itself."""
    address = models.GenericIPAddressField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-seen_at", "-pk")


class Identity(models.Model):
    """Who a person is at an OpenID provider: issuer and subject, never an e-mail address."""

    user = models.ForeignKey(_USER, models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("issuer", "subject"), name="identity_once"),)


class Bucket(models.Model):
    """How much of a limit is used: the moment at which nothing of it is any more."""

    key = models.BinaryField(max_length=16, primary_key=True)
    empty_at = models.FloatField(db_index=True)
    """Seconds since 1970."""


class AuditEntry(models.Model):
    """Who changed what. Written once: the database itself refuses to change or delete it."""

    class ActorKind(models.TextChoices):
        PERSON = "person"
        TOKEN = "token"  # noqa: S105 - a kind of actor
        ANONYMOUS = "anonymous"
        SYSTEM = "system"

    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(_USER, models.SET_NULL, null=True, related_name="+")
    actor_name = models.CharField(max_length=200, blank=True)
    """As it was called then: it stays when the person goes."""
    actor_kind = models.CharField(max_length=9, choices=ActorKind)
    address = models.GenericIPAddressField(null=True)
    action = models.CharField(max_length=40)
    project = models.ForeignKey(Project, models.SET_NULL, null=True, related_name="+")
    project_slug = models.CharField(max_length=60, blank=True)
    target = models.CharField(max_length=200, blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = (
            models.Index(fields=("project", "-id"), name="audit_project", condition=Q(project__isnull=False)),
            models.Index(fields=("action", "-id"), name="audit_action"),
        )
