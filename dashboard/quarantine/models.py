"""Quarantines, their history, the policies that make them, and what the gate answered."""

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.quarantine.labels.models import SavedView as SavedView
from dashboard.quarantine.labels.models import TestLabel as TestLabel
from dashboard.quarantine.labels.models import TestNote as TestNote
from dashboard.quarantine.states import LIVE, ActorKind, State
from dashboard.quarantine.states import Action as Actions
from ingest.models import Project, Run, Test, Upload

DAYS = 30
"""How long a quarantine lasts unless somebody says otherwise."""


def _choices(words: Any) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]


def default_expiry() -> datetime:
    return timezone.now() + timedelta(days=DAYS)


class Policy(models.Model):
    """One version of a project's policy. Rows are never edited: a change is a new version."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="policies", db_index=False)
    version = models.IntegerField()
    active = models.BooleanField(default=True)
    settings = models.JSONField(default=dict)
    """What differs from the defaults; `dashboard.quarantine.policy.settings`."""
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=255, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "version"), name="policy_version"),
            models.UniqueConstraint(fields=("project",), name="policy_active", condition=Q(active=True)),
        )


class Quarantine(models.Model):
    """A decision: these tests' failures don't block, for so long, because of this, and somebody answers for it."""

    class Mode(models.TextChoices):
        MUTE = "mute"
        """They run, and their failures don't block."""
        SKIP = "skip"
        """They are not run: nothing tells when they are well again."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="quarantines")
    cluster = models.IntegerField(null=True)
    """The number of the cluster that its tests were when it was made; null for one test."""
    cluster_view = models.CharField(max_length=10, default="together", db_default="together")
    """How the cluster was found: by failing together, or by signature."""
    state = models.CharField(max_length=8, choices=_choices(State))
    version = models.IntegerField(default=1)
    """Counts changes: who acts on an older version is told who was quicker."""
    owner = models.CharField(max_length=255, blank=True)
    """A user name, a team or an e-mail address."""
    reason = models.TextField(blank=True)
    ticket_url = models.CharField(max_length=2_000, blank=True)
    branches = models.JSONField(default=list)
    environments = models.JSONField(default=dict)
    mode = models.CharField(max_length=4, choices=Mode, default=Mode.MUTE)
    expires_at = models.DateTimeField(default=default_expiry)
    needed = models.IntegerField(null=True)
    """Clean runs that it takes to leave, by STATISTICS 4.3, when it was made; null where there is no number."""
    policy_version = models.IntegerField(null=True)
    """The policy that made it; null where somebody did."""
    wants_ticket = models.BooleanField(default=False, db_default=False)
    """The policy in force when it became active opens tickets."""
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=255)
    activated_at = models.DateTimeField(null=True)
    """Since when it holds, the last time."""
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=("project", "state", "-id"), name="quarantine_state"),
            models.Index(fields=("expires_at",), name="quarantine_expiry", condition=Q(state="active")),
        )

    @property
    def is_live(self) -> bool:
        return self.state in LIVE


class Member(models.Model):
    """A test of a quarantine."""

    quarantine = models.ForeignKey(Quarantine, models.CASCADE, related_name="members", db_index=False)
    test = models.ForeignKey(Test, models.CASCADE, related_name="quarantine_members")
    live = models.BooleanField()
    """Its quarantine is proposed or active: the database sees to it that a test has one such at most."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("quarantine", "test"), name="quarantine_member_once"),
            models.UniqueConstraint(fields=("test",), name="quarantine_live_once", condition=Q(live=True)),
        )


