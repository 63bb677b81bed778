"""Whom we believe: repositories by their ID tokens, the issuers' keys, tokens that were used, and forks."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from ingest.models import Project, Token


class Provider(models.TextChoices):
    """Whose words an ID token uses."""

    GITHUB = "github", "GitHub Actions"
    GITLAB = "gitlab", "GitLab CI"
    OTHER = "other", "another issuer"


class TrustedRepository(models.Model):
    """A repository whose CI jobs are let into a project by their ID tokens. It is known by its number, not its name."""

    SCOPES = ((Token.Scope.UPLOAD.value, "upload"), (Token.Scope.GATE.value, "gate"))

    project = models.ForeignKey(Project, models.CASCADE, related_name="trusted_repositories")
    provider = models.CharField(max_length=6, choices=Provider)
    issuer = models.CharField(max_length=255)
    repository_id = models.CharField(max_length=255)
    """GitHub's repository_id, GitLab's project_id; of another issuer the subject."""
    name = models.CharField(max_length=255, blank=True)
    """As the last token called it: a renamed repository is still the same."""
    refs = models.JSONField(default=list)
    """Patterns of branches or whole refs that may send; none: all of them."""
    environment = models.CharField(max_length=255, blank=True)
    """The deployment environment that the job must have; empty: any or none."""
    protected_only = models.BooleanField(default=False)
    scope = models.CharField(max_length=12, choices=SCOPES, default=Token.Scope.UPLOAD)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("issuer", "repository_id")
        constraints = (
            models.UniqueConstraint(fields=("project", "issuer", "repository_id"), name="trusted_repository_once"),
        )


class UsedToken(models.Model):
    """An ID token that was used to send something, until it expires by itself."""

    digest = models.BinaryField(max_length=32, primary_key=True)
    request = models.BinaryField(max_length=32)
    """What it was used for: the same request again is a retry. Empty where retries cannot be told."""
    expires_at = models.DateTimeField(db_index=True)


class IssuerKeys(models.Model):
    """The keys that an issuer published when it was last asked; shared by all processes."""

    issuer = models.CharField(max_length=255, primary_key=True)
    keys = models.JSONField(default=list)
    fetched_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)


class ForkSettings(models.Model):
    """What a project does with results of forks. Without a row they are refused."""

    class Mode(models.TextChoices):
        OFF = "off", "refuse them"
        APART = "apart", "take them, and keep them apart until somebody admits them"
        ADMIT = "admit", "take them, and let them count at once"

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True, related_name="fork_settings")
    mode = models.CharField(max_length=5, choices=Mode, default=Mode.OFF)
