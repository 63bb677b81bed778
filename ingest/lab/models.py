"""Experiments, their whole orders and their probes."""

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone


class Experiment(models.Model):
    """What one call of `flakeboard detect`, `why`, `waits` or `verify` did at one revision, and what it found."""

    class Protocol(models.TextChoices):
        ORDERS = "orders"
        RERUNS = "reruns"
        CHANGED = "changed"
        WHY = "why"
        """Why one test is flaky."""
        WAITS = "waits"
        """How long one test must wait."""
        VERIFY = "verify"
        """Whether a fix of one test is one."""
        BOUNDS = "bounds"
        """How wide the bounds of one test must be."""

    OF_ONE_TEST = (Protocol.WHY, Protocol.WAITS, Protocol.VERIFY, Protocol.BOUNDS)
    """They have neither orders nor uploads: their answer comes with the end."""

    project = models.ForeignKey("ingest.Project", models.CASCADE, db_index=False)
    key = models.CharField(max_length=64)
    """The client's name for it."""
    protocol = models.CharField(max_length=12, choices=Protocol)
    parameters = models.JSONField(default=dict)
    """What it was asked to do: with the seed and the revision, they say whether two experiments are the same."""
    seed = models.CharField(max_length=255, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    tree = models.CharField(max_length=64, blank=True)
    branch = models.CharField(max_length=255, blank=True)
    environment = models.JSONField(default=dict)
    hosts = models.JSONField(default=list)
    """The machines that took part."""
    whole = models.BooleanField(default=True)
    """It looked at the whole suite: the next one is due some time after this."""
    began_at = models.DateTimeField(default=timezone.now)
    """By our clock: when it was announced."""
    ended_at = models.DateTimeField(null=True)
    """When its last result arrived; null while it runs."""
    how = models.CharField(max_length=12, blank=True)
    """How it ended: orders, done, budget, interrupted or crash."""
    results = models.JSONField(default=dict)
    """Iteration -> what the client reported at its end; experiments without iterations have "0" alone."""
    counts = models.JSONField(default=dict)
    """Numbers for lists, made from the results and the findings; of experiments on one test also their sentence."""
    concluded = models.BooleanField(default=True)
    """Findings and dependencies are made of all that has arrived."""
    probes = models.IntegerField(default=0)
    probes_left_out = models.IntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "key"), name="experiment_once"),)
        indexes = (models.Index(fields=("project", "-began_at", "-id"), name="experiment_newest"),)

    @property
    def is_finished(self) -> bool:
        return self.ended_at is not None

    @property
    def is_of_one_test(self) -> bool:
        return self.protocol in self.OF_ONE_TEST


class ExperimentOrder(models.Model):
    """A whole order that an experiment ran; its report has the verdicts."""

    class Kind(models.TextChoices):
        SAME = "same"
        RANDOM = "random"

    experiment = models.ForeignKey(Experiment, models.CASCADE, db_index=False, related_name="orders")
    report = models.OneToOneField("ingest.Report", models.CASCADE)
    iteration = models.IntegerField(default=0)
    round = models.IntegerField()
    """From 1; 0 and below are tries of the original order."""
    how = models.CharField(max_length=80, blank=True)
    seed = models.CharField(max_length=255, blank=True)
    kind = models.CharField(max_length=6, choices=Kind)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("experiment", "iteration", "round"), name="experiment_order_once"),
        )


class ProbeBatch(models.Model):
    """Probes of one upload: short orders, of which the verdict of the last test counts."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="probe_batches")
    upload = models.ForeignKey("ingest.Upload", models.CASCADE)
    iteration = models.IntegerField(default=0)
    count = models.IntegerField()
    left_out = models.IntegerField(default=0)
    """Probes of the same file for which there was no room."""
    tests = models.JSONField()
    """Names of tests; orders are indexes into them."""
    content = models.BinaryField()
    """Deflated lines of JSON: number, order, verdict, seconds, purpose and the test that was looked at."""
    received_at = models.DateTimeField(db_default=Now())