class QuarantineEvent(models.Model):
    """One change of a quarantine. Written once, never edited."""

    quarantine = models.ForeignKey(Quarantine, models.CASCADE, related_name="events")
    actor = models.CharField(max_length=255)
    actor_kind = models.CharField(max_length=6, choices=_choices(ActorKind))
    at = models.DateTimeField(default=timezone.now)
    action = models.CharField(max_length=10, choices=_choices(Actions))
    reason = models.TextField(blank=True)
    version = models.IntegerField()
    """The version that it made."""
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    """What changed, and only that; moments as ISO 8601."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("quarantine", "version"), name="quarantine_event_once"),)
        ordering = ("version",)


class FixPlace(models.Model):
    """Where the change was that fixed a quarantine: by the files that changed from its last failure to its fix."""

    class Place(models.TextChoices):
        CODE = "code only"
        TESTS = "tests only"
        BOTH = "both"
        OTHER = "other"
        """Build files, settings, data, texts."""

    event = models.OneToOneField(QuarantineEvent, models.CASCADE, related_name="fix_place")
    place = models.CharField(max_length=10, choices=Place)
    before = models.CharField(max_length=64)
    """The commit of the last failure."""
    after = models.CharField(max_length=64)
    """The first commit of the default branch after the fix was claimed."""
    files = models.IntegerField()
    found_at = models.DateTimeField(default=timezone.now)


class GateDecision(models.Model):
    """What the gate answered to an upload with an exit code. The same input has the same row, so the same answer."""

    project = models.ForeignKey(Project, models.CASCADE)
    upload = models.ForeignKey(Upload, models.CASCADE, db_index=False)
    exit_code = models.BigIntegerField()
    runner = models.CharField(max_length=20, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="gate_decisions")
    decided_at = models.DateTimeField(null=True)
    """Null: the upload is not processed yet."""
    passed = models.BooleanField(default=False)
    sentence = models.TextField(blank=True)
    reasons = models.JSONField(default=list)
    notes = models.JSONField(default=list, db_default=[])
    """What its reader should know, and what decided nothing."""
    failing = models.JSONField(default=list)
    judged = models.JSONField(default=dict, db_default={})
    """The uploads of the run that it rests on, and when each was processed; empty before there was such a record."""
    earlier = models.JSONField(default=list, db_default=[])
    """What was answered before the run had something new: when, whether it passed, and the sentence."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("upload", "exit_code"), name="gate_once"),)
        indexes = (models.Index(fields=("project", "-id"), name="gate_newest"),)


class CodeOwnersFile(models.Model):
    """A project's CODEOWNERS, as its repository has it."""

    class Syntax(models.TextChoices):
        GITHUB = "github"
        GITLAB = "gitlab"

    project = models.OneToOneField(Project, models.CASCADE, related_name="code_owners")
    syntax = models.CharField(max_length=6, choices=Syntax, default=Syntax.GITHUB)
    text = models.TextField()
    updated_at = models.DateTimeField(default=timezone.now)


class OwnerPattern(models.Model):
    """Who owns the tests whose suite or class matches; the first in order wins."""

    class Field(models.TextChoices):
        SUITE = "suite"
        CLASSNAME = "classname"

    project = models.ForeignKey(Project, models.CASCADE, related_name="owner_patterns")
    position = models.IntegerField()
    field = models.CharField(max_length=9, choices=Field)
    pattern = models.CharField(max_length=500)
    owner = models.CharField(max_length=255)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "position"), name="owner_pattern_once"),)
        ordering = ("position",)


class TestOwner(models.Model):
    """Who owns a test, by somebody's word."""

    __test__ = False  # the name means something to pytest

    test = models.OneToOneField(Test, models.CASCADE, related_name="owner_by_hand")
    owner = models.CharField(max_length=255)


class Notification(models.Model):
    """Something that somebody should hear of: a queue, and what became of it."""

    class Kind(models.TextChoices):
        PROPOSED = "proposed"
        QUARANTINED = "quarantined"
        RELEASED = "released"
        REOPENED = "reopened"
        EXPIRES_SOON = "expires_soon"
        EXPIRED = "expired"
        CAP_REACHED = "cap_reached"
        ORDER_DEPENDENT = "order_dependent"
        NEW_FLAKY = "new_flaky"
        MAIN_BROKEN = "main_broken"
        MAIN_MENDED = "main_mended"
        INCIDENT = "incident"
        FLAKY_RATE = "flaky_rate"
        UPLOAD_ERROR = "upload_error"
        NO_UPLOADS = "no_uploads"

    project = models.ForeignKey(Project, models.CASCADE)
    kind = models.CharField(max_length=20, choices=Kind)
    key = models.CharField(max_length=200)
    """What makes two notifications the same: it is sent once."""
    target = models.CharField(max_length=255, blank=True)
    """The owner that it is for; empty for the project."""
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "key"), name="notification_once"),)
        indexes = (models.Index(fields=("due_at",), name="notification_due", condition=Q(sent_at=None)),)
