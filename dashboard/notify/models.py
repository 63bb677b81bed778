"""Where a project's news go, what became of each, and the tracker that tickets are opened in."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.notify.encryption import unseal
from dashboard.notify.severity import Severity
from dashboard.quarantine.labels.models import QUERY_LENGTH
from dashboard.quarantine.models import Notification, Quarantine
from ingest.models import Project

FAILING = 3
"""Failures in a row after which a channel is shown as failing."""


class Channel(models.Model):
    """A place that hears of what happens in a project."""

    class Kind(models.TextChoices):
        WEBHOOK = "webhook"
        SLACK = "slack"
        TEAMS = "teams"
        EMAIL = "email"

    class Pace(models.TextChoices):
        AT_ONCE = "at_once"
        DAILY = "daily"

    project = models.ForeignKey(Project, models.CASCADE, related_name="channels")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=7, choices=Kind)
    address = models.TextField()
    """A URL or an e-mail address, sealed: who knows the URL of a Slack channel can write to it."""
    hint = models.CharField(max_length=320)
    """What of the address is shown: the host, or the e-mail address."""
    secret = models.TextField(blank=True)
    """What a webhook's messages are signed with, sealed."""
    wants = models.JSONField(default=list)
    """Kinds of notification; empty for all."""
    owner = models.CharField(max_length=255, blank=True)
    """Only what concerns this owner; empty for all."""
    pace = models.CharField(max_length=7, choices=Pace, default=Pace.AT_ONCE)
    severity = models.CharField(max_length=8, choices=Severity, default=Severity.INFO, db_default=Severity.INFO)
    """The least that it receives."""
    only = models.CharField(max_length=QUERY_LENGTH, blank=True, default="", db_default="")
    """Only what concerns tests that fit this query, such as label:payments; empty for all."""
    rate_threshold = models.FloatField(null=True)
    """The share of runs failed by flaky tests above which it is alerted; null for never."""
    rate_above_since = models.DateTimeField(null=True)
    """When the share went above the threshold; null while it is not."""
    silence_hours = models.PositiveSmallIntegerField(null=True)
    """After so many hours without an upload it is alerted; null for never."""
    quiet_from = models.TimeField(null=True)
    quiet_until = models.TimeField(null=True)
    """Both or neither, by the clock of the time zone: what comes between them is sent together when they end."""
    time_zone = models.CharField(max_length=64, default="UTC", db_default="UTC")
    quiet_passes = models.CharField(max_length=8, choices=Severity, blank=True, default="", db_default="")
    """The least that is sent in quiet hours all the same; empty for nothing."""
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=255, blank=True)
    last_success_at = models.DateTimeField(null=True)
    last_error_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    failures = models.IntegerField(default=0)
    """In a row, up to now."""

    class Meta:
        ordering = ("id",)

    @property
    def is_failing(self) -> bool:
        return self.failures >= FAILING

    @property
    def plain_address(self) -> str:
        return unseal(self.address)

    @property
    def plain_secret(self) -> str:
        return unseal(self.secret)


class Delivery(models.Model):
    """One message to one place, from the moment that it is due: queue, receipt and error report at once."""

    class State(models.TextChoices):
        WAITING = "waiting"
        SENDING = "sending"
        SENT = "sent"
        FAILED = "failed"
        """Given up; the error says why."""
        HELD = "held"
        """Until the channel's quiet hours end."""
        JOINED = "joined"
        """Part of another message, after quiet hours."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="deliveries", db_index=False)
    channel = models.ForeignKey(Channel, models.CASCADE, null=True, related_name="deliveries", db_index=False)
    """Null: an owner's own digest, by e-mail."""
    recipient = models.CharField(max_length=320, blank=True)
    """The e-mail address where there is no channel."""
    notification = models.ForeignKey(Notification, models.SET_NULL, null=True, related_name="deliveries")
    """Null: a digest."""
    key = models.CharField(max_length=200)
    """What makes two deliveries to the same place the same."""
    message = models.JSONField()
    """What is said, as `dashboard.notify.formats.message` writes it: the same at every try."""
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    claim = models.UUIDField(null=True)
    """Who is sending it: the result of anybody else is thrown away."""
    lease_until = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("channel", "key"), name="delivery_once", condition=Q(channel__isnull=False)
            ),
            models.UniqueConstraint(
                fields=("project", "recipient", "key"), name="delivery_mail_once", condition=Q(channel=None)
            ),
        )
        indexes = (
            models.Index(fields=("project", "-id"), name="delivery_newest"),
            models.Index(fields=("due_at",), name="delivery_due", condition=Q(state__in=("waiting", "sending"))),
            models.Index(fields=("due_at",), name="delivery_held", condition=Q(state="held")),
        )


