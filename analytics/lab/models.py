"""Findings of experiments, and dependencies between tests."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ingest.models import Experiment, Project


class ExperimentFinding(models.Model):
    """What an experiment found of one test."""

    class Kind(models.TextChoices):
        OD = "OD"
        """It always fails in some orders and never in others."""
        NOD = "NOD"
        """It fails by chance, in the same order too."""
        ID = "ID"
        """It depends on what no interface promises, such as the order of a set."""
        INFRASTRUCTURE = "infrastructure"
        """It changes between fresh environments, never within one."""
        UNKNOWN = "unknown"
        WHY = "why"
        """It was the test of an experiment on one test; the kinds are those of `Experiment.OF_ONE_TEST`."""
        WAITS = "waits"
        VERIFY = "verify"
        BOUNDS = "bounds"

    OF_ORDERS = (Kind.OD, Kind.NOD, Kind.ID, Kind.INFRASTRUCTURE, Kind.UNKNOWN)

    class Role(models.TextChoices):
        VICTIM = "victim"
        BRITTLE = "brittle"

    experiment = models.ForeignKey(Experiment, models.CASCADE, db_index=False, related_name="findings")
    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    number = models.IntegerField()
    kind = models.CharField(max_length=14, choices=Kind)
    role = models.CharField(max_length=7, choices=Role, blank=True)
    data = models.JSONField(default=dict)
    """What the client reported of it, and for reruns the counts that the verdict rests on.

    Of experiments on one test, their answer: `analytics.lab.answers`."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("experiment", "number"), name="experiment_finding_once"),)
        indexes = (models.Index(fields=("project", "number"), name="experiment_finding_test"),)


class Dependency(models.Model):
    """A test needs others before it, or must not follow them. Tests are named by number."""

    class Role(models.TextChoices):
        """What the tests before it are to the test."""

        POLLUTER = "polluter"
        SETTER = "state-setter"

    class Ground(models.TextChoices):
        SHOWN = "shown"
        """An experiment ran the minimal order and its counter-order."""
        STATED = "stated"
        """A person or CI says so."""
        INFERRED = "inferred"
        """Partners of the current analysis: these are read off it and never stored."""

    STORED = (Ground.SHOWN, Ground.STATED)

    project = models.ForeignKey(Project, models.CASCADE, db_index=False)
    number = models.IntegerField()
    role = models.CharField(max_length=12, choices=Role)
    before = ArrayField(models.IntegerField(), default=list)
    """The tests before it, in order; all of them together have the effect."""
    cleaners = ArrayField(models.IntegerField(), default=list)
    """Tests that undo it when they run in between."""
    ground = models.CharField(max_length=8, choices=Ground)
    counts = models.JSONField(default=dict)
    """How it ended alone and behind the others: `alone` and `together`, each with `of`."""
    details = models.JSONField(default=dict)
    """The expected share of random orders, the shared state and a fixture, as far as the client reports them."""
    reason = models.CharField(max_length=500, blank=True)
    first_at = models.DateTimeField(default=timezone.now)
    first_commit = models.CharField(max_length=64, blank=True)
    first_experiment = models.ForeignKey(Experiment, models.SET_NULL, null=True, related_name="+")
    last_at = models.DateTimeField(default=timezone.now)
    last_commit = models.CharField(max_length=64, blank=True)
    last_experiment = models.ForeignKey(Experiment, models.SET_NULL, null=True, related_name="+")
    stated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    retired_at = models.DateTimeField(null=True)
    retired_why = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = (
            models.Index(fields=("project", "number"), name="dependency_test"),
            models.Index(fields=("project",), name="dependency_live", condition=Q(retired_at=None)),
        )

    @property
    def sign(self) -> str:
        return "negative" if self.role == self.Role.POLLUTER else "positive"


class JoinedOrderFinding(models.Model):
    """What the orders of CI and of experiments together say of one test; nothing but order dependence reads it."""

    analysis = models.ForeignKey("analytics.Analysis", models.CASCADE, db_index=False, related_name="order_findings")
    number = models.IntegerField()
    data = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("analysis", "number"), name="joined_order_finding_once"),)
