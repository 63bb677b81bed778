"""What an analysis concluded, as it is stored: as a whole, replaced as a whole."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from analytics.lab.models import Dependency as Dependency
from analytics.lab.models import ExperimentFinding as ExperimentFinding
from analytics.lab.models import JoinedOrderFinding as JoinedOrderFinding
from analytics.lab.schedules.models import Collection as Collection
from analytics.lab.schedules.models import Split as Split
from analytics.likeness.models import Prediction as Prediction
from analytics.likeness.models import PullRequestAnswer as PullRequestAnswer
from analytics.likeness.models import TestSketch as TestSketch
from analytics.reach.models import TouchedFailure as TouchedFailure
from analytics.trends.models import FlakySpell as FlakySpell
from analytics.trends.models import TrendDay as TrendDay
from analytics.why.models import DifferenceFinding as DifferenceFinding
from ingest.models import Project, Report


class Analysis(models.Model):
    """One analysis of a project's window. Pages and API read the current one; one a day is kept for trends."""

    FORM = 6
    """What pages and API can read. Count it up when something is stored that they need and older rows lack: those are
    then as good as absent, and the sweep asks for new ones."""

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    current = models.BooleanField(default=True)
    form = models.PositiveSmallIntegerField(default=0, db_default=0)
    """In which form its columns, summary and findings are stored."""
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(default=timezone.now)
    since = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    """The first and the last report of the window; null where there is none."""
    reports = models.IntegerField()
    runs = models.IntegerField()
    tests = models.IntegerField()
    results = models.BigIntegerField()
    parameters = models.JSONField()
    excluded = models.JSONField()
    """Reason -> how many executions or reports were left out."""
    seconds = models.FloatField()
    """How long it took."""
    summary = models.JSONField()
    """What is concluded of the project as a whole."""
    columns = models.BinaryField(default=b"")
    """One row a test: `analytics.columns.codec`. Empty in analyses that are kept for trends alone."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project",), name="analysis_current", condition=Q(current=True)),
        )
        indexes = (models.Index(fields=("project", "-finished_at"), name="analysis_newest"),)


class TestFinding(models.Model):
    """What is concluded of one test that failed, besides the columns: evidence, and where to look."""

    __test__ = False  # the name means something to pytest

    analysis = models.ForeignKey(Analysis, models.CASCADE, db_index=False, related_name="test_findings")
    number = models.IntegerField()
    data = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("analysis", "number"), name="test_finding_once"),)


class ClusterFinding(models.Model):
    """Tests whose failures are related: they fail together, or with the same message."""

    class View(models.TextChoices):
        TOGETHER = "together"
        SIGNATURE = "signature"

    analysis = models.ForeignKey(Analysis, models.CASCADE, db_index=False, related_name="cluster_findings")
    view = models.CharField(max_length=10, choices=View)
    number = models.IntegerField()
    """The lowest number of its tests: what it is called by, as long as that one stays in it."""
    data = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("analysis", "view", "number"), name="cluster_finding_once"),)


class IncidentFinding(models.Model):
    """A report whose failures belong to the machines, by our rules or by a person's word."""

    analysis = models.ForeignKey(Analysis, models.CASCADE, db_index=False, related_name="incident_findings")
    report = models.ForeignKey(Report, models.CASCADE)
    data = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("analysis", "report"), name="incident_finding_once"),)


class PriorityFinding(models.Model):
    """One thing to fix, a flaky test or a cluster of them, by rank."""

    analysis = models.ForeignKey(Analysis, models.CASCADE, db_index=False, related_name="priority_findings")
    rank = models.IntegerField()
    data = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("analysis", "rank"), name="priority_finding_once"),)


class IncidentDecision(models.Model):
    """A person's word on whether a report is an incident. It is kept, and applied by every later analysis."""

    class Word(models.TextChoices):
        CONFIRMED = "confirmed"
        REJECTED = "rejected"

    project = models.ForeignKey(Project, models.CASCADE)
    report = models.OneToOneField(Report, models.CASCADE)
    word = models.CharField(max_length=9, choices=Word)
    decided_at = models.DateTimeField(default=timezone.now)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)


class Refresh(models.Model):
    """Whether a project's analysis is asked for or under way. One row a project: it is never run twice at once."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="refresh")
    asked_at = models.DateTimeField(null=True)
    """Since when something is new that the current analysis does not know; null for nothing."""
    due_at = models.DateTimeField(null=True)
    """When to begin: a while after the first upload, so that many make one analysis; null for nothing asked."""
    claim = models.UUIDField(null=True)
    """Who is at it."""
    lease_until = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)
    """Times that a worker took it and was not heard of again."""
    began_at = models.DateTimeField(null=True)
    phase = models.CharField(max_length=40, blank=True)
    share = models.FloatField(default=0)
    """How much of it is done."""
    error = models.TextField(blank=True)
    """Why the last one failed; empty where it did not."""

    class Meta:
        indexes = (models.Index(fields=("due_at",), name="refresh_due", condition=Q(due_at__isnull=False)),)