class NotifySettings(models.Model):
    """What a project wants besides its channels."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="notify_settings")
    mail_owners = models.BooleanField(default=True)
    """Owners that are e-mail addresses get a digest of their own."""


class AlertWatch(models.Model):
    """What was known of a project when alerts were last decided: the next decision alerts to what is new since.

    The row is locked while alerts are decided, so that two workers never decide the same."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="alert_watch")
    analysis = models.BigIntegerField(null=True)
    """The id of the analysis that was last decided on; null before the first one."""
    flaky = ArrayField(models.IntegerField(), default=list)
    """Numbers of the tests that were flaky in it."""
    incidents = ArrayField(models.BigIntegerField(), default=list)
    """Ids of the reports that it took for incidents."""
    broken = models.ForeignKey(Notification, models.SET_NULL, null=True, db_index=False)
    """The alert that the default branch is broken; null where it is not, as far as people were told."""
    due_at = models.DateTimeField(null=True)
    """When to decide again without a new analysis; null for not."""


class DigestMade(models.Model):
    """A project's digest of one day was put together; the next one tells what happened since."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    day = models.DateField()
    at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "day"), name="digest_once"),)


class TrackerSettings(models.Model):
    """Where a project's tickets are."""

    class Kind(models.TextChoices):
        LINK = "link"
        """Any tracker: a link that a person follows, filled in."""
        GITHUB = "github", "GitHub"
        GITLAB = "gitlab", "GitLab"
        JIRA = "jira", "Jira Cloud"
        JIRA_SERVER = "jira_server", "Jira Server or Data Center"
        LINEAR = "linear", "Linear"

    project = models.OneToOneField(Project, models.CASCADE, related_name="tracker")
    kind = models.CharField(max_length=11, choices=Kind, default=Kind.LINK)
    template = models.CharField(max_length=1_000, blank=True)
    """Of the link, with {title} and {body}."""
    base_url = models.CharField(max_length=500, blank=True)
    """Of the API, or of a Jira; empty for github.com, gitlab.com and linear.app."""
    repository = models.CharField(max_length=255, blank=True)
    """The repository; of Jira the project's key, of Linear the team's."""
    account = models.CharField(max_length=320, blank=True, default="", db_default="")
    """The e-mail address that a token of Jira Cloud belongs to."""
    issue_type = models.CharField(max_length=60, blank=True, default="", db_default="")
    """Of Jira's issues; empty for a bug."""
    token = models.TextField(blank=True)
    """Sealed."""
    updated_at = models.DateTimeField(default=timezone.now)

    @property
    def plain_token(self) -> str:
        return unseal(self.token)


class TicketOpening(models.Model):
    """A ticket is being opened for a quarantine, or was: two who ask at once get one ticket."""

    quarantine = models.OneToOneField(Quarantine, models.CASCADE, related_name="ticket_opening")
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    url = models.CharField(max_length=2_000, blank=True)
    number = models.IntegerField(null=True)
    error = models.TextField(blank=True)
    state = models.CharField(max_length=6, default="open", db_default="open")
    """What the tracker answered last: a change of it is acted on once."""
    due_at = models.DateTimeField(null=True)
    """When the tracker is to be asked next; null for now."""
    tries = models.IntegerField(default=0, db_default=0)
    """Times in a row that the tracker did not answer."""
    told_version = models.IntegerField(null=True)
    """The quarantine's version up to which the ticket was told of refuted fixes; null: not looked at yet."""


class CodeHost(models.Model):
    """Where a project's pull requests are, and what may be written to them."""

    class Kind(models.TextChoices):
        GITHUB = "github", "GitHub, by a token"
        GITHUB_APP = "github_app", "GitHub, by an App"
        GITLAB = "gitlab", "GitLab"
        BITBUCKET = "bitbucket", "Bitbucket"
        GITEA = "gitea", "Gitea or Forgejo"

    project = models.OneToOneField(Project, models.CASCADE, related_name="code_host")
    kind = models.CharField(max_length=10, choices=Kind)
    base_url = models.CharField(max_length=500, blank=True)
    """Of the API; empty for the public one."""
    repository = models.CharField(max_length=255)
    app_id = models.CharField(max_length=20, blank=True)
    installation_id = models.CharField(max_length=20, blank=True)
    """Of a GitHub App, whose private key is the secret."""
    secret = models.TextField(blank=True)
    """A token or private key, sealed."""
    comments = models.BooleanField(default=True)
    checks = models.BooleanField(default=True)
    last_success_at = models.DateTimeField(null=True)
    last_error_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    updated_at = models.DateTimeField(default=timezone.now)

    @property
    def plain_secret(self) -> str:
        return unseal(self.secret)

    @property
    def is_failing(self) -> bool:
        """Whether its last answer was a refusal."""
        if self.last_error_at is None:
            return False
        return self.last_success_at is None or self.last_success_at < self.last_error_at


class PullReport(models.Model):
    """What is written to one pull request: queue, receipt and error report at once."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    number = models.CharField(max_length=64)
    comment = models.CharField(max_length=64, blank=True)
    """The id of our comment, once it is known."""
    commit = models.CharField(max_length=64, blank=True)
    """Which was written about last."""
    check_run = models.CharField(max_length=64, blank=True)
    """The id of our check run of that commit, where the host has such."""
    digest = models.CharField(max_length=64, blank=True)
    """Of what was written last: the same is not written again."""
    asked_at = models.DateTimeField(default=timezone.now)
    written_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    """When it is to be written; null where nothing is new."""
    claim = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "number"), name="pull_report_once"),)
        indexes = (models.Index(fields=("due_at",), name="pull_report_due", condition=Q(due_at__isnull=False)),)
